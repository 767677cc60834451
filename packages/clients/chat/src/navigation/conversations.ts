import { destinationKey } from '../kernel/narrow.js';
import { derived, isSameDeep, type Reading } from '../kernel/reactive.js';
import type { ChatState } from '../kernel/state.js';
import type { ConversationRow, Inbox, RecentRow } from '../kernel/view-models.js';
import type { Sidebar } from './sidebar.js';

const MAX_RECENT = 200;

/** Conversations by unread messages and by latest message, without muted ones. */
export class Conversations {
  /** Conversations with unread messages. */
  readonly inbox: Reading<Inbox>;
  /** Conversations, latest message first. */
  readonly recent: Reading<readonly RecentRow[]>;

  constructor(
    private readonly sidebar: Sidebar,
    private readonly state: ChatState,
  ) {
    this.inbox = derived(() => this.inboxNow(), isSameDeep);
    this.recent = derived(() => this.recentNow(), isSameDeep);
  }

  private inboxNow(): Inbox {
    const isUnread = ({ unread }: ConversationRow) => unread.count > 0;
    // Read messages, such as own ones, are only known in channels that were opened.
    const newestUnread = ({ destination }: ConversationRow) =>
      this.state.unread.tallies.get(destinationKey(destination))?.newest ?? 0;
    const unreadIn = (channelId: number) =>
      this.topicsOf(channelId)
        .filter(isUnread)
        .map((row) => ({ ...row, lastMessageId: newestUnread(row) }))
        .sort((a, b) => b.lastMessageId - a.lastMessageId);
    const groups = this.sidebar.inboxGroups.value
      .map(({ key, name, channelIds }) => ({
        key,
        name,
        channels: channelIds
          .filter((id) => (this.sidebar.channel(id).value?.unread.count ?? 0) > 0)
          .map((channelId) => ({ channelId, topics: unreadIn(channelId) })),
      }))
      .filter(({ channels }) => channels.length > 0);
    return { directs: this.directs().filter(isUnread), groups };
  }

  private recentNow(): readonly RecentRow[] {
    const { messages } = this.state;
    const topics = this.sidebar.channelIds.value.flatMap((id) => this.topicsOf(id));
    const rows = [...this.directs(), ...topics].sort((a, b) => b.lastMessageId - a.lastMessageId);
    // Send times never change, so only fetched and removed messages are observed.
    messages.keys();
    return rows
      .slice(0, MAX_RECENT)
      .map((row) => ({ ...row, lastMessageAt: messages.peek(row.lastMessageId)?.timestamp ?? null }));
  }

  private directs(): readonly ConversationRow[] {
    return this.sidebar.directs.value.map(({ key, userIds, lastMessageId, unread }) => ({
      key: `dm:${key}`,
      destination: { kind: 'direct', userIds },
      lastMessageId,
      unread,
    }));
  }

  private topicsOf(channelId: number): readonly ConversationRow[] {
    return this.sidebar
      .topics(channelId)
      .value.filter(({ isMuted }) => !isMuted)
      .map(({ name, lastMessageId, unread }) => ({
        key: `${channelId}:${name.toLowerCase()}`,
        destination: { kind: 'channel', channelId, topic: name },
        lastMessageId,
        unread,
      }));
  }
}
