import { useLingui } from '@lingui/react';
import { type Destination, destinationKey } from '@parley/chat';
import {
  type ReactNode,
  type Ref,
  type RefObject,
  useEffect,
  useId,
  useImperativeHandle,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { nextMessage } from '../editor/attached-files.js';
import styles from '../editor/composer.module.css';
import { DestinationName } from '../editor/destination-heading.js';
import { SendKeys, useSendKeys } from '../editor/enter-key.js';
import { FormattingTools } from '../editor/formatting-tools.js';
import { useDroppedFiles, useMessageField, usePreview } from '../editor/message-field.js';
import { SendHorizontal } from '../icons/icons.js';
import { usePlace, useServices } from '../services/context.js';
import type { DraftRow, OpenDraft } from '../services/drafts.js';
import { reportFailure } from '../services/failures.js';
import { useLoaded } from '../services/loading.js';
import { OtherDrafts } from './other-drafts.js';

export interface ComposerHandle {
  readonly destination: Destination;
  readonly hasFocus: boolean;
  /** Appends a text on separate lines and takes the focus. */
  insert(text: string): void;
  /** Removes the text and returns it. */
  take(): string;
}

interface Props {
  readonly destination: Destination;
  /** Place that holds uploads until the destination is chosen; default: the destination. */
  readonly filesOf?: Destination;
  /** Field that chooses the destination. */
  readonly topicField?: ReactNode;
  /** Called when the user changes or sends the text. */
  onText?(text: string): void;
  readonly ref?: Ref<ComposerHandle>;
}

const SAVE_AFTER_MS = 600;

/** Loaded after the first message. */
const loadSendLater = () => import('../editor/send-later.js').then(({ default: SendLater }) => SendLater);

/** Loaded when the field receives the focus. */
const loadWarnings = () => import('./warnings.js').then(({ Warnings }) => Warnings);

/** Input field for messages. The draft belongs to the destination shown above the text. */
export function Composer({ destination, filesOf = destination, topicField, onText, ref }: Props) {
  const { i18n } = useLingui();
  const { navigation, tools: shownTools } = useServices();
  // The product's page shows which conversation it embeds.
  const isNamedByHost = usePlace(() => navigation.isAtStart());
  const field = useRef<HTMLTextAreaElement>(null);
  const hint = useId();
  const draftText = useDraft(field, destination);
  const { draft, text } = draftText;
  const preview = usePreview(field, text, styles.preview);
  const [isTall, setTall] = useState(false);
  useInitialFocus(field, destination);
  const isOver = useDroppedFiles(filesOf);
  const { hadFocus, isWhole, tooLong, enterHint, overlays, files, fieldProps } = useMessageField(field, {
    content: text,
    destination,
    filesOf,
    preview,
    onContent: (next) => writing.change(next),
    onSend: () => canSend && writing.send(),
    onEscape: () => field.current?.blur(),
  });
  useHandle(ref, { destination, field, append: files.append, take: () => draftText.replace('') });
  const canSend = text.trim() !== '' && isWhole;
  const empty = () => {
    files.clear();
    setTall(false);
  };
  const writing = useWriting({ destination, draftText, onText, empty });
  const continueDraft = (row: DraftRow) => {
    draftText.use(row);
    preview.enterField();
  };
  const Warnings = useLoaded(loadWarnings, hadFocus);
  const tools = { destination, filesOf, text, preview, isTall, onTall: setTall };

  return (
    <form
      className={styles.composer}
      part="composer"
      data-over={isOver || undefined}
      data-tall={isTall || undefined}
      data-untouched={(!hadFocus && text === '') || undefined}
      onKeyDown={preview.onKeyDown}
      onSubmit={(event) => {
        event.preventDefault();
        if (canSend) writing.send();
      }}
    >
      {overlays}
      {shownTools !== 'simple' && <OtherDrafts draft={draft} onUse={continueDraft} />}
      {Warnings && <Warnings destination={destination} text={text} />}
      {(topicField || !isNamedByHost) && (
        <div className={styles.destination}>
          {i18n._('To:')} {topicField ?? <DestinationName destination={destination} />}
        </div>
      )}
      <textarea
        ref={field}
        className={styles.field}
        part="field"
        hidden={preview.isShown}
        rows={1}
        aria-label={i18n._('Message')}
        aria-describedby={hint}
        placeholder={i18n._('Write a message')}
        {...fieldProps}
      />
      {preview.box}
      {files.list}
      {enterHint}
      <div className={styles.tools}>
        {tooLong}
        <FormattingTools {...tools} />
        <SendKeys id={hint} />
        <SendButtons destination={destination} text={text} canSend={canSend} onScheduled={writing.onScheduled} />
      </div>
    </form>
  );
}

interface DraftText {
  readonly draft: OpenDraft;
  /** Whole content, including links to the listed files. */
  readonly text: string;
  /** Current text, for callbacks that run later. */
  readonly latest: RefObject<string>;
  setText(text: string): void;
  /** Changes the text, saves it immediately, and returns the previous text. */
  replace(text: string): string;
  /** Continues another draft. */
  use(row: DraftRow): void;
}

/** Content of the field, saved as the draft of the destination. */
function useDraft(field: RefObject<HTMLTextAreaElement | null>, destination: Destination): DraftText {
  const { chat, drafts } = useServices();
  const [draft] = useState(() => drafts.open(destination));
  const [text, setText] = useState(draft.text);
  useEffect(() => {
    const timer = setTimeout(() => draft.save(text), SAVE_AFTER_MS);
    return () => clearTimeout(timer);
  }, [draft, text]);
  // Navigation before the delayed save must not lose the text.
  const latest = useRef(text);
  latest.current = text;
  useEffect(() => drafts.withField(() => draft.save(latest.current)), [drafts, draft]);
  const place = destinationKey(destination);
  // biome-ignore lint/correctness/useExhaustiveDependencies: destinations are equal if their keys are.
  useEffect(() => {
    draft.moveTo(destination);
    return () => chat.typing.stopped();
  }, [draft, place, chat]);
  // Other windows and devices may change or create the draft.
  useEffect(
    () =>
      drafts.all.subscribe(() => {
        const change = draft.takeChange(latest.current, !field.current?.matches(':focus'));
        if (change !== null) setText(change);
      }),
    [drafts, draft, field],
  );
  const use = (row: DraftRow) => {
    draft.save(latest.current);
    setText(draft.use(row));
  };
  const replace = (next: string) => {
    const previous = latest.current;
    latest.current = next;
    setText(next);
    draft.save(next);
    return previous;
  };
  return { draft, text, setText, latest, replace, use };
}

interface WritingOptions {
  readonly destination: Destination;
  readonly draftText: DraftText;
  readonly onText: Props['onText'];
  /** Empties the field. */
  empty(): void;
}

/** Changes and sends the text; sent parts leave the field. */
function useWriting({ destination, draftText, onText, empty }: WritingOptions) {
  const { text, setText, latest, replace } = draftText;
  const { chat, onSent } = useServices();
  const send = (content = text) => {
    chat.typing.stopped();
    const [message, rest] = nextMessage(content);
    try {
      chat.send(destination, message);
    } catch (error) {
      reportFailure(error);
      return;
    }
    onSent?.(destination, message);
    keep(rest);
    if (rest !== '') send(rest);
  };
  const keep = (rest: string) => {
    if (rest === '') empty();
    replace(rest);
  };
  const change = (next: string) => {
    setText(next);
    onText?.(next);
    chat.typing.typed(destination, next);
  };
  const onScheduled = (content: string, rest: string) => {
    // The user may have changed the text while waiting for the server.
    if (latest.current !== content) return;
    chat.typing.stopped();
    keep(rest);
  };
  return { change, send, onScheduled };
}

interface HandleOptions {
  readonly destination: Destination;
  readonly field: RefObject<HTMLTextAreaElement | null>;
  append(text: string): void;
  take(): string;
}

function useHandle(ref: Ref<ComposerHandle> | undefined, options: HandleOptions): void {
  const { destination, field, append, take } = options;
  useImperativeHandle(ref, () => ({
    destination,
    get hasFocus() {
      return field.current?.matches(':focus') === true;
    },
    insert: append,
    take,
  }));
}

function useInitialFocus(field: RefObject<HTMLTextAreaElement | null>, destination: Destination): void {
  const { drafts } = useServices();
  // Takes the focus before the next key, which would otherwise be a shortcut.
  // biome-ignore lint/correctness/useExhaustiveDependencies: read once, when the field appears.
  useLayoutEffect(() => {
    if (drafts.takesFocus(destinationKey(destination))) field.current?.focus();
  }, []);
}

interface SendButtonsProps {
  readonly destination: Destination;
  readonly text: string;
  readonly canSend: boolean;
  onScheduled(content: string, rest: string): void;
}

function SendButtons({ destination, text, canSend, onScheduled }: SendButtonsProps) {
  const { i18n } = useLingui();
  const SendLater = useLoaded(loadSendLater, useServices().tools !== 'simple');
  const keys = useSendKeys();
  return (
    <>
      {SendLater && <SendLater destination={destination} text={text} canSend={canSend} onScheduled={onScheduled} />}
      <button
        type="submit"
        className={styles.send}
        part="send"
        disabled={!canSend}
        aria-label={i18n._('Send')}
        title={`${i18n._('Send')} (${keys})`}
      >
        <SendHorizontal size={18} aria-hidden />
      </button>
    </>
  );
}
