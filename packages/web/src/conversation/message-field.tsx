import { useLingui } from '@lingui/react';
import type { Destination } from '@parley/chat';
import { Paperclip } from 'lucide-react';
import {
  type ClipboardEvent,
  type FocusEvent,
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  useCallback,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { flushSync } from 'react-dom';
import { MessageBody } from '../content/message-body.js';
import { IconButton } from '../kit/icon-button.js';
import { insertText } from '../kit/text-field.js';
import { useField, useServices } from '../services/context.js';
import { reportFailure } from '../services/failures.js';
import { isComposing } from '../services/letter-keys.js';
import { useLoaded } from '../services/loading.js';
import { openOverlay } from '../services/overlay.js';
import type { UploadPlace } from '../services/uploads.js';
import { useReading } from '../services/use-reading.js';
import { useUploads } from '../services/use-uploads.js';
import type { CompletionHandle } from './completion.js';
import styles from './composer.module.css';
import { useEnterHint, useEntersSend } from './enter-key.js';
import { type EditText, toggleAsterisks, wrapLink } from './text-edits.js';

interface Options {
  readonly text: string;
  /** Place of the message; its people are suggested first. */
  readonly destination: Destination;
  readonly filesOf: UploadPlace;
  /** False while the field is not rendered. */
  readonly isOpen?: boolean;
  /** Preview that replaces the field. */
  readonly preview: Preview;
  onSend(): void;
  onEscape(): void;
}

/** Loaded when a field receives the focus. */
const loadCompletion = () => import('./completion.js').then(({ Completion }) => Completion);

/** Keyboard handling, suggestions and files of a message field. */
export function useMessageField(
  field: RefObject<HTMLTextAreaElement | null>,
  { text, destination, filesOf, isOpen = true, preview, onSend, onEscape }: Options,
) {
  const uploads = useUploads();
  const entersSend = useEntersSend();
  const [enterHint, showEnterHint] = useEnterHint();
  const entered = useRef<HTMLTextAreaElement>(null);
  const [hadFocus, setHadFocus] = useState(false);
  const Completion = useLoaded(loadCompletion, hadFocus);
  const completion = useRef<CompletionHandle>(null);
  const { rows, links } = useReading(uploads.of(filesOf));
  const { i18n } = useLingui();
  const excess = [...text].length - (useField('max_message_length') ?? 10_000);
  const { isShown: isPreviewed, close } = preview;
  useGrowingField(field, text, isPreviewed);
  useEffect(() => {
    const element = field.current;
    if (links.length === 0 || !isOpen || !element) return;
    if (isPreviewed) {
      // The links follow once the field is visible.
      close();
      return;
    }
    // Inside an effect, React would set the value itself, which moves the cursor and discards the undo history.
    queueMicrotask(() => {
      const taken = uploads.takeLinks(filesOf);
      if (taken.length === 0) return;
      enter(entered, element);
      insertLinks(element, taken.join(' '));
    });
  }, [field, uploads, filesOf, links, isOpen, isPreviewed, close]);
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    // The Enter key that ends a composition belongs to the input method.
    if (isComposing(event.nativeEvent) || completion.current?.onKeyDown(event)) return;
    const { key, currentTarget } = event;
    const hasModifier = event.ctrlKey || event.metaKey;
    const mark = hasModifier ? ({ b: '**', i: '*' } as const)[key] : undefined;
    if (key === 'Enter' && (entersSend ? !event.shiftKey && !event.altKey : hasModifier)) onSend();
    else if (mark !== undefined) applyEdit(currentTarget, toggleAsterisks(mark));
    else if (hasModifier && event.shiftKey && key.toLowerCase() === 'l') applyEdit(currentTarget, wrapLink);
    else {
      if (key === 'Escape') onEscape();
      if (key === 'Enter' && !entersSend) showEnterHint();
      return;
    }
    event.preventDefault();
  };
  return {
    hadFocus,
    enterHint,
    /** False while uploads are pending, and for texts that the server would truncate. */
    isWhole: excess <= 0 && rows.every(({ state }) => state === 'failed'),
    tooLong: excess > 0 && (
      <span className={styles.tooLong} role="alert">
        {i18n._('{count} characters too many', { count: excess })}
      </span>
    ),
    suggestions: Completion && <Completion field={field} text={text} destination={destination} ref={completion} />,
    /** Must be called when the text changes. */
    onChanged: () => completion.current?.onSelect(),
    fieldProps: {
      onFocus: ({ currentTarget }: FocusEvent<HTMLTextAreaElement>) => {
        enter(entered, currentTarget);
        setHadFocus(true);
      },
      onSelect: () => completion.current?.onSelect(),
      onBlur: () => completion.current?.onBlur(),
      onKeyDown,
      onPaste: (event: ClipboardEvent) => {
        const files = pastedFiles(event);
        if (files.length === 0) return;
        event.preventDefault();
        uploads.add(filesOf, files);
      },
    },
  };
}

