import { useLingui } from '@lingui/react';
import { type Chat, type Destination, narrowOf } from '@parley/chat';
import { useMemo, useState } from 'react';
import type { Icon } from '../icons/icon.js';
import { Hash, MessageSquare, User } from '../icons/icons.js';
import { Dialog } from '../kit/dialog.js';
import { useListbox } from '../kit/listbox.js';
import styles from '../kit/listbox.module.css';
import { useOverlay } from '../kit/overlay.js';
import overlays from '../kit/overlays.module.css';
import { type Services, useChat, useComputed, useFind, useServices } from '../services/context.js';
import { type Found, rankedWithActions } from './ranked.js';

/** Number of conversations that precede other matches of their name. */
const MAX_RECENT = 20;

export interface Entry extends Found {
  /** Target address, or the name of an action. */
  readonly address: string;
  /** Action instead of an address. */
  readonly run?: () => void;
  readonly icon: Icon;
}

interface FinderProps {
  readonly title: string;
  readonly label: string;
  readonly entries: readonly Entry[];
  isOffered?(entry: Entry): boolean;
  /** Last entry, whatever was found; null for none. */
  lastEntry?(query: string): Entry | null;
  onPick(entry: Entry): void;
}

/** Field that finds places and actions by parts of their names. */
export function Finder({ title, label, entries, isOffered, lastEntry, onPick }: FinderProps) {
  const { i18n } = useLingui();
  const { close, leave } = useOverlay();
  const [query, setQuery] = useState('');
  useFind(query);
  // biome-ignore lint/correctness/useExhaustiveDependencies: rights are checked when the query changes.
  const found = useMemo(() => rankedWithActions(entries, query, isOffered), [entries, query]);
  const isSearched = query.trim() !== '';
  const last = isSearched && lastEntry ? lastEntry(query.trim()) : null;
  const { fieldProps, onKeyDown, list } = useListbox({
    label: i18n._('Results'),
    query,
    options: last === null ? found : [...found, last],
    keyOf: ({ address }) => address,
    draw: ({ icon, name, detail }) => (
      <>
        {/* Called as a function, so that the icon of another entry reuses the elements. */}
        {icon({ size: 16 })}
        <bdi className={styles.name}>{name}</bdi>
        <bdi className={styles.detail}>{detail}</bdi>
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
          onChange={(event) => setQuery(event.target.value)}
          onKeyDown={onKeyDown}
        />
        {isSearched && found.length === 0 && <output className={styles.nothing}>{i18n._('Nothing found')}</output>}
        {list}
      </div>
    </Dialog>
  );
}

/** Recent conversations, channels, other people, then other known topics; none if they are unwanted. */
export function usePlaces(isWanted = true): readonly Entry[] {
  const chat = useChat();
  const recent = useComputed(() => (isWanted ? recentOf(chat) : []), [chat, isWanted]);
  // Topics change with each channel of which they are loaded.
  const topics = useComputed(() => (isWanted ? topicsOf(chat) : []), [chat, isWanted]);
  const channels = useComputed(() => (isWanted ? channelsOf(chat) : []), [chat, isWanted]);
  const people = useComputed(() => (isWanted ? peopleOf(chat) : []), [chat, isWanted]);
  return useMemo(() => {
    const addresses = new Set(recent.map(({ address }) => address));
    const isOther = ({ address }: Entry) => !addresses.has(address);
    return [...recent, ...channels, ...people.filter(isOther), ...topics.filter(isOther)];
  }, [recent, channels, people, topics]);
}

const addressOf = (chat: Chat, narrow: ReturnType<typeof narrowOf>) =>
  chat.formatAddress({ view: 'narrow', narrow, near: null });

const channelName = ({ state }: Chat, id: number) => state.channels.get(id)?.channel.name ?? '';

function conversation(chat: Chat, to: Destination): Entry {
  const isTopic = to.kind === 'channel';
  const personName = (id: number) => chat.people.person(id).value.name;
  return {
    address: addressOf(chat, narrowOf(to)),
    name: isTopic
      ? to.topic || (chat.field('realm_empty_topic_display_name') ?? '')
      : to.userIds.map(personName).join(', '),
    detail: isTopic ? `#${channelName(chat, to.channelId)}` : '',
    icon: MessageSquare,
    to,
  };
}

function person(chat: Chat, id: number): Entry {
  const to: Destination = { kind: 'direct', userIds: id === chat.state.selfId ? [] : [id] };
  return {
    address: addressOf(chat, narrowOf(to)),
    name: chat.state.people.peek(id)?.user.full_name ?? '',
    detail: '',
    icon: User,
    to,
  };
}

const recentOf = (chat: Chat): readonly Entry[] =>
  chat.conversations.recent.value
    .flatMap(({ destination: to }) => {
      if (to.kind === 'channel' || to.userIds.length > 1) return [conversation(chat, to)];
      const id = to.userIds[0] ?? chat.state.selfId;
      // Guests may no longer know these people.
      return chat.state.people.peek(id) ? [person(chat, id)] : [];
    })
    .map((entry, index): Entry => (index < MAX_RECENT ? { ...entry, isRecent: true } : entry));

/** Topics loaded so far. */
function topicsOf(chat: Chat): readonly Entry[] {
  const { state, sidebar } = chat;
  const known = new Set([...state.topics.keys(), ...state.unread.topicKeys.keys()]);
  return sidebar.channelIds.value
    .filter((id) => known.has(id))
    .flatMap((id) => sidebar.topics(id).value)
    .map(({ channelId, name }) => conversation(chat, { kind: 'channel', channelId, topic: name }));
}

const channelsOf = (chat: Chat): readonly Entry[] =>
  chat.sidebar.channelIds.value.map((id) => ({
    address: addressOf(chat, [{ operator: 'channel', operand: id }]),
    name: channelName(chat, id),
    detail: '',
    icon: Hash,
    channelId: id,
  }));

const peopleOf = (chat: Chat): readonly Entry[] =>
  [...new Set([...chat.people.byPresence.value, ...chat.people.ids.value])].map((id) => person(chat, id));

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
  const places = usePlaces();
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
