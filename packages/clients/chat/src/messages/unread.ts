import type { MessageEvent, UpdateMessageFlagsEvent } from '@parley/client';
import { covers, type Destination, destinationKey, type Narrow } from '../kernel/narrow.js';
import { isSameDeep } from '../kernel/reactive.js';
import { ascending, type ChatState, policyOf, type StatePart, type UnreadState } from '../kernel/state.js';

const WILDCARDS = ['stream_wildcard_mentioned', 'topic_wildcard_mentioned'];

/** Unread messages, starred messages and direct conversations. */
export const UNREAD_PART: StatePart = {
  begin(state, answer) {
    const { unread } = state;
    const { pms = [], streams = [], huddles = [], mentions = [], old_unreads_missing } = answer.unread_msgs ?? {};
    for (const set of [unread.destinations, unread.byDestination, unread.mentioned, unread.wildcards]) set.clear();
    const { user_id: selfId } = answer;
    const rows: (readonly [Destination, readonly number[]])[] = [
      ...pms.map((row) => [directWith([row.other_user_id], selfId), row.unread_message_ids] as const),
      ...huddles.map(
        (row) => [directWith(row.user_ids_string.split(',').map(Number), selfId), row.unread_message_ids] as const,
      ),
      ...streams.map((row) => [inTopic(row.stream_id, row.topic), row.unread_message_ids] as const),
    ];
    for (const id of mentions) unread.mentioned.add(id);
    for (const [destination, ids] of rows) for (const id of ids) put(unread, id, destination);
    unread.isTruncated = old_unreads_missing === true;
    unread.tallies.reset([...unread.byDestination].map(([key, ids]) => [key, tallyOf(unread, ids)]));
    const topics = new Map<number, Set<string>>();
    for (const key of unread.byDestination.keys()) {
      const channelId = channelOf(key);
      if (channelId !== null) entry(topics, channelId, () => new Set<string>()).add(key);
    }
    unread.topicKeys.reset(topics);
    state.starred.reset((answer.starred_messages ?? []).map((id) => [id, true]));
    state.recentDirects.reset(
      (answer.recent_private_conversations ?? []).map(({ user_ids, max_message_id }) => [
        user_ids.join(','),
        { userIds: user_ids, maxMessageId: max_message_id },
      ]),
    );
  },
  present: (state) => ({
    unread_msgs: presentUnread(state),
    starred_messages: [...state.starred.all().keys()].sort(ascending),
    recent_private_conversations: [...state.recentDirects.all().values()]
      .map(({ userIds, maxMessageId }) => ({ user_ids: [...userIds], max_message_id: maxMessageId }))
      .sort((a, b) => b.max_message_id - a.max_message_id),
  }),
};

export const inTopic = (channelId: number, topic: string): Destination => ({ kind: 'channel', channelId, topic });

/** Direct conversation of these people and the user. */
export const directWith = (ids: readonly number[], selfId: number | undefined) => ({
  kind: 'direct' as const,
  userIds: ids.filter((id) => id !== selfId).sort(ascending),
});

function put(unread: UnreadState, id: number, destination: Destination): string {
  const key = destinationKey(destination);
  const first = spelledIn(unread, key);
  // Messages of a conversation share one object, since 100,000 of them may be unread.
  unread.destinations.set(id, first && isSameDeep(first, destination) ? first : destination);
  entry(unread.byDestination, key, () => new Set<number>()).add(id);
  return key;
}

/** Destination of a conversation with unread messages. The first message determines the spelling of the topic. */
export function spelledIn({ byDestination, destinations }: UnreadState, key: string): Destination | undefined {
  const [first] = byDestination.get(key) ?? [];
  return destinations.get(first!);
}

function take(unread: UnreadState, id: number): string | null {
  const destination = unread.destinations.get(id);
  if (!destination) return null;
  unread.destinations.delete(id);
  const key = destinationKey(destination);
  const ids = unread.byDestination.get(key)!;
  ids.delete(id);
  if (ids.size === 0) unread.byDestination.delete(key);
  return key;
}

