import type { Chat, ConversationView, MessageRow, Narrow, Reading } from '@parley/chat';
import { useEffect, useState } from 'react';
import { channelIdOf, namedBy, type Place, startOf } from '../element/place.js';
import { useComputed, useServices } from '../services/context.js';
import { type HostData, useObjectData } from '../services/host-data.js';
import { useReading as useValue } from '../services/use-reading.js';

/** State and commands of the chat, as provided by `parley/chat`. */
export const useChat = (): Chat => useServices().chat;

/** Value of a chat reading; re-renders on every change. */
export const useReading = <T>(reading: Reading<T>): T => useValue(reading);

/** Unread count of a place, or of all conversations if no place is given. */
export function useUnread(place: Place = {}): number {
  const chat = useChat();
  const { channel, topic, direct } = namedBy(place);
  return useComputed(
    () => chat.sidebar.unreadIn(narrowOfPlace(chat, { channel, topic, direct }) ?? []).count,
    [chat, channel, topic, direct],
  );
}

/** Messages of a place; null if there is no such conversation or while it opens. */
export function useConversation(place: Place): ConversationView | null {
  const chat = useChat();
  const { channel, topic, direct } = namedBy(place);
  const [view, setView] = useState<ConversationView | null>(null);
  useEffect(() => {
    const narrow = narrowOfPlace(chat, { channel, topic, direct });
    if (narrow === null) return;
    const opened = chat.open(narrow);
    setView(opened);
    return () => {
      opened.close();
      setView(null);
    };
  }, [chat, channel, topic, direct]);
  return view;
}

/** A message by its key in `ConversationView.keys`. */
export const useMessage = (key: string): MessageRow | null => useValue(useChat().message(key));

/** Object with data of the application. */
export type DataOwner = { readonly channel: string | number } | { readonly user: number };

/** Data of the application for a channel or user, with its changes; `{}` if there is none, null until it is loaded. */
export function useData(owner: DataOwner): HostData | null {
  const chat = useChat();
  const named = 'user' in owner ? owner.user : owner.channel;
  const id = useComputed(() => (typeof named === 'number' ? named : channelIdOf(chat, named)), [chat, named]);
  return useObjectData('user' in owner ? 'user' : 'channel', id);
}

function narrowOfPlace(chat: Chat, place: ReturnType<typeof namedBy>): Narrow | null {
  const start = startOf(chat, place);
  const address = start === null ? null : chat.parseAddress(start);
  return address?.view === 'narrow' ? address.narrow : null;
}
