import { derived, isSameDeep, type Reading } from '../kernel/reactive.js';
import type { ConversationRow, Inbox } from '../kernel/view-models.js';
import type { Sidebar } from './sidebar.js';

const MAX_RECENT = 200;

/** Conversations by what is unread and by what happened last. Muted ones are left out. */
export class Conversations {
  /** Conversations with unread messages. */
  readonly inbox: Reading<Inbox>;
  /** Conversations with the latest message first. */
  readonly recent: Reading<readonly ConversationRow[]>;

  constructor(private readonly sidebar: Sidebar) {
    this.inbox = derived(() => this.inboxNow(), isSameDeep);
    this.recent = derived(() => this.recentNow(), isSameDeep);
  }

  private inboxNow(): Inbox {
    const isUnread = ({ unread }: ConversationRow) => unread.count > 0;
    const groups = this.sidebar.inboxGroups.value
      .map(({ key, name, channelIds }) => ({
        key,
        name,
        channels: channelIds
          .filter((id) => (this.sidebar.channel(id).value?.unread.count ?? 0) > 0)
          .map((channelId) => ({ channelId, topics: this.topicsOf(channelId).filter(isUnread) })),
      }))
      .filter(({ channels }) => channels.length > 0);
    return { directs: this.directs().filter(isUnread), groups };
  }

  private recentNow(): readonly ConversationRow[] {
    const topics = this.sidebar.channelIds.value.flatMap((id) => this.topicsOf(id));
    return [...this.directs(), ...topics].sort((a, b) => b.lastMessageId - a.lastMessageId).slice(0, MAX_RECENT);
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
