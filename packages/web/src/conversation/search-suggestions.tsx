import type { I18n } from '@lingui/core';
import { useLingui } from '@lingui/react';
import {
  type Chat,
  channelBefore,
  destinationOf,
  type Narrow,
  parseSearch,
  searchSuggestions,
  UnclearName,
} from '@parley/chat';
import { X } from 'lucide-react';
import {
  type KeyboardEvent,
  type Ref,
  type RefObject,
  useEffect,
  useImperativeHandle,
  useLayoutEffect,
  useRef,
} from 'react';
import { useListbox } from '../kit/listbox.js';
import { insertText } from '../kit/text-field.js';
import { useChat, useComputed } from '../services/context.js';
import styles from './completion.module.css';
import { onlyChannel } from './destination-heading.js';

export interface SuggestionsHandle {
  onKeyDown(event: KeyboardEvent): void;
}

interface Props {
  readonly field: RefObject<HTMLInputElement | null>;
  readonly text: string;
  readonly scope: Narrow;
  onClose(): void;
  readonly ref: Ref<SuggestionsHandle>;
}

/** Search for the typed text, followed by operators and values for its last part. */
export function SearchSuggestions({ field, text, scope, onClose, ref }: Props) {
  const { i18n } = useLingui();
  const chat = useChat();
  const suggestions = useComputed(() => searchSuggestions(chat.state, text, scope), [chat, text, scope]);
  const channelId = useComputed(() => channelBefore(chat.state, text, scope), [chat, text, scope]);
  useEffect(() => {
    // After a failure, the list has no topics.
    if (channelId !== null) chat.loadTopics(channelId).catch(() => {});
  }, [chat, channelId]);
  const typed = text.trim();
  const search = { part: i18n._('Search for “{text}”', { text: typed }), detail: '', text: null };
  const found = suggestions.map(({ part, operator, value, isNegated, text }) => {
    const description = meaningOf(operator, value, i18n);
    return { part, detail: isNegated ? i18n._('Not: {description}', { description }) : description, text };
  });
  const listbox = useListbox<(typeof found)[number] | typeof search>({
    label: i18n._('Suggestions'),
    query: text,
    options: typed === '' ? found : [search, ...found],
    className: styles.search,
    keyOf: ({ part }) => part,
    draw: ({ part, detail }) => (
      <>
        <span className={styles.label}>{part}</span>
        <span className={styles.detail}>{detail}</span>
      </>
    ),
    onPick: (option) => {
      const element = field.current!;
      if (option.text === null) {
        element.form!.requestSubmit();
        return;
      }
      element.focus();
      element.select();
      insertText(element, option.text.endsWith(':') ? option.text : `${option.text} `);
    },
  });
  const { fieldProps } = listbox;
  const onKeyDown = (event: KeyboardEvent) => {
    if (listbox.onKeyDown(event) || event.key !== 'Escape') return;
    onClose();
    // Escape clears a non-empty field and leaves an empty one.
    if (field.current?.value !== '') event.preventDefault();
  };
  useImperativeHandle(ref, () => ({ onKeyDown }));
  useEffect(() => {
    for (const [name, value] of Object.entries(fieldProps)) {
      if (value === undefined) field.current?.removeAttribute(name);
      else field.current?.setAttribute(name, value);
    }
  });
  return listbox.list;
}

const CHIP_GAP_PX = 10;

interface ScopeProps {
  /** Its text starts after the chip. */
  readonly field: RefObject<HTMLInputElement | null>;
  readonly scope: Narrow;
  onWiden(): void;
}

/** Names the place in which a search looks, and widens it to everywhere. */
export function ScopeButton({ field, scope, onWiden }: ScopeProps) {
  const { i18n } = useLingui();
  const chip = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => {
    const { style } = field.current!;
    style.paddingInlineStart = `${chip.current!.offsetWidth + CHIP_GAP_PX}px`;
    return () => {
      style.paddingInlineStart = '';
    };
  }, [field]);
  const text =
    destinationOf(scope)?.kind === 'channel'
      ? i18n._('in this topic')
      : onlyChannel(scope) !== null
        ? i18n._('in this channel')
        : i18n._('in this view');
  return (
    <button
      ref={chip}
      type="button"
      className={styles.scope}
      tabIndex={-1}
      title={i18n._('Search everywhere')}
      // Keeps the focus in the field.
      onMouseDown={(event) => event.preventDefault()}
      onClick={onWiden}
    >
      <span id="scope">{text}</span> <X size={12} aria-hidden />
    </button>
  );
}

function meaningOf(operator: string, value: string, i18n: I18n): string {
  switch (operator) {
    case 'is':
      return stateText(value, i18n);
    case 'has':
      return contentText(value, i18n);
    case 'channel':
      return i18n._('Messages in a channel');
    case 'topic':
      return i18n._('Messages in a topic');
    case 'dm':
      return i18n._('Direct messages with {name}', { name: value || '…' });
    case 'dm-including':
      return i18n._('Direct messages that include {name}', { name: value || '…' });
    case 'mentions':
      return i18n._('Messages that mention {name}', { name: value || '…' });
    case 'before':
      return i18n._('Messages before a day, month or year');
    case 'after':
      return i18n._('Messages after a day, month or year');
    case 'during':
      return i18n._('Messages of a day, month or year');
    default:
      return i18n._('Messages from {name}', { name: value || '…' });
  }
}

function stateText(value: string, i18n: I18n): string {
  const texts: Readonly<Record<string, string>> = {
    unread: i18n._('Unread messages'),
    starred: i18n._('Starred messages'),
    mentioned: i18n._('Messages that mention you'),
    dm: i18n._('Direct messages'),
    followed: i18n._('Messages in followed topics'),
    resolved: i18n._('Messages in resolved topics'),
    alerted: i18n._('Messages with alert words'),
    muted: i18n._('Messages in muted topics and channels'),
  };
  return texts[value] ?? i18n._('Messages by their state');
}

function contentText(value: string, i18n: I18n): string {
  const texts: Readonly<Record<string, string>> = {
    link: i18n._('Messages with links'),
    image: i18n._('Messages with images'),
    attachment: i18n._('Messages with files'),
    reaction: i18n._('Messages with reactions'),
  };
  return texts[value] ?? i18n._('Messages by their content');
}

/** Returns the address of a search, or the reason why a name in it is ambiguous. */
export function searchFor(chat: Chat, text: string, scope: Narrow, i18n: I18n): { href: string } | { problem: string } {
  try {
    return { href: chat.formatAddress(parseSearch(chat.state, text, scope)) };
  } catch (error) {
    if (!(error instanceof UnclearName)) throw error;
    const values = { name: error.operand };
    if (error.of === 'person') {
      return {
        problem: error.isShared
          ? i18n._('Several people are named {name}', values)
          : i18n._('Nobody is named {name}', values),
      };
    }
    return {
      problem: error.isShared
        ? i18n._('Several channels are named {name}', values)
        : i18n._('No channel is named {name}', values),
    };
  }
}
