import type { I18n } from '@lingui/core';
import { useLingui } from '@lingui/react';
import {
  type ChatState,
  channelBefore,
  formatSearch,
  type Narrow,
  narrowOf,
  parseSearch,
  type SearchSuggestion,
  searchSuggestions,
  UnclearName,
} from '@parley/chat';
import type { FoundMessage } from '@parley/client';
import {
  type KeyboardEvent,
  type ReactNode,
  type Ref,
  type RefObject,
  useCallback,
  useEffect,
  useImperativeHandle,
  useMemo,
  useState,
} from 'react';
import styles from '../editor/completion.module.css';
import type { Icon } from '../icons/icon.js';
import { Clock, MessageSquareText, Trash2 } from '../icons/icons.js';
import { useListbox } from '../kit/listbox.js';
import { mounted } from '../kit/mounted.js';
import { insertText } from '../kit/text-field.js';
import { type Services, useChat, useComputed, useFind, useServices } from '../services/context.js';
import { useUnopenedTopics } from '../services/use-unopened-topics.js';
import { usePlaces } from './finder.js';
import { destinationOfHit, findMessages, snippetOf } from './found-messages.js';
import { ranked } from './ranked.js';
import { meantFilters, unknownFilter } from './typed-filters.js';

export { filterKeys, SearchChips } from './search-chips.js';

export interface SuggestionsHandle {
  onKeyDown(event: KeyboardEvent): void;
}

interface Props {
  readonly field: RefObject<HTMLInputElement | null>;
  readonly text: string;
  readonly filters: readonly string[];
  readonly scope: Narrow;
  onClose(): void;
  readonly ref: Ref<SuggestionsHandle>;
}

interface Option {
  readonly key: string;
  readonly icon?: Icon;
  readonly label: ReactNode;
  readonly detail: string;
  pick(): void;
}

/**
 * Search for the typed text, people, channels and topics with this name, operators and values for its last part, and
 * the newest messages found. Recent searches if nothing is typed.
 */
export function SearchSuggestions({ field, text: own, filters: chips, scope, onClose, ref }: Props) {
  const { i18n } = useLingui();
  const services = useServices();
  const { chat, navigation } = services;
  const start = chips.map((chip) => `${chip} `).join('');
  const text = start + own;
  const suggestions = useComputed(() => searchSuggestions(chat.state, text, scope), [chat, text, scope]);
  const channelId = useComputed(() => channelBefore(chat.state, text, scope), [chat, text, scope]);
  useEffect(() => {
    // After a failure, the list has no topics.
    if (channelId !== null) chat.loadTopics(channelId).catch(() => {});
  }, [chat, channelId]);
  const typed = text.trim();
  const isPending = PENDING_OPERATOR.test(text);
  const goTo = useCallback(
    (href: string) => {
      const element = mounted(field);
      element.value = element.defaultValue;
      element.blur();
      navigation.navigate(href);
    },
    [field, navigation],
  );
  const added = isPending || typed === '' ? [] : filtersAfter(chat.state, typed, scope, suggestions);
  const filters = [...suggestions, ...added].map(({ part, operator, value, isNegated, text: whole }): Option => {
    const description = meaningOf(operator, value, i18n);
    return {
      key: part,
      label: part,
      detail: isNegated ? i18n._('Not: {description}', { description }) : description,
      pick: () => {
        const element = mounted(field);
        element.focus();
        element.select();
        const rest = whole.slice(start.length);
        insertText(element, rest.endsWith(':') ? rest : `${rest} `);
      },
    };
  });
  const recent = useRecentSearches(typed === '', goTo);
  const places = useFoundPlaces(HAS_OPERATOR.test(typed) ? '' : typed, goTo);
  const hits = useHits(isPending ? '' : typed, scope, goTo);
  const search: Option = {
    key: 'search',
    label: i18n._('Search for “{text}”', { text: typed }),
    detail: '',
    pick: () => mounted(field).form!.requestSubmit(),
  };
  const listbox = useListbox<Option>({
    label: i18n._('Suggestions'),
    query: text,
    options: typed === '' ? [...recent, ...filters] : [search, ...places, ...filters, ...hits],
    className: styles.search,
    keyOf: ({ key }) => key,
    draw: ({ icon, label, detail }) => (
      <>
        {icon?.({ size: 16 })}
        <bdi className={styles.label}>{label}</bdi>
        <span className={styles.detail}>{detail}</span>
      </>
    ),
    onPick: (option) => option.pick(),
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
    document.getElementById(fieldProps['aria-activedescendant'] ?? '')?.scrollIntoView({ block: 'nearest' });
  });
  return listbox.list;
}

/** Filters offered after typed words: by sender, place, date and content. */
const OFFERED: readonly string[] = ['channel:', 'sender:', 'has:', 'during:'];

/** Filters that a mouse adds to typed words, without those already suggested. */
const filtersAfter = (state: ChatState, typed: string, scope: Narrow, suggested: readonly SearchSuggestion[]) =>
  searchSuggestions(state, `${typed} `, scope).filter(
    ({ part }) => OFFERED.includes(part) && !suggested.some((each) => each.part === part),
  );

/** Name of the field text with recent searches, one per line; removed on log-out. */
const RECENT = 'recent searches';
const MAX_RECENT = 6;

