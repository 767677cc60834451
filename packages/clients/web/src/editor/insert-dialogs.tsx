import { useLingui } from '@lingui/react';
import { useState } from 'react';
import { FormDialog } from '../kit/dialog.js';
import { useOverlay } from '../kit/overlay.js';
import overlays from '../kit/overlays.module.css';
import { linkTo } from '../services/uploads.js';

interface Props {
  onInsert(markdown: string): void;
}

interface LinkProps extends Props {
  /** Selected text. */
  readonly text: string;
}

/** Inserts a link. */
export function LinkDialog({ text, onInsert }: LinkProps) {
  const { i18n } = useLingui();
  const { close } = useOverlay();
  const [address, setAddress] = useState('');
  const [name, setName] = useState(text);
  return (
    <FormDialog
      title={i18n._('Insert a link')}
      action={i18n._('Insert')}
      isDisabled={address.trim() === ''}
      onSubmit={async () => {
        close();
        onInsert(markdownLink(name.trim(), address.trim()));
      }}
    >
      <label className={overlays.field}>
        {i18n._('Address')}
        <input inputMode="url" autoComplete="off" value={address} onChange={({ target }) => setAddress(target.value)} />
      </label>
      <label className={overlays.field}>
        {i18n._('Text')}
        <input autoComplete="off" value={name} onChange={({ target }) => setName(target.value)} />
      </label>
    </FormDialog>
  );
}

function markdownLink(name: string, address: string): string {
  // A number after the colon is a port.
  const hasScheme = /^([a-z][a-z\d+.-]*:(?!\d)|[#/])/i.test(address);
  // These characters would end the address early.
  const url = (hasScheme ? address : `https://${address}`).replaceAll(
    /[ ()]/g,
    (char) => `%${char.charCodeAt(0).toString(16)}`,
  );
  return name === '' ? url : linkTo(name, url);
}

interface WidgetProps extends Props {
  readonly kind: 'poll' | 'todo';
}

/** Inserts a poll or a to-do list. */
export function WidgetDialog({ kind, onInsert }: WidgetProps) {
  const { i18n } = useLingui();
  const { close } = useOverlay();
  const [title, setTitle] = useState('');
  const [lines, setLines] = useState('');
  const isPoll = kind === 'poll';
  return (
    <FormDialog
      title={isPoll ? i18n._('Create a poll') : i18n._('Create a to-do list')}
      action={i18n._('Insert')}
      isDisabled={title.trim() === ''}
      onSubmit={async () => {
        close();
        const entries = lines.split('\n').map((line) => line.trim());
        onInsert([`/${kind} ${title.trim()}`, ...entries.filter((line) => line !== '')].join('\n'));
      }}
    >
      <label className={overlays.field}>
        {isPoll ? i18n._('Question') : i18n._('Title')}
        <input autoComplete="off" value={title} onChange={({ target }) => setTitle(target.value)} />
      </label>
      <label className={overlays.field}>
        {isPoll ? i18n._('Options, one per line') : i18n._('Tasks, one per line')}
        <textarea rows={4} value={lines} onChange={({ target }) => setLines(target.value)} />
      </label>
    </FormDialog>
  );
}
