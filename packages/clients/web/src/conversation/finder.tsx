import { useLingui } from '@lingui/react';
import { type Chat, type Destination, narrowOf, rankOf, resembles } from '@parley/chat';
import { Hash, MessageSquare, User } from 'lucide-react';
import { type ReactNode, useMemo, useState } from 'react';
import { Dialog } from '../kit/dialog.js';
import { useListbox } from '../kit/listbox.js';
import styles from '../kit/listbox.module.css';
import { useOverlay } from '../kit/overlay.js';
import overlays from '../kit/overlays.module.css';
import { type Services, useComputed, useServices } from '../services/context.js';

const MAX_ENTRIES = 12;
/** Number of conversations that precede other matches of their name. */
const MAX_RECENT = 20;

export interface Entry {
  /** Target address, or the name of an action. */
  readonly address: string;
  /** Action instead of an address. */
  readonly run?: () => void;
  /** Conversation that can receive a message. */
  readonly to?: Destination;
  /** Channel in which a topic can be started. */
  readonly channelId?: number;
  readonly name: string;
  readonly detail: string;
  /** Further words to find it by. */
  readonly words?: string;
  /** True for conversations that precede other matches of their name. */
  readonly isRecent?: boolean;
  readonly icon: ReactNode;
}

interface FinderProps {
  readonly title: string;
  readonly label: string;
  readonly entries: readonly Entry[];
  isOffered?(entry: Entry): boolean;
  /** Last entry, whatever was found; null for none. */
  lastEntry?(query: string): Entry | null;
  /** Called when the user begins to type. */
  onType?(): void;
  onPick(entry: Entry): void;
}

/** Field that finds places and actions by parts of their names. */
export function Finder({ title, label, entries, isOffered, lastEntry, onType, onPick }: FinderProps) {
  const { i18n } = useLingui();
  const { close, leave } = useOverlay();
  const [query, setQuery] = useState('');
  // biome-ignore lint/correctness/useExhaustiveDependencies: rights are checked when the query changes.
  const found = useMemo(() => ranked(entries, query, isOffered), [entries, query]);
  const isSearched = query.trim() !== '';
  const last = isSearched && lastEntry ? lastEntry(query.trim()) : null;
  const { fieldProps, onKeyDown, list } = useListbox({
    label: i18n._('Results'),
    query,
    options: last === null ? found : [...found, last],
    keyOf: ({ address }) => address,
    draw: ({ icon, name, detail }) => (
      <>
        {icon}
        <span className={styles.name}>{name}</span>
        <span className={styles.detail}>{detail}</span>
      </>
    ),
    onPick: (entry) => {
      if (entry.run) close();
      else leave();
      onPick(entry);
    },
  });
  return (
    <Dialog title={title} isAtTop>
      <div className={overlays.form}>
        <input
          {...fieldProps}
          role="combobox"
          className={overlays.input}
          aria-label={label}
          placeholder={label}
          aria-expanded={list !== false}
          autoComplete="off"
          value={query}
          onChange={(event) => {
            setQuery(event.target.value);
            onType?.();
          }}
          onKeyDown={onKeyDown}
        />
        {isSearched && found.length === 0 && <output className={styles.nothing}>{i18n._('Nothing found')}</output>}
        {list}
      </div>
    </Dialog>
  );
}

/** Recent conversations, channels, other people, then other known topics. */
export function placesOf(chat: Chat): readonly Entry[] {
  const addressOf = (narrow: ReturnType<typeof narrowOf>) => chat.formatAddress({ view: 'narrow', narrow, near: null });
  const channelName = (id: number) => chat.sidebar.channel(id).value?.name ?? '';
  const personName = (id: number) => chat.people.person(id).value.name;
  const conversation = (to: Destination): Entry => {
    const isTopic = to.kind === 'channel';
    return {
      address: addressOf(narrowOf(to)),
      name: isTopic
        ? to.topic || (chat.field('realm_empty_topic_display_name') ?? '')
        : to.userIds.map(personName).join(', '),
      detail: isTopic ? `#${channelName(to.channelId)}` : '',
      icon: <MessageSquare size={16} aria-hidden />,
      to,
    };
  };
  const person = (id: number): Entry => {
    const to: Destination = { kind: 'direct', userIds: id === chat.state.selfId ? [] : [id] };
    return {
      address: addressOf(narrowOf(to)),
      name: chat.state.people.peek(id)?.user.full_name ?? '',
      detail: '',
      icon: <User size={16} aria-hidden />,
      to,
    };
  };
  const recent = chat.conversations.recent.value
    .flatMap(({ destination: to }) => {
      if (to.kind === 'channel' || to.userIds.length > 1) return [conversation(to)];
      const id = to.userIds[0] ?? chat.state.selfId;
      // Guests may no longer know these people.
      return chat.state.people.peek(id) ? [person(id)] : [];
    })
    .map((entry, index): Entry => (index < MAX_RECENT ? { ...entry, isRecent: true } : entry));
  const addresses = new Set(recent.map(({ address }) => address));
  const isOther = ({ address }: Entry) => !addresses.has(address);
  const otherTopics = chat.sidebar.channelIds.value
    .flatMap((id) => chat.sidebar.topics(id).value)
    .map(({ channelId, name }) => conversation({ kind: 'channel', channelId, topic: name }))
    .filter(isOther);
  const channels = chat.sidebar.channelIds.value.map(
    (id): Entry => ({
      address: addressOf([{ operator: 'channel', operand: id }]),
      name: channelName(id),
      detail: '',
      icon: <Hash size={16} aria-hidden />,
      channelId: id,
    }),
  );
  const withBots = new Set([...chat.people.byPresence.value, ...chat.people.ids.value]);
  const people = [...withBots].map(person).filter(isOther);
  return [...recent, ...channels, ...people, ...otherTopics];
}