const linesOf = (text: string | undefined): readonly string[] => text?.split('\n') ?? [];

function useRecentSearches(isShown: boolean, goTo: (href: string) => void): readonly Option[] {
  const { i18n } = useLingui();
  const services = useServices();
  const { fieldTexts } = services;
  const searches = useComputed(() => linesOf(fieldTexts.texts.value.get(RECENT)?.text), [fieldTexts]);
  if (!isShown || searches.length === 0) return [];
  const forget: Option = {
    key: 'forget',
    icon: Trash2,
    label: i18n._('Clear recent searches'),
    detail: '',
    pick: () => fieldTexts.set(RECENT, null),
  };
  const options = searches.map((search): Option => {
    const pick = () => {
      const found = searchFor(services, search, [], i18n);
      // People and channels may have been renamed.
      if ('href' in found) goTo(found.href);
    };
    return { key: `recent ${search}`, icon: Clock, label: search, detail: '', pick };
  });
  return [...options, forget];
}

const HAS_OPERATOR = /(?:^|\s)-?[a-z-]+:/i;
/** Operator at the end, the value of which is being typed. */
const PENDING_OPERATOR = /(?:^|\s)-?[a-z-]+:(?:"[^"]*|[^\s"]*)$/i;
/** Maximum people, channels and topics, each. */
const MAX_PLACES = 3;

/** People, channels and topics with a name like the query; none for an empty one. */
function useFoundPlaces(query: string, goTo: (href: string) => void): readonly Option[] {
  const { i18n } = useLingui();
  const chat = useChat();
  const isWanted = query !== '' && !chat.isVisitor;
  useFind(query);
  useUnopenedTopics(isWanted ? chat.sidebar.channelIds.peek() : []);
  const all = usePlaces(isWanted);
  return useMemo(() => {
    const people = all.filter(({ to }) => to?.kind === 'direct');
    const channels = all.filter(({ channelId }) => channelId !== undefined);
    const topics = all.filter(({ to }) => to?.kind === 'channel');
    const kinds = [
      [people, i18n._('Direct messages')],
      [channels, i18n._('Channel')],
      [topics, ''],
    ] as const;
    return kinds.flatMap(([entries, kind]) =>
      ranked(entries, query)
        .slice(0, MAX_PLACES)
        .map(({ address, icon, name, detail }) => {
          return { key: address, icon, label: name, detail: detail || kind, pick: () => goTo(address) };
        }),
    );
  }, [all, query, i18n, goTo]);
}

/** Pause in typing after which messages are searched. */
const PAUSE_MS = 250;
const MIN_LETTERS = 3;
const MAX_HITS = 4;

/** Newest messages that a search finds. */
function useHits(query: string, scope: Narrow, goTo: (href: string) => void): readonly Option[] {
  const services = useServices();
  const { chat } = services;
  const { locale } = useLingui().i18n;
  const [found, setFound] = useState<{ readonly query: string; readonly hits: readonly FoundMessage[] } | null>(null);
  const isWanted = query.length >= MIN_LETTERS && !chat.isVisitor;
  useEffect(() => {
    if (!isWanted) return;
    let isOver = false;
    const load = async () => {
      const address = parseSearch(chat.state, meantFilters(query, locale), scope);
      if (address.view !== 'narrow') return;
      const hits = await findMessages(services, address.narrow, MAX_HITS, 'newest');
      if (!isOver) setFound({ query, hits });
    };
    // Other suggestions remain if the connection is lost or a name is unclear.
    const timer = setTimeout(() => void load().catch(() => {}), PAUSE_MS);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [services, chat, query, scope, isWanted, locale]);
  if (!isWanted || found?.query !== query) return [];
  return found.hits
    .filter(({ sender_id }) => !chat.people.person(sender_id).peek().isMuted)
    .map((message): Option => {
      const { before, hit, after } = snippetOf(message.match_content ?? message.content);
      const to = destinationOfHit(message, chat.state.selfId);
      const address = chat.formatAddress({ view: 'narrow', narrow: narrowOf(to), near: message.id });
      return {
        key: `message ${message.id}`,
        icon: MessageSquareText,
        label: (
          <>
            {before}
            <mark>{hit}</mark>
            {after}
          </>
        ),
        detail: message.sender_full_name,
        pick: () => goTo(address),
      };
    });
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

/** Returns the address of a search, or the reason why a filter in it is unknown or a name ambiguous. */
export function searchFor(
  { chat, fieldTexts }: Services,
  text: string,
  scope: Narrow,
  i18n: I18n,
): { href: string } | { problem: string } {
  const meant = meantFilters(text, i18n.locale);
  const filter = unknownFilter(meant);
  if (filter !== null)
    return { problem: i18n._('There is no filter {filter}. Quotation marks search for the words.', { filter }) };
  try {
    const address = parseSearch(chat.state, meant, scope);
    if (address.view === 'narrow') {
      const search = formatSearch(chat.state, address.narrow);
      const others = linesOf(fieldTexts.texts.peek().get(RECENT)?.text).filter((it) => it !== search);
      fieldTexts.set(RECENT, [search, ...others].slice(0, MAX_RECENT).join('\n'));
    }
    return { href: chat.formatAddress(address) };
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
