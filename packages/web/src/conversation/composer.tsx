import { useLingui } from '@lingui/react';
import { type Destination, destinationKey } from '@parley/chat';
import { Bold, Code, Eye, EyeOff, Italic, Link, List, SendHorizontal, Smile, TextQuote } from 'lucide-react';
import { type Ref, useEffect, useImperativeHandle, useLayoutEffect, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { IconButton } from '../kit/icon-button.js';
import { insertText, replaceText, wrapSelection } from '../kit/text-field.js';
import { useServices } from '../services/context.js';
import type { DraftRow } from '../services/drafts.js';
import { reportFailure } from '../services/failures.js';
import { useLoaded } from '../services/loading.js';
import { openOverlay } from '../services/overlay.js';
import styles from './composer.module.css';
import { DestinationName } from './destination-heading.js';
import {
  AttachButton,
  insertLinks,
  toggleMark,
  useDroppedFiles,
  useMessageField,
  usePreview,
  wrapLink,
} from './message-field.js';
import { OtherDrafts } from './other-drafts.js';
import { UploadList } from './upload-list.js';

export interface ComposerHandle {
  readonly destination: Destination;
  readonly hasFocus: boolean;
  /** Puts a text on lines of its own at the end, and takes the focus. */
  insert(text: string): void;
  /** Removes the text and returns it. */
  take(): string;
}

interface Props {
  readonly destination: Destination;
  /** Place that keeps its files while the destination is still being chosen; by default the destination. */
  readonly filesOf?: Destination;
  /** Called when the user changes the text, also by sending it. */
  onText?(text: string): void;
  readonly ref?: Ref<ComposerHandle>;
}

const SAVE_AFTER_MS = 600;

/** Loaded after the first message. */
const loadCallButton = () => import('./call-button.js').then(({ default: CallButton }) => CallButton);
const loadSnippetsButton = () => import('./snippets-button.js').then(({ default: SnippetsButton }) => SnippetsButton);
const loadSendLater = () => import('./send-later.js').then(({ default: SendLater }) => SendLater);

/** Loaded when the field gets the focus. */
const loadWarnings = () => import('./warnings.js').then(({ Warnings }) => Warnings);

/** Field in which a message is written. The draft belongs to the destination shown above the text. */
export function Composer({ destination, filesOf = destination, onText, ref }: Props) {
  const { chat, drafts, onSent } = useServices();
  const { i18n } = useLingui();
  const field = useRef<HTMLTextAreaElement>(null);
  const [draft] = useState(() => drafts.open(destination));
  const [text, setText] = useState(draft.text);
  const preview = usePreview(field, text, styles.preview);

  useEffect(() => {
    const timer = setTimeout(() => draft.save(text), SAVE_AFTER_MS);
    return () => clearTimeout(timer);
  }, [draft, text]);
  // A change of page within the pause must not lose what was typed.
  const latest = useRef(text);
  latest.current = text;
  useEffect(() => drafts.withField(() => draft.save(latest.current)), [drafts, draft]);
  const place = destinationKey(destination);
  // biome-ignore lint/correctness/useExhaustiveDependencies: destinations are equal if their keys are.
  useEffect(() => {
    draft.moveTo(destination);
    return () => chat.typing.stopped();
  }, [draft, place, chat]);
  // Other windows and devices write the same draft, or begin one.
  useEffect(
    () =>
      drafts.all.subscribe(() => {
        const change = draft.takeChange(latest.current, !field.current?.matches(':focus'));
        if (change !== null) setText(change);
      }),
    [drafts, draft],
  );

  // biome-ignore lint/correctness/useExhaustiveDependencies: the height follows the text.
  useLayoutEffect(() => {
    const element = field.current;
    // Without a layout for each key.
    if (!element || CSS.supports('field-sizing', 'content')) return;
    element.style.height = 'auto';
    element.style.height = `${element.scrollHeight}px`;
  }, [text, preview.isShown]);

  // Takes the focus before the next key, which would otherwise be a shortcut.
  // biome-ignore lint/correctness/useExhaustiveDependencies: asked once, when the field appears.
  useLayoutEffect(() => {
    if (drafts.takesFocus(destinationKey(destination))) field.current?.focus();
  }, []);
  const enterField = () => {
    // Hidden fields take no focus. Other changes wait, since an overlay that closes looks at the focus.
    if (preview.isShown) flushSync(preview.close);
    const element = field.current!;
    element.focus();
    return element;
  };
  useImperativeHandle(ref, () => ({
    destination,
    get hasFocus() {
      return field.current?.matches(':focus') === true;
    },
    insert(more) {
      const element = enterField();
      if (more === '') return;
      element.setSelectionRange(element.value.length, element.value.length);
      insertText(element, element.value === '' ? more : `\n\n${more}`);
    },
    take() {
      const taken = latest.current;
      latest.current = '';
      setText('');
      draft.save('');
      return taken;
    },
  }));

  const isOver = useDroppedFiles(filesOf);
  const { hadFocus, isWhole, tooLong, suggestions, fieldProps, onChanged } = useMessageField(field, {
    text,
    destination,
    filesOf,
    preview,
    onSend: () => send(),
    onEscape: () => field.current?.blur(),
  });
  const canSend = text.trim() !== '' && isWhole;
  const send = () => {
    if (!canSend) return;
    chat.typing.stopped();
    try {
      chat.send(destination, text);
    } catch (error) {
      reportFailure(error);
      return;
    }
    onSent?.(destination, text);
    clear();
  };
  const clear = () => {
    if (preview.isShown) flushSync(preview.close);
    replaceText(field.current!, '');
    setText('');
    onText?.('');
    draft.save('');
  };
  const continueDraft = (row: DraftRow) => {
    draft.save(latest.current);
    setText(draft.use(row));
    enterField();
  };
  const CallButton = useLoaded(loadCallButton);
  const SnippetsButton = useLoaded(loadSnippetsButton);
  const SendLater = useLoaded(loadSendLater);
  const Warnings = useLoaded(loadWarnings, hadFocus);
  const format = (change: (element: HTMLTextAreaElement) => void) => () => change(enterField());

  return (
    <form
      className={styles.composer}
      part="composer"
      data-over={isOver || undefined}
      onKeyDown={(event) => {
        if (!event.altKey || event.code !== 'KeyP' || text.trim() === '') return;
        event.preventDefault();
        preview.toggle();
      }}
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      {suggestions}
      <OtherDrafts draft={draft} onUse={continueDraft} />
      {Warnings && <Warnings destination={destination} text={text} />}
      <div className={styles.destination}>
        {i18n._('To:')} <DestinationName destination={destination} />
      </div>
      <textarea
        ref={field}
        className={styles.field}
        part="field"
        hidden={preview.isShown}
        value={text}
        rows={1}
        aria-label={i18n._('Message')}
        placeholder={i18n._('Write a message')}
        onChange={(event) => {
          setText(event.target.value);
          onText?.(event.target.value);
          chat.typing.typed(destination, event.target.value);
          onChanged();
        }}
        {...fieldProps}
      />
      {preview.box}
      <UploadList destination={filesOf} />
      <div className={styles.tools}>
        <div className={styles.buttons} role="toolbar" aria-label={i18n._('Formatting')}>
          <AttachButton destination={filesOf} />
          <IconButton
            icon={Smile}
            label={i18n._('Insert emoji')}
            opens="dialog"
            onClick={({ currentTarget }) =>
              openOverlay(currentTarget, async () => {
                const { EmojiPicker } = await import('./emoji-picker.js');
                const insert = (name: string) => format((element) => insertText(element, `:${name}: `))();
                return <EmojiPicker label={i18n._('Insert emoji')} onPick={({ emoji_name }) => insert(emoji_name)} />;
              })
            }
          />
          <IconButton icon={Bold} label={i18n._('Bold')} onClick={format((element) => toggleMark(element, '**'))} />
          <IconButton icon={Italic} label={i18n._('Italic')} onClick={format((element) => toggleMark(element, '*'))} />
          <IconButton icon={Link} label={i18n._('Link')} onClick={format(wrapLink)} />
          <IconButton icon={Code} label={i18n._('Code')} onClick={format(toggleCode)} />
          <IconButton
            icon={TextQuote}
            label={i18n._('Quote')}
            onClick={format((element) => toggleLines(element, '> '))}
          />
          <IconButton icon={List} label={i18n._('List')} onClick={format((element) => toggleLines(element, '* '))} />
          <IconButton
            icon={preview.isShown ? EyeOff : Eye}
            label={preview.isShown ? i18n._('Edit') : i18n._('Preview')}
            isPressed={preview.isShown}
            isDisabled={text.trim() === ''}
            onClick={preview.toggle}
          />
          {CallButton && (
            <CallButton
              destination={destination}
              onInsert={(link) => format((element) => insertLinks(element, link))()}
            />
          )}
          {SnippetsButton && (
            <SnippetsButton
              text={text}
              isDisabled={preview.isShown}
              onInsert={(snippet) => format((element) => insertText(element, snippet))()}
            />
          )}
        </div>
        {tooLong}
        {SendLater && (
          <SendLater
            destination={destination}
            text={text}
            canSend={canSend}
            onScheduled={() => {
              // Another text may be written while the server is slow.
              if (latest.current !== text) return;
              chat.typing.stopped();
              clear();
            }}
          />
        )}
        <button type="submit" className={styles.send} part="send" disabled={!canSend} aria-label={i18n._('Send')}>
          <SendHorizontal size={18} aria-hidden />
        </button>
      </div>
    </form>
  );
}

/** Begins the lines of the selection with a prefix, or takes it away if all of them have it. */
function toggleLines(element: HTMLTextAreaElement, prefix: string): void {
  const { value, selectionStart, selectionEnd } = element;
  const start = value.lastIndexOf('\n', selectionStart - 1) + 1;
  const after = value.indexOf('\n', selectionEnd);
  const end = after < 0 ? value.length : after;
  const lines = value.slice(start, end).split('\n');
  const isMarked = lines.every((line) => line.startsWith(prefix));
  const changed = lines.map((line) => (isMarked ? line.slice(prefix.length) : prefix + line)).join('\n');
  element.setSelectionRange(start, end);
  insertText(element, changed);
  // The cursor stays where it is in the text if nothing is selected.
  const cursor = Math.max(start, selectionEnd + changed.length - (end - start));
  if (selectionStart === selectionEnd) element.setSelectionRange(cursor, cursor);
  else element.setSelectionRange(start, start + changed.length);
}

/** Marks of code: around lines, and within a line. */
const CODE = [
  ['```\n', '\n```'],
  ['`', '`'],
] as const;

/** Marks the selection as code, or takes the marks in it or around it away. */
function toggleCode(element: HTMLTextAreaElement): void {
  const { value, selectionStart, selectionEnd } = element;
  for (const [before, after] of CODE) {
    const { length } = before;
    for (const [start, end] of [
      [selectionStart, selectionEnd],
      [selectionStart - length, selectionEnd + length],
    ] as const) {
      const marked = start < 0 ? '' : value.slice(start, end);
      if (marked.length < 2 * length || !marked.startsWith(before) || !marked.endsWith(after)) continue;
      const text = marked.slice(length, -length);
      element.setSelectionRange(start, end);
      insertText(element, text);
      element.setSelectionRange(start, start + text.length);
      return;
    }
  }
  const [before, after] = CODE[value.slice(selectionStart, selectionEnd).includes('\n') ? 0 : 1];
  wrapSelection(element, before, after);
}