export interface Preview {
  readonly isShown: boolean;
  /** Rendered preview; null while editing. */
  readonly box: ReactNode;
  close(): void;
  toggle(): void;
  /** Ends the preview and moves the focus to the field. */
  enterField(): HTMLTextAreaElement;
}

/** Preview that replaces a field. The field is only hidden, so that it keeps its undo history. */
export function usePreview(field: RefObject<HTMLTextAreaElement | null>, text: string, className?: string): Preview {
  const { client } = useServices();
  const [html, setHtml] = useState<string | null>(null);
  const box = useRef<HTMLDivElement>(null);
  const latest = useRef(text);
  latest.current = text;
  const close = useCallback(() => setHtml(null), []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another text ends the preview.
  useEffect(close, [text]);
  const isShown = html !== null;
  const enterField = () => {
    // Hidden fields cannot be focused. Otherwise state changes stay asynchronous, since closing overlays check the focus.
    if (isShown) flushSync(close);
    const element = field.current!;
    element.focus();
    return element;
  };
  const toggle = () => {
    if (isShown) {
      enterField();
      return;
    }
    client.post('/messages/render', { content: text }).then(({ rendered }) => {
      if (latest.current !== text) return;
      const hadFocus = field.current?.matches(':focus');
      flushSync(() => setHtml(rendered));
      if (hadFocus) box.current?.focus();
    }, reportFailure);
  };
  const shown = isShown && (
    <div ref={box} className={className} tabIndex={-1}>
      <MessageBody html={html} />
    </div>
  );
  return { isShown, box: shown, close, toggle, enterField };
}

/** Button that opens the file chooser. */
export function AttachButton({ destination }: { readonly destination: UploadPlace }) {
  const uploads = useUploads();
  const { i18n } = useLingui();
  const input = useRef<HTMLInputElement>(null);
  const choose = () => input.current?.click();
  const openMenu = (anchor: HTMLElement) =>
    openOverlay(anchor, async () => {
      const { AttachMenu } = await import('./attach-menu.js');
      return <AttachMenu onChoose={choose} onPhoto={(photo) => uploads.add(destination, photo)} />;
    });
  const hasCamera = matchMedia('(pointer: coarse)').matches;
  return (
    <>
      <IconButton
        icon={Paperclip}
        label={i18n._('Attach files')}
        {...(hasCamera && { opens: 'menu' })}
        onClick={({ currentTarget }) => (hasCamera ? openMenu(currentTarget) : choose())}
      />
      <input
        ref={input}
        type="file"
        multiple
        hidden
        onChange={({ target }) => {
          uploads.add(destination, [...(target.files ?? [])]);
          // Allows choosing the same file again.
          target.value = '';
        }}
      />
    </>
  );
}

/** Uploads files dropped anywhere on the page; returns true while files are dragged over it. */
export function useDroppedFiles(destination: UploadPlace): boolean {
  const uploads = useUploads();
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
      setOver(false);
      // A field with separate uploads has handled them.
      if (event.defaultPrevented) return;
      event.preventDefault();
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

/** Returns pasted files; empty if the clipboard also contains text, as for spreadsheet cells. */
function pastedFiles({ clipboardData }: ClipboardEvent): readonly File[] {
  return clipboardData.types.includes('text/plain') ? [] : [...clipboardData.files];
}

/** Fits the height of the field to its text. */
function useGrowingField(field: RefObject<HTMLTextAreaElement | null>, text: string, isPreviewed: boolean): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the height follows the text.
  useLayoutEffect(() => {
    const element = field.current;
    // Browsers with `field-sizing` need no layout per keystroke.
    if (!element || CSS.supports('field-sizing', 'content')) return;
    element.style.height = 'auto';
    element.style.height = `${element.scrollHeight}px`;
  }, [text, isPreviewed]);
}

/** Places the cursor at the end of an existing draft; a subsequent click moves it. */
function enter(entered: RefObject<HTMLTextAreaElement | null>, element: HTMLTextAreaElement): void {
  if (entered.current === element) return;
  entered.current = element;
  if (element.selectionEnd === 0) element.setSelectionRange(element.value.length, element.value.length);
}

/** Inserts links at the cursor, separated from surrounding words. */
export function insertLinks(element: HTMLTextAreaElement, links: string): void {
  const [before] = element.value.slice(0, element.selectionStart).slice(-1);
  const gap = before === undefined || /\s/.test(before) ? '' : ' ';
  insertText(element, `${gap}${links} `);
}

/** Applies an edit, which can be undone. */
export function applyEdit(element: HTMLTextAreaElement, edit: EditText): void {
  const { value, selectionStart, selectionEnd } = element;
  const { start, end, text, select } = edit({ value, start: selectionStart, end: selectionEnd });
  element.setSelectionRange(start, end);
  insertText(element, text);
  element.setSelectionRange(...select);
}
