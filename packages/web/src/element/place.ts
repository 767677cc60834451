import { type Chat, type Destination, narrowOf } from '@parley/chat';
import { useEffect } from 'react';
import { useComputed, useServices } from '../services/context.js';

/** Attributes of the element; null for absent ones. */
export interface Shown extends Named {
  readonly view: string | null;
}

/** Conversation that the attributes name. */
export interface Named {
  readonly channel: string | null;
  readonly topic: string | null;
  readonly direct: string | null;
}

/** Conversation that a part shows: a channel or one topic of it, or the people of a direct conversation. */
export interface Place {
  /** Name or id. */
  readonly channel?: string | number;
  readonly topic?: string;
  /** Ids of people. */
  readonly direct?: readonly number[];
}

export const namedBy = ({ channel, topic, direct }: Place): Named => ({
  channel: channel === undefined ? null : String(channel),
  topic: topic ?? null,
  direct: direct?.join() ?? null,
});

/** Colours; without a scheme it is that of the reader's system, and so is the contrast. */
export type Theme = 'light' | 'dark' | 'high-contrast' | 'light high-contrast' | 'dark high-contrast';

/** Events of the element and their `detail`. */
export interface ElementEvents {
  /** Number of unread messages: of the conversation that the attributes name, else of all. */
  readonly 'parley-unread': { readonly count: number };
  /** A message was written; it is sent now or once there is a connection. */
  readonly 'parley-sent': { readonly destination: Destination; readonly content: string };
  /** A link to a place of the chat was followed. `preventDefault()` leaves the element where it is. */
  readonly 'parley-open': { readonly address: string };
  /** The name or picture of a person was clicked. `preventDefault()` keeps the card of the chat closed. */
  readonly 'parley-person': { readonly userId: number };
}

/** Notifies the host; returns false if it prevented what follows. */
export type Tell = <N extends keyof ElementEvents>(name: N, detail: ElementEvents[N]) => boolean;

/**
 * Goes to the conversation that the host names, and tells it how many messages are unread there, at the start and
 * whenever it changes. Returns the address; null if there is no such conversation.
 */
export function useStart({ channel, topic, direct }: Named, tell: Tell): string | null {
  const { chat, navigation } = useServices();
  const start = useComputed(() => startOf(chat, { channel, topic, direct }), [chat, channel, topic, direct]);
  useEffect(() => {
    if (start !== null) navigation.start(start);
  }, [start, navigation]);
  const count = useComputed(() => unreadIn(chat, start), [chat, start]);
  useEffect(() => {
    tell('parley-unread', { count });
  }, [tell, count]);
  return start;
}

/** Address of the conversation that the attributes name; null if there is none, or the user may not see it. */
export function startOf(chat: Chat, { channel, topic, direct }: Named): string | null {
  if (direct !== null) {
    const userIds = direct.split(',').map(Number);
    if (userIds.some((id) => chat.state.people.get(id) === undefined)) return null;
    const others = userIds.filter((id) => id !== chat.state.selfId);
    const narrow = narrowOf({ kind: 'direct', userIds: others });
    return chat.formatAddress({ view: 'narrow', narrow, near: null });
  }
  if (channel === null) return '#inbox';
  const channelId = channelIdOf(chat, channel);
  if (channelId === null) return null;
  const narrow =
    topic === null
      ? [{ operator: 'channel' as const, operand: channelId }]
      : narrowOf({ kind: 'channel', channelId, topic });
  return chat.formatAddress({ view: 'narrow', narrow, near: null });
}

function channelIdOf({ state }: Chat, channel: string): number | null {
  const wanted = channel.toLowerCase();
  const found = state.channels.values().find(({ channel: { name } }) => name.toLowerCase() === wanted);
  if (found) return found.channel.stream_id;
  const id = Number(channel);
  return state.channels.get(id) === undefined ? null : id;
}

export function unreadIn(chat: Chat, start: string | null): number {
  const address = start === null ? null : chat.parseAddress(start);
  return chat.sidebar.unreadIn(address?.view === 'narrow' ? address.narrow : []).count;
}
