import type { Chat, Destination, UnreadCount } from '@parley/chat';

/** A conversation in a list. */
export interface Conversation {
  readonly key: string;
  readonly destination: Destination;
  readonly lastMessageId: number;
  readonly unread: UnreadCount;
}

export interface Inbox {
  readonly directs: readonly Conversation[];
  readonly channels: readonly { readonly channelId: number; readonly topics: readonly Conversation[] }[];
}

/** Conversations with unread messages. Muted ones are left out. */
export function inboxOf({ sidebar }: Chat): Inbox {
  const isUnread = ({ unread }: Conversation) => unread.count > 0;
  const channels = sidebar.channelIds.value
    .filter((id) => (sidebar.channel(id).value?.unread.count ?? 0) > 0)
    .map((channelId) => ({ channelId, topics: topicsOf(sidebar, channelId).filter(isUnread) }));
  return { directs: directsOf(sidebar).filter(isUnread), channels };
}

const MAX_RECENT = 200;

/** Conversations with the latest message first. */
export function recentConversations({ sidebar }: Chat): readonly Conversation[] {
  const topics = sidebar.channelIds.value.flatMap((id) => topicsOf(sidebar, id));
  return [...directsOf(sidebar), ...topics].sort((a, b) => b.lastMessageId - a.lastMessageId).slice(0, MAX_RECENT);
}

const directsOf = (sidebar: Chat['sidebar']): readonly Conversation[] =>
  sidebar.directs.value.map(({ key, userIds, lastMessageId, unread }) => ({
    key: `dm:${key}`,
    destination: { kind: 'direct', userIds },
    lastMessageId,
    unread,
  }));

const topicsOf = (sidebar: Chat['sidebar'], channelId: number): readonly Conversation[] =>
  sidebar
    .topics(channelId)
    .value.filter(({ isMuted }) => !isMuted)
    .map(({ name, lastMessageId, unread }) => ({
      key: `${channelId}:${name.toLowerCase()}`,
      destination: { kind: 'channel', channelId, topic: name },
      lastMessageId,
      unread,
    }));
