import type { I18n } from '@lingui/core';
import { useLingui } from '@lingui/react';
import { completionAt, completionChannel, type Destination, type Suggestion, suggestionsFor } from '@parley/chat';
import { type KeyboardEvent, type Ref, type RefObject, useEffect, useImperativeHandle, useMemo, useState } from 'react';
import { AtSign, Code, Hash, Slash, Users } from '../icons/icons.js';
import { Avatar } from '../kit/avatar.js';
import { useEmojiNames } from '../kit/emoji-names.js';
import kit from '../kit/kit.module.css';
import { useListbox } from '../kit/listbox.js';
import { insertText } from '../kit/text-field.js';
import { useChat, useComputed, useFind } from '../services/context.js';
import styles from './completion.module.css';

export interface CompletionHandle {
  /** Returns true if the list handled the key. */
  onKeyDown(event: KeyboardEvent): boolean;
  /** Called when the cursor moved or the text changed. */
  onSelect(): void;
  onBlur(): void;
}

interface Props {
  readonly field: RefObject<HTMLTextAreaElement | null>;
  readonly text: string;
  readonly destination: Destination;
  readonly ref: Ref<CompletionHandle>;
}

/** Suggestions for the unfinished name or word before the cursor. */
export function Completion({ field, text, destination, ref }: Props) {
  const chat = useChat();
  const emoji = useEmojiNames();
  const { i18n } = useLingui();
  /** Null while the field has no cursor. */
  const [cursor, setCursor] = useState<number | null>(null);
  /** Start of the query dismissed with Escape. */
  const [closedAt, setClosedAt] = useState<number | null>(null);
  const query = useMemo(() => (cursor === null ? null : completionAt(text, cursor)), [text, cursor]);
  const start = query?.start ?? null;
  const isOpen = query !== null && start !== closedAt;
  const suggestions = useComputed(
    () => (isOpen ? suggestionsFor(chat.state, query, destination, emoji.all.value, LANGUAGES) : NONE),
    [chat, emoji, query, isOpen, destination],
  );
  const isShown = suggestions.length > 0;

  useEffect(() => setClosedAt((closed) => (closed === start ? closed : null)), [start]);
  useNames(query, emoji);

  const accept = ({ insert }: Suggestion) => {
    const element = field.current;
    if (!element || !query || cursor === null) return;
    element.focus();
    element.setSelectionRange(query.start, cursor);
    insertText(element, insert);
  };
  /** The key `>` takes the suggested channel. After its name, where topics are suggested already, it has no effect. */
  const startTopics = () => {
    if (query?.kind === 'topic') return query.text === '' && field.current?.value[cursor! - 1] === '>';
    if (query?.kind === 'channel' && active?.kind === 'channel') accept(active);
    return query?.kind === 'channel' && active?.kind === 'channel';
  };
  const onSelect = () => {
    const { selectionStart = 0, selectionEnd = 0 } = field.current ?? {};
    setCursor(selectionStart === selectionEnd ? selectionStart : null);
  };
  const { fieldProps, active, list, ...listbox } = useListbox({
    label: i18n._('Suggestions'),
    query,
    options: suggestions,
    className: styles.list,
    keyOf: ({ key }) => key,
    draw: (suggestion) => (
      <>
        <Picture suggestion={suggestion} />
        <bdi className={styles.label}>{labelOf(suggestion)}</bdi>
        <span className={styles.detail}>{detailOf(suggestion, i18n)}</span>
      </>
    ),
    onPick: accept,
  });
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === '>' && startTopics()) {
      event.preventDefault();
      return true;
    }
    if (listbox.onKeyDown(event)) return true;
    const hasModifier = event.ctrlKey || event.metaKey || event.altKey || event.shiftKey;
    if (!active || hasModifier) return false;
    if (event.key === 'Tab') accept(active);
    else if (event.key === 'Escape') setClosedAt(start);
    else return false;
    event.preventDefault();
    return true;
  };
  useImperativeHandle(ref, () => ({ onKeyDown, onSelect, onBlur: () => setCursor(null) }));
  // Text may already have been typed when this code loads.
  // biome-ignore lint/correctness/useExhaustiveDependencies: once.
  useEffect(() => {
    if (field.current?.matches(':focus')) onSelect();
  }, []);
  useEffect(() => {
    for (const [name, value] of Object.entries(fieldProps)) {
      if (value === undefined) field.current?.removeAttribute(name);
      else field.current?.setAttribute(name, value);
    }
  });
  return (
    <>
      <span className={kit.hiddenText} role="status">
        {isShown && i18n._('{count, plural, one {# suggestion} other {# suggestions}}', { count: suggestions.length })}
      </span>
      {list}
    </>
  );
}