/** Looks up mentions in the unread messages, not vice versa, since a conversation may have 100,000 of these. */
function tallyOf({ mentioned, wildcards }: UnreadState, ids: ReadonlySet<number>) {
  let newest = 0;
  for (const id of ids) if (id > newest) newest = id;
  const mentions = new Set([...mentioned, ...wildcards].filter((id) => ids.has(id))).size;
  return { count: ids.size, mentions, newest };
}

/** Returns the channel of a `destinationKey`; null for direct conversations. */
const channelOf = (key: string): number | null =>
  key.startsWith('channel:') ? Number.parseInt(key.slice('channel:'.length), 10) : null;

function index({ topicKeys }: UnreadState, key: string, isUnread: boolean): void {
  const channelId = channelOf(key);
  if (channelId === null) return;
  const keys = topicKeys.peek(channelId) ?? new Set();
  if (keys.has(key) === isUnread) return;
  topicKeys.set(channelId, new Set(isUnread ? [...keys, key] : [...keys].filter((each) => each !== key)));
}

function publish(unread: UnreadState, keys: Iterable<string | null>): void {
  for (const key of new Set(keys)) {
    if (key === null) continue;
    const ids = unread.byDestination.get(key);
    index(unread, key, ids !== undefined);
    if (ids) unread.tallies.set(key, tallyOf(unread, ids));
    else unread.tallies.delete(key);
  }
}

export function addUnread({ unread }: ChatState, id: number, destination: Destination, flags: readonly string[]): void {
  const isKnown = unread.destinations.has(id);
  mark(unread, id, flags);
  const key = put(unread, id, destination);
  const before = unread.tallies.peek(key);
  if (isKnown || !before) {
    publish(unread, [key]);
    return;
  }
  // Incremental, since recounting a conversation for each new message takes seconds after a long break.
  const isMention = unread.mentioned.has(id) || unread.wildcards.has(id);
  unread.tallies.set(key, {
    count: before.count + 1,
    mentions: before.mentions + (isMention ? 1 : 0),
    newest: Math.max(before.newest, id),
  });
}

function mark({ mentioned, wildcards }: UnreadState, id: number, flags: readonly string[]): void {
  if (flags.includes('mentioned')) mentioned.add(id);
  if (flags.some((flag) => WILDCARDS.includes(flag))) wildcards.add(id);
}

/** `ids` null marks all messages. */
export function markRead({ unread }: ChatState, ids: readonly number[] | null): void {
  publish(
    unread,
    (ids ?? [...unread.destinations.keys()]).map((id) => take(unread, id)),
  );
}

type Details = NonNullable<Extract<UpdateMessageFlagsEvent, { op: 'remove' }>['message_details']>[string];

export function markUnread(state: ChatState, id: number, details: Details): void {
  const destination: Destination =
    details.type === 'private' ? directWith(details.user_ids, state.selfId) : inTopic(details.stream_id, details.topic);
  if (details.mentioned) state.unread.mentioned.add(id);
  const before = take(state.unread, id);
  publish(state.unread, [before, put(state.unread, id, destination)]);
}

/** Removes deleted messages. */
export function forgetUnread(state: ChatState, ids: readonly number[]): void {
  const keys = ids.map((id) => take(state.unread, id));
  for (const id of ids) for (const set of [state.unread.mentioned, state.unread.wildcards]) set.delete(id);
  publish(state.unread, keys);
}

/** Moves messages to another channel or topic; null keeps the topic. */
export function moveUnread(
  { unread }: ChatState,
  ids: readonly number[],
  channelId: number,
  topic: string | null,
): void {
  const keys: (string | null)[] = [];
  for (const id of ids) {
    const destination = unread.destinations.get(id);
    if (destination?.kind !== 'channel') continue;
    keys.push(take(unread, id), put(unread, id, inTopic(channelId, topic ?? destination.topic)));
  }
  publish(unread, keys);
}

