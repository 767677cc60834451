import { useLingui } from '@lingui/react';
import type { Destination } from '@parley/chat';
import { Paperclip } from 'lucide-react';
import { type ClipboardEvent, useEffect, useRef, useState } from 'react';
import { IconButton } from '../kit/icon-button.js';
import { useServices } from '../services/context.js';

/** Button that opens the choice of files. */
export function AttachButton({ destination }: { readonly destination: Destination }) {
  const { uploads } = useServices();
  const { i18n } = useLingui();
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <IconButton icon={Paperclip} label={i18n._('Attach files')} onClick={() => input.current?.click()} />
      <input
        ref={input}
        type="file"
        multiple
        hidden
        onChange={({ target }) => {
          uploads.add(destination, [...(target.files ?? [])]);
          // The same file can be chosen again.
          target.value = '';
        }}
      />
    </>
  );
}

/** Uploads files that are dropped anywhere on the page; returns true while files are above it. */
export function useDroppedFiles(destination: Destination): boolean {
  const { uploads } = useServices();
  const [isOver, setOver] = useState(false);
  useEffect(() => {
    const hasFiles = ({ dataTransfer }: DragEvent) => dataTransfer?.types.includes('Files') === true;
    const over = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      setOver(true);
    };
    const leave = (event: DragEvent) => {
      if (event.relatedTarget === null) setOver(false);
    };
    const drop = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      setOver(false);
      uploads.add(destination, [...event.dataTransfer!.files]);
    };
    const end = new AbortController();
    addEventListener('dragover', over, { signal: end.signal });
    addEventListener('dragleave', leave, { signal: end.signal });
    addEventListener('drop', drop, { signal: end.signal });
    return () => end.abort();
  }, [uploads, destination]);
  return isOver;
}

/** Returns pasted files; empty if there is text as well, as for cells of a spreadsheet. */
export function pastedFiles({ clipboardData }: ClipboardEvent): readonly File[] {
  return clipboardData.types.includes('text/plain') ? [] : [...clipboardData.files];
}
