import { loadKnownChannels } from '../channels/channel-loaders.js';
import { loadTopicMutes } from '../channels/topic-mutes.js';
import type { MessageId, RecipientId, UserId } from '../kernel/ids.js';
import type { Snapshot } from '../kernel/snapshot.js';
import type { UnreadConversation } from './personal-messages.js';
import type { Recipient } from './recipient.js';

/** Per user (events §4.4). */
const MAX_UNREAD = 50_000;
const MAX_RECENT_CONVERSATIONS = 1000;

export interface LoadedUnreadConversation extends UnreadConversation {
  readonly isMuted: boolean;
  /** Of an archived channel, which not every client knows of. */
  readonly isArchived: boolean;
  /** Those that name the viewer, or a group, channel or topic that matters to them; ascending. */
  readonly mentionIds: readonly MessageId[];
}

export interface LoadedUnread {
  /** Direct ones, and topics of channels they are subscribed to. */
  readonly conversations: readonly LoadedUnreadConversation[];
  /** Of the direct ones. */
  readonly recipients: ReadonlyMap<RecipientId, Recipient>;
  /** There are more than are listed. */
  readonly oldOnesAreMissing: boolean;
}

export async function loadUnread(snapshot: Snapshot): Promise<LoadedUnread> {
  const { caller, repositories } = snapshot;
  const { personal, recipients } = repositories;
  const { realmId, userId } = caller;
  const overview = await personal.overviewUnread({ realmId, userId }, MAX_UNREAD);
  const topics = await loadTopicMutes(repositories, realmId, userId);
  const archived = new Set(
    (await snapshot.load(loadKnownChannels)).filter(({ isArchived }) => isArchived).map(({ id }) => id),
  );
  const named = new Set(overview.mentionedIds);
  const meant = new Set(overview.wildcardMentionedIds);
  const conversations = overview.conversations
    .filter(({ channelId }) => channelId === null || topics.isSubscribed(channelId))
    .map((conversation) => {
      const { channelId, topic, ids } = conversation;
      const isMuted = channelId !== null && !topics.isUnmuted(channelId, topic);
      return {
        ...conversation,
        isMuted,
        isArchived: channelId !== null && archived.has(channelId),
        // Somebody who is named counts it wherever it is; wildcards of what is muted count for nothing.
        mentionIds: ids.filter((id) => named.has(id) || (!isMuted && meant.has(id))),
      };
    });
  const direct = conversations.filter(({ channelId }) => channelId === null).map(({ recipientId }) => recipientId);
  return {
    conversations,
    recipients: await recipients.list(realmId, direct),
    oldOnesAreMissing: overview.oldOnesAreMissing,
  };
}

/** Ascending. */
export const loadStarredIds = ({ caller, repositories }: Snapshot): Promise<readonly MessageId[]> =>
  repositories.personal.listStarred({ realmId: caller.realmId, userId: caller.userId });

/** Of those that are the viewer's own; null: none is. */
export const loadNewestMessageId = ({ caller, repositories }: Snapshot): Promise<MessageId | null> =>
  repositories.personal.newestId({ realmId: caller.realmId, userId: caller.userId });

export interface RecentConversation {
  /** Ascending, without the viewer. */
  readonly userIds: readonly UserId[];
  readonly lastMessageId: number;
}

/** Direct ones; the one with the newest message first. */
export async function loadRecentConversations({
  caller,
  repositories: { recipients },
}: Snapshot): Promise<readonly RecentConversation[]> {
  const { realmId, userId } = caller;
  const recent = await recipients.listRecentDirect(realmId, userId, MAX_RECENT_CONVERSATIONS);
  const found = await recipients.list(
    realmId,
    recent.map(({ recipientId }) => recipientId),
  );
  return recent.flatMap(({ recipientId, lastMessageId }) => {
    const recipient = found.get(recipientId);
    if (recipient?.kind !== 'direct') return [];
    return [{ userIds: recipient.userIds.filter((id) => id !== userId), lastMessageId }];
  });
}
