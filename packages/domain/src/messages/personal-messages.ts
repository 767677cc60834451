import type { SubscribedSpan } from '../channels/channel-repository.js';
import type { ChannelId, MessageId, RealmId, RecipientId, UnixSeconds, UserId } from '../kernel/ids.js';
import type { PersonalFlags } from './message.js';
import type { MessageFilter, Viewer } from './message-page-reads.js';

export interface UnreadMessage {
  readonly id: MessageId;
  readonly senderId: UserId;
  readonly recipientId: RecipientId;
  readonly channelId: ChannelId | null;
  readonly topic: string;
  /** By name, or as a member of a group. */
  readonly isMentioned: boolean;
  readonly isWildcardMentioned: boolean;
}

/** What is unread of one topic or direct conversation. */
export interface UnreadConversation {
  readonly recipientId: RecipientId;
  /** Null: direct. */
  readonly channelId: ChannelId | null;
  /** As the oldest of the messages spells it; `''` for direct ones. */
  readonly topic: string;
  /** Ascending; at least one. */
  readonly ids: readonly MessageId[];
}

export interface UnreadOverview {
  /** By the oldest message of each. */
  readonly conversations: readonly UnreadConversation[];
  /** By name, or as a member of a group; ascending. */
  readonly mentionedIds: readonly MessageId[];
  /** As one of a channel or topic; ascending. */
  readonly wildcardMentionedIds: readonly MessageId[];
  /** There are more than were asked for. */
  readonly oldOnesAreMissing: boolean;
}

/** Somebody whose messages arrive read. */
export interface MutedSender {
  readonly userId: UserId;
  readonly mutedAt: UnixSeconds;
}

/**
 * Which messages are a person's own — received, mentioned in, starred — and what they are to them. None of these costs
 * more for a long history or for a large channel.
 */
export interface PersonalMessageReads {
  /** Only of messages that are the viewer's own; others are absent. */
  listFlags(viewer: Viewer, ids: readonly MessageId[]): Promise<ReadonlyMap<MessageId, PersonalFlags>>;
  /** The newest `limit` unread ones, ascending id, whatever the channel; with `filter`, those of it only. */
  listUnread(viewer: Viewer, limit: number, filter?: MessageFilter): Promise<readonly UnreadMessage[]>;
  /** The newest `limit` unread ones by conversation, whatever the channel; at least one is asked for. */
  overviewUnread(viewer: Viewer, limit: number): Promise<UnreadOverview>;
  /** The oldest unread one of the filter; null when there is none. */
  findFirstUnread(viewer: Viewer, filter: MessageFilter): Promise<MessageId | null>;
  /** Ascending id. */
  listStarred(viewer: Viewer): Promise<readonly MessageId[]>;
  /** The newest message that is the viewer's own; null when there is none. */
  newestId(viewer: Viewer): Promise<MessageId | null>;
  /** Channels they do not follow now although messages of theirs are their own; ascending. */
  listUnsubscribedChannelIdsWithMessages(viewer: Viewer): Promise<readonly ChannelId[]>;
  /**
   * Which of these users have each message as their own; ascending, and an entry for each message. Of a removed message: who
   * had it, for as long as the event that tells of its removal is not pruned. A constant number of statements.
   */
  filterHolders(
    realmId: RealmId,
    ids: readonly MessageId[],
    userIds: readonly UserId[],
  ): Promise<ReadonlyMap<MessageId, readonly UserId[]>>;
  /** What `listFlags` says of each of these users, each of whom has an entry. A constant number of statements. */
  listFlagsOf(
    realmId: RealmId,
    userIds: readonly UserId[],
    ids: readonly MessageId[],
  ): Promise<ReadonlyMap<UserId, ReadonlyMap<MessageId, PersonalFlags>>>;
  /** Whom the viewer mutes, in the order of their muting, then of their ids. */
  listMutedSenders(viewer: Viewer): Promise<readonly MutedSender[]>;
  /** Those of the users who mute the viewer, or whom the viewer mutes. */
  filterMuting(viewer: Viewer, userIds: readonly UserId[]): Promise<ReadonlySet<UserId>>;
  /**
   * At most `limit` of those who have any of the messages as their own without a span of the recipient that is open, ascending;
   * at least those who have flagged one, are named in one, or took one from history.
   */
  listOutsideHolders(
    realmId: RealmId,
    recipientId: RecipientId,
    ids: readonly MessageId[],
    limit: number,
  ): Promise<readonly UserId[]>;
  /** When they followed which channel, in seqs; for judging events that are replayed. */
  listSubscribedSpans(viewer: Viewer): Promise<readonly SubscribedSpan[]>;
}

/** Every implementation passes personal-messages.contract.ts, and agrees with every other one on random histories. */
export interface PersonalMessages extends PersonalMessageReads {
  /** From the next message on these users receive what is sent to the recipient. Idempotent. */
  openSpans(realmId: RealmId, recipientId: RecipientId, userIds: readonly UserId[]): Promise<void>;
  /** They keep what they have received, and receive no more. Idempotent. */
  closeSpans(realmId: RealmId, recipientId: RecipientId, userIds: readonly UserId[]): Promise<void>;
  /** Makes messages the viewer's own that are not, read and historical. Those that are stay as they are. */
  addHistorical(viewer: Viewer, ids: readonly MessageId[]): Promise<void>;
  /** Of their own messages only. Returns the ids that changed, ascending. */
  setRead(viewer: Viewer, ids: readonly MessageId[], read: boolean): Promise<readonly MessageId[]>;
  /** Everything unread of the filter. Returns the ids that changed, ascending. */
  markRead(viewer: Viewer, filter: MessageFilter): Promise<readonly MessageId[]>;
  /** Everything there is. */
  markAllRead(viewer: Viewer): Promise<void>;
  /** Of their own messages only. Returns the ids that changed, ascending. */
  setFlag(
    viewer: Viewer,
    ids: readonly MessageId[],
    flag: 'starred' | 'collapsed',
    on: boolean,
  ): Promise<readonly MessageId[]>;
  /** What this person sends from now on arrives read. Idempotent. Leaves what was received before as it is. */
  muteSender(viewer: Viewer, senderId: UserId, at: UnixSeconds): Promise<void>;
  /** Idempotent. What arrived read stays so. */
  unmuteSender(viewer: Viewer, senderId: UserId): Promise<void>;
}

declare module '../kernel/unit-of-work.js' {
  interface RepositoryMap {
    personal: [reads: PersonalMessageReads, repository: PersonalMessages];
  }
}
