import type { Wire } from './expectations.js';

type Destination =
  | { readonly kind: 'channel'; readonly streamId: number; readonly topic: string }
  /** Other participants, ascending. */
  | { readonly kind: 'direct'; readonly userIds: readonly number[] };

/** State that determines how unread messages are presented. */
export interface UnreadContext {
  readonly userId: number;
  readonly subscriptions: readonly Wire[];
  readonly user_topics: readonly Wire[];
}

const WILDCARDS = ['stream_wildcard_mentioned', 'topic_wildcard_mentioned'];
const VISIBILITY = { muted: 1, unmuted: 2, followed: 3 };

/** Unread messages of a client by id; `present` formats them as in events §4.4. */
export class WireUnread {
  private readonly destinations = new Map<number, Destination>();
  private readonly named = new Set<number>();
  private readonly wildcards = new Set<number>();

  constructor(private readonly first: Wire) {
    const { pms, streams, huddles, mentions } = first;
    for (const { other_user_id, unread_message_ids: ids } of pms) this.add(ids, direct([other_user_id]));
    for (const { user_ids_string, unread_message_ids: ids } of huddles) {
      this.add(ids, direct(user_ids_string.split(',').map(Number)));
    }
    for (const { stream_id: streamId, topic, unread_message_ids: ids } of streams) {
      this.add(ids, { kind: 'channel', streamId, topic });
    }
    for (const id of mentions) this.named.add(id);
  }

  receive(message: Wire, flags: readonly string[]): void {
    const { id, stream_id: streamId, subject: topic } = message;
    const isDirect = message.type === 'private';
    const people = isDirect ? message.display_recipient.map((person: Wire) => person.id) : [];
    this.destinations.set(id, isDirect ? direct(people) : { kind: 'channel', streamId, topic });
    if (flags.includes('mentioned')) this.named.add(id);
    if (flags.some((flag) => WILDCARDS.includes(flag))) this.wildcards.add(id);
  }

  /** Null for all. */
  markRead(ids: readonly number[] | null): void {
    for (const id of ids ?? [...this.destinations.keys()]) this.destinations.delete(id);
  }

  /** Moves messages to another channel or topic; null keeps the topic. */
  move(ids: readonly number[], streamId: number, topic: string | null): void {
    for (const id of ids) {
      const destination = this.destinations.get(id);
      if (destination?.kind === 'channel')
        this.destinations.set(id, { ...destination, streamId, topic: topic ?? destination.topic });
    }
  }

  /** Updates mentions to those in the message's current content. */
  name(id: number, flags: readonly string[]): void {
    for (const known of [this.named, this.wildcards]) known.delete(id);
    if (flags.includes('mentioned')) this.named.add(id);
    if (flags.some((flag) => WILDCARDS.includes(flag))) this.wildcards.add(id);
  }

  /** Removes deleted messages. */
  remove(ids: readonly number[]): void {
    for (const id of ids) for (const known of [this.destinations, this.named, this.wildcards]) known.delete(id);
  }

  /** Uses the details of `update_message_flags/remove`. */
  markUnread(id: number, details: Wire): void {
    this.destinations.set(
      id,
      details.type === 'private'
        ? direct(details.user_ids)
        : { kind: 'channel', streamId: details.stream_id, topic: details.topic },
    );
    if (details.mentioned) this.named.add(id);
  }

  present({ userId, ...context }: UnreadContext) {
    const pms = new Map<number, number[]>();
    const huddles = new Map<string, number[]>();
    const streams = new Map<string, { stream_id: number; topic: string; unread_message_ids: number[] }>();
    const mentions: number[] = [];
    let count = 0;
    for (const [id, destination] of [...this.destinations].sort(([a], [b]) => a - b)) {
      if (destination.kind === 'channel' && !isSubscribed(destination.streamId, context)) continue;
      const isMuted = destination.kind === 'channel' && isMutedTopic(destination, context);
      if (!isMuted) count++;
      if (this.named.has(id) || (this.wildcards.has(id) && !isMuted)) mentions.push(id);
      if (destination.kind === 'channel') {
        const { streamId: stream_id, topic } = destination;
        // Topics ignore case; the oldest spelling is used.
        const row = entry(streams, `${stream_id}:${topic.toLowerCase()}`, () => ({
          stream_id,
          topic,
          unread_message_ids: [],
        }));
        row.unread_message_ids.push(id);
        continue;
      }
      const others = destination.userIds.filter((other) => other !== userId);
      if (others.length < 2) entry(pms, others[0] ?? userId, () => []).push(id);
      else entry(huddles, [...others, userId].sort((a, b) => a - b).join(','), () => []).push(id);
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
      old_unreads_missing: this.first.old_unreads_missing,
    };
  }

  private add(ids: readonly number[], destination: Destination): void {
    for (const id of ids) this.destinations.set(id, destination);
  }
}

type Muting = Omit<UnreadContext, 'userId'>;

const direct = (userIds: readonly number[]): Destination => ({ kind: 'direct', userIds });

const isSubscribed = (id: number, { subscriptions }: Muting): boolean =>
  subscriptions.some(({ stream_id }) => stream_id === id);

function isMutedTopic({ streamId, topic }: { streamId: number; topic: string }, context: Muting): boolean {
  const { subscriptions, user_topics } = context;
  const channel = subscriptions.find(({ stream_id }) => stream_id === streamId);
  const policy = user_topics.find(
    ({ stream_id, topic_name }) => stream_id === streamId && topic_name.toLowerCase() === topic.toLowerCase(),
  )?.visibility_policy;
  if (!channel.is_muted) return policy === VISIBILITY.muted;
  return policy !== VISIBILITY.unmuted && policy !== VISIBILITY.followed;
}

function entry<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const value = map.get(key) ?? make();
  map.set(key, value);
  return value;
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