/**
 * Prefers equal names, then recent conversations, then other names. Names with their channels and other words follow, then
 * names that are typed with mistakes.
 */
function rankIn({ name, detail, words = '', isRecent = false }: Entry, query: string): number | null {
  const rank = rankOf(query, name);
  if (rank !== null) return isRecent && rank > 0 ? RANK_RECENT : rank;
  const whole = `${name} ${detail.replace('#', '')}`;
  if (rankOf(query, `${whole} ${words}`) !== null) return RANK_WITH_CHANNEL;
  if (resembles(query, name)) return RANK_MISTYPED;
  return resembles(query, whole) ? RANK_MISTYPED_WITH_CHANNEL : null;
}

/** Names that equal the query have rank 0, other names rank 1 or 2. */
const RANK_RECENT = 0.5;
/** Ranks after those of names. */
const RANK_WITH_CHANNEL = 3;
const RANK_MISTYPED = 4;
const RANK_MISTYPED_WITH_CHANNEL = 5;

/** Kinds of entries by the mark before a query, as in messages. */
const KINDS: Readonly<Record<string, (entry: Entry) => boolean>> = {
  '#': ({ to, channelId }) => channelId !== undefined || to?.kind === 'channel',
  '@': ({ to }) => to?.kind === 'direct',
};

/** Returns the entries that match the query, best first. `#` limits them to channels and topics, `@` to people. */
export function ranked(all: readonly Entry[], typed: string, isOffered = (_: Entry) => true): readonly Entry[] {
  const kind = KINDS[typed.trim()[0] ?? ''];
  const entries = kind ? all.filter(kind) : all;
  const query = kind ? typed.trim().slice(1).replaceAll('>', ' ') : typed;
  const sorted =
    query.trim() === ''
      ? entries
      : entries
          .flatMap((entry) => {
            const rank = rankIn(entry, query);
            return rank === null ? [] : [{ entry, rank }];
          })
          .sort((a, b) => a.rank - b.rank)
          .map(({ entry }) => entry);
  const found: Entry[] = [];
  for (const entry of sorted) {
    if (found.length === MAX_ENTRIES) break;
    if (isOffered(entry)) found.push(entry);
  }
  return found;
}

interface ForwardProps {
  /** Default: "Forward message". */
  readonly title?: string;
  readonly text: string;
  /** Puts the text into the input field of a conversation. */
  write(to: Destination, text: string): void;
  /** Called with the upload place of the chosen field. */
  onPick?(filesOf: Destination): void;
}

/** Forwards a text to the field of a conversation or new topic, found by parts of its name. */
export function ForwardDialog({ title, text, write, onPick }: ForwardProps) {
  const { i18n } = useLingui();
  const services = useServices();
  const { chat } = services;
  const places = useComputed(() => placesOf(chat), [chat]);
  return (
    <Finder
      title={title ?? i18n._('Forward message')}
      label={i18n._('Name of a conversation, channel or person')}
      entries={places}
      isOffered={({ to, channelId }) => (to ? chat.rights.canSend(to) : chat.rights.canPost(channelId!)) === null}
      onPick={({ to, channelId }) => {
        onPick?.(to ?? { kind: 'channel', channelId: channelId!, topic: '' });
        const destination = to ?? topicInField(services, channelId!);
        if (destination) write(destination, text);
        else writeInTopic(services, channelId!, text);
      }}
    />
  );
}

/** Topic in the composer of the current channel; null without a composer. */
function topicInField({ navigation }: Services, channelId: number): Destination | null {
  const field = document.querySelector<HTMLInputElement>('main [data-new-topic]');
  const isShown = field !== null && navigation.current().channelId === channelId;
  return isShown ? { kind: 'channel', channelId, topic: field.value.trim() } : null;
}

/** Opens a channel to choose the topic of a text. */
function writeInTopic({ chat, navigation, drafts, fieldTexts }: Services, channelId: number, text: string): void {
  // A previously typed topic is still in the field.
  const topic = fieldTexts.texts.peek().get(`topic ${channelId}`)?.text.trim() ?? '';
  drafts.add({ kind: 'channel', channelId, topic }, text);
  drafts.beginTopic(channelId);
  navigation.navigate(
    chat.formatAddress({ view: 'narrow', narrow: [{ operator: 'channel', operand: channelId }], near: null }),
  );
}