/** Replaces mentions with those of the current content. */
export function changeMentions({ unread }: ChatState, id: number, flags: readonly string[]): void {
  for (const set of [unread.mentioned, unread.wildcards]) set.delete(id);
  mark(unread, id, flags);
  const destination = unread.destinations.get(id);
  if (destination) publish(unread, [destinationKey(destination)]);
}

/** First unread message of the conversations that a narrow covers, or among known messages of other narrows. */
export function oldestUnread(state: ChatState, narrow: Narrow, known: readonly number[] = []): number | null {
  const { byDestination, destinations } = state.unread;
  const isHere = ([first]: Iterable<number>) => {
    const to = destinations.get(first!)!;
    return covers(narrow, to) && (narrow.length > 0 || !isMuted(state, to));
  };
  const here = [...byDestination.values()].filter(isHere).flatMap((ids) => [...ids]);
  return [...here, ...known.filter((id) => destinations.has(id))].sort(ascending)[0] ?? null;
}

export function destinationOfMessage(state: ChatState, message: MessageEvent['message']): Destination {
  if (message.stream_id !== undefined) return inTopic(message.stream_id, message.subject);
  const people = message.display_recipient as Exclude<typeof message.display_recipient, string>;
  return directWith(
    people.map(({ id }) => id),
    state.selfId,
  );
}

export function isMutedTopic(state: ChatState, channelId: number, topic: string): boolean {
  const policy = policyOf(state, channelId, topic);
  if (!state.channels.get(channelId)?.own?.is_muted) return policy === 'muted';
  return policy !== 'unmuted' && policy !== 'followed';
}

export const isMuted = (state: ChatState, to: Destination): boolean =>
  to.kind === 'channel' && isMutedTopic(state, to.channelId, to.topic);

/** Presents unread messages in the register format (events §4.4). */
function presentUnread(state: ChatState) {
  const { unread, selfId } = state;
  const pms = new Map<number, number[]>();
  const huddles = new Map<string, number[]>();
  const streams = new Map<string, { stream_id: number; topic: string; unread_message_ids: number[] }>();
  const mentions: number[] = [];
  let count = 0;
  for (const [id, destination] of [...unread.destinations].sort(([a], [b]) => a - b)) {
    if (destination.kind === 'channel' && !state.hasOwnMessages(destination.channelId)) continue;
    const isQuiet = isMuted(state, destination);
    if (!isQuiet) count++;
    if (unread.mentioned.has(id) || (unread.wildcards.has(id) && !isQuiet)) mentions.push(id);
    if (destination.kind === 'channel') {
      const row = entry(streams, destinationKey(destination), () => ({
        stream_id: destination.channelId,
        topic: destination.topic,
        unread_message_ids: [],
      }));
      row.unread_message_ids.push(id);
    } else if (destination.userIds.length < 2) {
      entry(pms, destination.userIds[0] ?? selfId, () => []).push(id);
    } else {
      entry(huddles, [...destination.userIds, selfId].sort(ascending).join(','), () => []).push(id);
    }
  }
  return {
    count,
    pms: [...pms]
      .sort(([a], [b]) => a - b)
      .map(([other, ids]) => ({ other_user_id: other, sender_id: other, unread_message_ids: ids })),
    streams: [...streams.values()].sort((a, b) => a.stream_id - b.stream_id || compare(a.topic, b.topic)),
    huddles: [...huddles]
      .sort(([a], [b]) => compare(a, b))
      .map(([user_ids_string, ids]) => ({ user_ids_string, unread_message_ids: ids })),
    mentions,
    old_unreads_missing: unread.isTruncated,
  };
}

function entry<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const value = map.get(key) ?? make();
  map.set(key, value);
  return value;
}

/** Compares different texts. */
const compare = (a: string, b: string): number => (a < b ? -1 : 1);
