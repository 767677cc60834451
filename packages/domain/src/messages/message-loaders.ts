import { loadTopicMutes } from '../channels/topic-mutes.js';
import type { Snapshot } from '../events/snapshot.js';
import type { MessageId, RecipientId, UserId } from '../shared/ids.js';
import type { UnreadConversation, UnreadOverview } from './personal-messages.js';
import type { Recipient } from './recipient.js';

/** Per user (events §4.4). */
const MAX_UNREAD = 50_000;
const MAX_RECENT_CONVERSATIONS = 1000;

export interface LoadedUnread {
  /** Direct ones, and topics of channels they are subscribed to. */
  readonly conversations: readonly (UnreadConversation & { readonly isMuted: boolean })[];
  /** Unread ones that name the viewer, or a group, channel or topic that matters to them; ascending. */
  readonly mentionIds: readonly MessageId[];
  /** Of the direct ones. */
  readonly recipients: ReadonlyMap<RecipientId, Recipient>;
  /** There are more than are listed. */
  readonly oldOnesAreMissing: boolean;
}

export async function loadUnread({ caller, repositories }: Snapshot): Promise<LoadedUnread> {
  const { personal, recipients } = repositories;
  const { realmId, userId } = caller;
  const overview = await personal.overviewUnread({ realmId, userId }, MAX_UNREAD);
  const topics = await loadTopicMutes(repositories, realmId, userId);
  const conversations = overview.conversations
    .filter(({ channelId }) => channelId === null || topics.isSubscribed(channelId))
    .map((conversation) => {
      const { channelId, topic } = conversation;
      return { ...conversation, isMuted: channelId !== null && !topics.isUnmuted(channelId, topic) };
    });
  const direct = conversations.filter(({ channelId }) => channelId === null).map(({ recipientId }) => recipientId);
  return {
    conversations,
    mentionIds: mentionsIn(conversations, overview),
    recipients: await recipients.list(realmId, direct),
    oldOnesAreMissing: overview.oldOnesAreMissing,
  };
}

/** Somebody who is named is told wherever it is; wildcards of what is muted count for nothing. */
function mentionsIn(
  conversations: LoadedUnread['conversations'],
  { mentionedIds, wildcardMentionedIds }: UnreadOverview,
): readonly MessageId[] {
  const named = new Set(mentionedIds);
  const meant = new Set(wildcardMentionedIds);
  if (named.size + meant.size === 0) return [];
  return conversations
    .flatMap(({ ids, isMuted }) => ids.filter((id) => named.has(id) || (!isMuted && meant.has(id))))
    .sort((a, b) => a - b);
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