/** Loads the names that complete a query. */
function useNames(query: ReturnType<typeof completionAt>, emoji: ReturnType<typeof useEmojiNames>): void {
  const chat = useChat();
  useFind(query?.kind === 'mention' || query?.kind === 'channel' ? query.text : '');
  const isEmoji = query?.kind === 'emoji';
  useEffect(() => {
    if (isEmoji) void emoji.load();
  }, [emoji, isEmoji]);
  const channelId = useComputed(() => (query ? completionChannel(chat.state, query) : null), [chat, query]);
  useEffect(() => {
    // A failure leaves the list empty; the name can still be typed.
    if (channelId !== null) chat.loadTopics(channelId).catch(() => {});
  }, [chat, channelId]);
}

const NONE: readonly Suggestion[] = [];

/** Code block languages. Includes typed abbreviations, so that Enter does not replace them with longer words. */
const LANGUAGES = (
  'quote spoiler math bash c c# c++ clojure cmake console cpp cs csharp css dart diff docker dockerfile ' +
  'elixir elm erlang fsharp go golang graphql groovy haskell hs html http ini java javascript js json jsx ' +
  'julia kotlin kt latex less lisp lua make markdown matlab md nginx nix objective-c ocaml perl php pl ' +
  'powershell protobuf py python r rb rs ruby rust scala scss sh sql swift terraform text toml ts tsx txt ' +
  'typescript vb.net vim xml yaml yml zig'
).split(' ');

const labelOf = ({ kind, label }: Suggestion): string =>
  kind === 'emoji' ? `:${label}:` : kind === 'command' ? `/${label}` : label;

function detailOf({ kind, label, detail }: Suggestion, i18n: I18n): string {
  if (kind === 'command') return commandTexts(i18n)[label] ?? '';
  if (kind !== 'wildcard') return detail;
  return label === 'topic' ? i18n._('Notify everyone in this topic') : i18n._('Notify everyone here');
}

const commandTexts = (i18n: I18n): Readonly<Record<string, string>> => ({
  me: i18n._('Say what you are doing'),
  poll: i18n._('Create a poll'),
  todo: i18n._('Create a to-do list'),
});

function Picture({ suggestion: { kind, id, label, emoji } }: { readonly suggestion: Suggestion }) {
  const chat = useChat();
  switch (kind) {
    case 'person':
      return <Avatar url={chat.people.person(id).peek().avatarUrl} name={label} size={24} />;
    case 'emoji':
      return emoji?.imageUrl ? (
        <img className={styles.emoji} src={emoji.imageUrl} alt="" />
      ) : (
        <span className={styles.emoji} aria-hidden>
          {emoji?.character}
        </span>
      );
    case 'command':
      return <Slash size={18} aria-hidden className={styles.icon} />;
    case 'language':
      return <Code size={18} aria-hidden className={styles.icon} />;
    case 'group':
      return <Users size={18} aria-hidden className={styles.icon} />;
    case 'wildcard':
      return <AtSign size={18} aria-hidden className={styles.icon} />;
    default:
      return <Hash size={18} aria-hidden className={styles.icon} />;
  }
}
