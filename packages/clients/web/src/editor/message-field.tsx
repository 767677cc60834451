import { useLingui } from '@lingui/react';
import { type Destination, isInCode } from '@parley/chat';
import {
  type ChangeEvent,
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
import { Paperclip } from '../icons/icons.js';
import { IconButton } from '../kit/icon-button.js';
import { mounted } from '../kit/mounted.js';
import { insertText, replaceText } from '../kit/text-field.js';
import { useField, useServices } from '../services/context.js';
import { reportFailure } from '../services/failures.js';
import { isComposing } from '../services/letter-keys.js';
import { useLoaded } from '../services/loading.js';
import { openOverlay } from '../services/overlay.js';
import { linkTo, type UploadPlace } from '../services/uploads.js';
import { useReading } from '../services/use-reading.js';
import { useUploads } from '../services/use-uploads.js';
import { type ContentParts, joinContent, listedFiles, splitContent } from './attached-files.js';
import type { CompletionHandle } from './completion.js';
import styles from './composer.module.css';
import { useEnterHint, useEntersSend } from './enter-key.js';
import { noteKey, pasteFormatted } from './paste.js';
import { continueLine, type EditText, surround, toggleAsterisks, toggleCode, wrapLink } from './text-edits.js';
import { UploadList } from './upload-list.js';

interface Options {
  /** Text with links to the listed files. */
  readonly content: string;
  /** Place of the message; its people are suggested first. */
  readonly destination: Destination;
  readonly filesOf: UploadPlace;
  /** Preview that replaces the field. */
  readonly preview: Preview;
  onContent(content: string): void;
  onSend(): void;
  onEscape(): void;
}

/** Loaded when a field receives the focus. */
const loadCompletion = () => import('./completion.js').then(({ Completion }) => Completion);

/** Loaded when a text has a quote. */
const loadQuotes = () => import('./quote-lines.js').then(({ QuoteLines }) => QuoteLines);

/** True if a text may have a quote, in either notation. */
const mayQuote = (text: string): boolean => /^ {0,3}>|^(`{3,}|~{3,}) *quote/m.test(text);

/** Keyboard handling, suggestions and files of a message field, which shows the content without the listed files. */
export function useMessageField(
  field: RefObject<HTMLTextAreaElement | null>,
  { content, destination, filesOf, preview, onContent, onSend, onEscape }: Options,
) {
  const entersSend = useEntersSend();
  const [enterHint, showEnterHint] = useEnterHint();
  const entered = useRef<HTMLTextAreaElement>(null);
  const [hadFocus, setHadFocus] = useState(false);
  const completion = useRef<CompletionHandle>(null);
  const { i18n } = useLingui();
  const excess = [...content].length - (useField('max_message_length') ?? 10_000);
  const files = useFiles(field, { content, filesOf, preview, onContent });
  const { text } = files;
  const { Completion, quotes } = useOverlays(field, text, hadFocus);
  const attachText = useTextAsFile(field, files);
  useGrowingField(field, text, preview.isShown);
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    noteKey(event);
    // The Enter key that ends a composition belongs to the input method.
    if (isComposing(event.nativeEvent) || completion.current?.onKeyDown(event)) return;
    const { key, currentTarget } = event;
    const hasModifier = event.ctrlKey || event.metaKey;
    const mark = hasModifier ? ({ b: '**', i: '*' } as const)[key] : undefined;
    if (key === 'Enter' && (entersSend ? !event.shiftKey && !event.altKey : hasModifier)) onSend();
    else if (mark !== undefined) applyEdit(currentTarget, toggleAsterisks(mark));
    else if (hasModifier && event.shiftKey && key.toLowerCase() === 'l') applyEdit(currentTarget, wrapLink);
    else if (hasModifier && event.shiftKey && key.toLowerCase() === 'c') applyEdit(currentTarget, toggleCode);
    else if (!hasModifier && !event.altKey && typeKey(event, entersSend)) return;
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
    isWhole: excess <= 0 && !files.isUploading,
    tooLong: excess > 0 && (
      <span className={styles.tooLong}>
        <span role="alert">{i18n._('{count} characters too many', { count: excess })}</span>
        <button
          type="button"
          disabled={files.isUploading}
          onClick={() => {
            preview.enterField();
            attachText();
          }}
        >
          {i18n._('Attach as a file')}
        </button>
      </span>
    ),
    overlays: (
      <>
        {quotes} {Completion && <Completion field={field} text={text} destination={destination} ref={completion} />}
      </>
    ),
    files,
    fieldProps: {
      // Each paragraph follows the direction of its text, and an empty field that of the page.
      dir: 'auto',
      value: text,
      onChange: ({ target }: ChangeEvent<HTMLTextAreaElement>) => {
        files.setText(target.value);
        completion.current?.onSelect();
      },
      onFocus: ({ currentTarget }: FocusEvent<HTMLTextAreaElement>) => {
        enter(entered, currentTarget);
        setHadFocus(true);
      },
      onSelect: () => completion.current?.onSelect(),
      onBlur: () => completion.current?.onBlur(),
      onKeyDown,
      onPaste: (event: ClipboardEvent<HTMLTextAreaElement>) => paste(event, files),
    },
  };
}

function paste(event: ClipboardEvent<HTMLTextAreaElement>, files: ReturnType<typeof useFiles>): void {
  const pasted = pastedFiles(event);
  if (pasted.length > 0) files.upload(pasted);
  else if (!pasteFormatted(event.currentTarget, event.clipboardData)) return;
  event.preventDefault();
}

/** Parts over the field, which are loaded when they are needed. */
function useOverlays(field: RefObject<HTMLTextAreaElement | null>, text: string, hadFocus: boolean) {
  const Completion = useLoaded(loadCompletion, hadFocus);
  const hasQuotes = mayQuote(text);
  const QuoteLines = useLoaded(loadQuotes, hasQuotes);
  return { Completion, quotes: hasQuotes && QuoteLines && <QuoteLines field={field} text={text} /> };
}

/** Continues lists and quotes and surrounds selections, but not in code. Returns true if the key was handled. */
function typeKey(event: KeyboardEvent<HTMLTextAreaElement>, entersSend: boolean): boolean {
  const { key, shiftKey, currentTarget } = event;
  const { value, selectionStart: start, selectionEnd: end } = currentTarget;
  const continues = key === 'Enter' && shiftKey === entersSend;
  if (isInCode(value, start)) return false;
  const edit = continues ? continueLine({ value, start, end }) : surround(key, { value, start, end });
  if (!edit) return false;
  event.preventDefault();
  applyEdit(currentTarget, () => edit);
  return true;
}

/** Attaches a text as a file. The text stays in the field until the server has the file. */
function useTextAsFile(field: RefObject<HTMLTextAreaElement | null>, files: ReturnType<typeof useFiles>) {
  const { i18n } = useLingui();
  const attached = useRef<{ readonly text: string; readonly count: number }>(null);
  useEffect(() => {
    if (attached.current === null || files.isUploading) return;
    const { text, count } = attached.current;
    attached.current = null;
    if (files.count > count && files.text === text && field.current) replaceText(field.current, '');
  });
  return () => {
    const { text, count } = files;
    attached.current = { text, count };
    files.upload([new File([text], `${i18n._('Message')}.txt`, { type: 'text/plain' })]);
  };
}

type FilesOptions = Pick<Options, 'content' | 'filesOf' | 'preview' | 'onContent'>;

/** Text and listed files of a content, with the uploads that are added to it. */
function useFiles(
  field: RefObject<HTMLTextAreaElement | null>,
  { content, filesOf, preview, onContent }: FilesOptions,
) {
  const uploads = useUploads();
  const { rows, done } = useReading(uploads.of(filesOf));
  const parts = useRef<ContentParts>({ text: '', files: [] });
  // A content changed elsewhere is split again. Links at the end of the text stay there while the user writes.
  if (joinContent(parts.current) !== content) parts.current = splitContent(content);
  const change = (changed: Partial<ContentParts>) => {
    parts.current = { ...parts.current, ...changed };
    onContent(joinContent(parts.current));
  };
  const add = (files: ContentParts['files']) => {
    const listed = parts.current.files;
    const added = files.filter(({ url }) => listed.every((file) => file.url !== url));
    if (added.length > 0) change({ files: [...listed, ...added] });
  };
  useEffect(() => {
    if (done.length > 0) add(uploads.take(filesOf));
  });
  return {
    text: parts.current.text,
    setText: (text: string) => change({ text }),
    /** Appends a message to the text and the files. */
    append(more: string) {
      const { text, files } = splitContent(more);
      appendText(preview.enterField(), text);
      add(files);
    },
    /** Removes text and files; undo restores the text. */
    clear() {
      // Hidden fields cannot be focused.
      if (preview.isShown) flushSync(preview.close);
      parts.current = { ...parts.current, files: [] };
      // The page may have closed the field while a message was scheduled.
      if (field.current) replaceText(field.current, '');
      change({ text: '' });
    },
    count: parts.current.files.length,
    upload: (files: readonly File[]) => uploads.add(filesOf, files),
    isUploading: done.length > 0 || rows.some(({ state }) => state !== 'failed'),
    list: (
      <UploadList
        destination={filesOf}
        files={listedFiles(parts.current)}
        onRemove={({ url }) => change({ files: parts.current.files.filter((file) => file.url !== url) })}
        onInsert={({ name, url }) => insertLinks(preview.enterField(), linkTo(name, url))}
        onEmpty={preview.enterField}
      />
    ),
  };
}

export interface Preview {
  readonly isShown: boolean;
  /** Rendered preview; null while editing. */
  readonly box: ReactNode;
  close(): void;
  toggle(): void;
  /** Handles the keys that show the preview and return to the field. */
  onKeyDown(event: KeyboardEvent): void;
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
    const element = mounted(field);
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
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.altKey && event.code === 'KeyP' && text.trim() !== '') toggle();
    else if (event.key === 'Escape' && event.target !== field.current) enterField();
    else return;
    event.preventDefault();
  };
  const shown = isShown && (
    <div ref={box} className={className} tabIndex={-1}>
      <MessageBody html={html} />
    </div>
  );
  return { isShown, box: shown, close, toggle, onKeyDown, enterField };
}

interface AttachProps {
  readonly destination: UploadPlace;
  /** Called when files were chosen; the user may continue to write. */
  onChosen(): void;
}

/** Button that opens the file chooser. */
export function AttachButton({ destination, onChosen }: AttachProps) {
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
          // The keyboard of a touch screen would cover the files.
          if (!hasCamera) onChosen();
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
    const { form } = element;
    // The messages above would scroll if the form shrank while it is measured.
    if (form) form.style.minHeight = `${form.offsetHeight}px`;
    element.style.height = 'auto';
    element.style.height = `${element.scrollHeight}px`;
    if (form) form.style.minHeight = '';
  }, [text, isPreviewed]);
}

/** Places the cursor at the end of an existing draft; a subsequent click moves it. */
function enter(entered: RefObject<HTMLTextAreaElement | null>, element: HTMLTextAreaElement): void {
  if (entered.current === element) return;
  entered.current = element;
  if (element.selectionEnd === 0) element.setSelectionRange(element.value.length, element.value.length);
}

function appendText(element: HTMLTextAreaElement, more: string): void {
  if (more === '') return;
  element.setSelectionRange(element.value.length, element.value.length);
  insertText(element, element.value === '' ? more : `\n\n${more}`);
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
