import { type Chat, narrowOf } from '@parley/chat';
import { useEffect } from 'react';
import { useComputed, useServices } from '../services/context.js';
import type { ElementEvents } from './types.js';

/** Attributes of the element; null for absent ones. */
export interface Shown extends Named {
  readonly view: string | null;
}

/** Conversation selected by the attributes. */
export interface Named {
  readonly channel: string | null;
  readonly topic: string | null;
  readonly direct: string | null;
}

/** Conversation shown by a part: a channel or a topic of it, or the people of a direct conversation. */
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

/** Notifies the host; returns false if it prevented the default action. */
export type Tell = <N extends keyof ElementEvents>(name: N, detail: ElementEvents[N]) => boolean;

/**
 * Navigates to the conversation selected by the host and reports its unread count, initially and on each change.
 * Returns the address; null if there is no such conversation.
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

/** Address of the conversation selected by the attributes; null if it does not exist or is hidden from the user. */
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

/** `channel`: name or id. */
export function channelIdOf({ state }: Chat, channel: string): number | null {
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
