import type { Actor } from '../access/actor.js';
import type { SubscribedSpan } from '../channels/channel.js';
import { loadHeldChannelIds, loadVisibleChannels } from '../channels/channels.use-cases.js';
import { loadTopicMutes } from '../channels/topic-policies.js';
import { DomainError } from '../kernel/errors.js';
import { users } from '../kernel/event.js';
import type { ChannelId, MessageId, RealmId, RecipientId, UnixSeconds, UserId } from '../kernel/ids.js';
import { enforce } from '../kernel/permission.js';
import type { Snapshot } from '../kernel/register-queue.js';
import type { Repositories, Transaction } from '../kernel/unit-of-work.js';
import { type LoadedMessage, loadMessages } from './load-access.js';
import type { PersonalFlags, Recipient } from './message.js';
import type { MessageFilter, Viewer } from './message-condition.js';
import type { MessageLocation } from './message-events.js';
import { canReadMessage } from './message-permissions.js';

export interface UnreadMessage {
  readonly id: MessageId;
  readonly senderId: UserId;
  readonly recipientId: RecipientId;
  readonly channelId: ChannelId | null;
  readonly topic: string;
  /** True if mentioned by name or through a group. */
  readonly isMentioned: boolean;
  readonly isWildcardMentioned: boolean;
}

/** Unread messages of one topic or direct conversation. */
export interface UnreadConversation {
  readonly recipientId: RecipientId;
  /** Null for direct messages. */
  readonly channelId: ChannelId | null;
  /** Topic in the spelling of the oldest message; `''` for direct messages. */
  readonly topic: string;
  /** Ascending and not empty. */
  readonly ids: readonly MessageId[];
}

export interface UnreadOverview {
  /** Messages that mention the user by name or through a group; ascending. */
  readonly conversations: readonly UnreadConversation[];
  /** Messages that mention the user by name or through a group; ascending. */
  readonly mentionedIds: readonly MessageId[];
  /** Messages with a channel or topic wildcard mention; ascending. */
  readonly wildcardMentionedIds: readonly MessageId[];
  /** True if older messages were omitted because of the limit. */
  readonly oldOnesAreMissing: boolean;
}

/** Muted user; new messages from this user arrive as read. */
export interface MutedSender {
  readonly userId: UserId;
  readonly mutedAt: UnixSeconds;
}

/**
 * Reads a user's own messages (received, mentioned in or starred) and their per-user state. The cost is independent of
 * history length and channel size.
 */
export interface PersonalMessageReads {
  /** Returns flags of the viewer's own messages; other messages are absent. */
  listFlags(viewer: Viewer, ids: readonly MessageId[]): Promise<ReadonlyMap<MessageId, PersonalFlags>>;
  /** Returns the newest `limit` unread messages of any channel, by ascending id; `filter` narrows them. */
  listUnread(viewer: Viewer, limit: number, filter?: MessageFilter): Promise<readonly UnreadMessage[]>;
  /** Returns the newest `limit` unread messages grouped by conversation. `limit` is at least 1. */
  overviewUnread(viewer: Viewer, limit: number): Promise<UnreadOverview>;
  /** Returns the oldest unread matching message, or null. */
  findFirstUnread(viewer: Viewer, filter: MessageFilter): Promise<MessageId | null>;
  /** Ascending id. */
  listStarred(viewer: Viewer): Promise<readonly MessageId[]>;
  /** Returns the newest of the viewer's own messages, or null. */
  newestId(viewer: Viewer): Promise<MessageId | null>;
  /** Returns channels in which the viewer has messages but no subscription; ascending. */
  listUnsubscribedChannelIdsWithMessages(viewer: Viewer): Promise<readonly ChannelId[]>;
  /**
   * Returns which of the given users have each message, ascending, with an entry per message. Users who had a deleted
   * message are known until its deletion event is pruned. Runs a constant number of statements.
   */
  filterHolders(
    realmId: RealmId,
    ids: readonly MessageId[],
    userIds: readonly UserId[],
  ): Promise<ReadonlyMap<MessageId, readonly UserId[]>>;
  /** Returns the result of `listFlags` for each user, with an entry per user. Runs a constant number of statements. */
  listFlagsOf(
    realmId: RealmId,
    userIds: readonly UserId[],
    ids: readonly MessageId[],
  ): Promise<ReadonlyMap<UserId, ReadonlyMap<MessageId, PersonalFlags>>>;
  /** Returns the users muted by the viewer, sorted by time of muting, then by id. */
  listMutedSenders(viewer: Viewer): Promise<readonly MutedSender[]>;
  /** Returns the given users who mute the viewer or are muted by the viewer. */
  filterMuting(viewer: Viewer, userIds: readonly UserId[]): Promise<ReadonlySet<UserId>>;
  /** Returns at most `limit` users, ascending, who have any of the messages but no open span of the recipient. */
  listOutsideHolders(
    realmId: RealmId,
    recipientId: RecipientId,
    ids: readonly MessageId[],
    limit: number,
  ): Promise<readonly UserId[]>;
  /**
   * Returns the viewer's subscription periods in all or some channels as event seqs, for checking replayed events. Periods
   * that ended before the start of the log may be missing.
   */
  listSubscribedSpans(viewer: Viewer, channelIds?: readonly ChannelId[]): Promise<readonly SubscribedSpan[]>;
}

/** At most `limit` conversations after a recipient; null starts at the beginning. */
export interface ConversationBatch {
  readonly after: RecipientId | null;
  readonly limit: number;
}

/**
 * Writes per-user message state. Every implementation passes personal-messages.contract.ts, and all return equal
 * results on random histories.
 */
export interface PersonalMessages extends PersonalMessageReads {
  /** Delivers all later messages of these recipients to these users. Idempotent. */
  openSpans(realmId: RealmId, recipientIds: readonly RecipientId[], userIds: readonly UserId[]): Promise<void>;
  /** Stops delivery of all these recipients to these users, who keep what they received. Idempotent. */
  closeSpans(realmId: RealmId, recipientIds: readonly RecipientId[], userIds: readonly UserId[]): Promise<void>;
  /**
   * Makes additional messages the viewer's own, as read and historical. Messages that are already the viewer's own are
   * unchanged.
   */
  addHistorical(viewer: Viewer, ids: readonly MessageId[]): Promise<void>;
  /** Changes only the viewer's own messages. Returns the changed ids, ascending. */
  setRead(viewer: Viewer, ids: readonly MessageId[], read: boolean): Promise<readonly MessageId[]>;
  /**
   * Marks unread matching messages as read, with `limit` about as many, and all if there are fewer. Returns the changed
   * ids, ascending.
   */
  markRead(viewer: Viewer, filter: MessageFilter, limit?: number): Promise<readonly MessageId[]>;
  /**
   * Marks all messages as read or, with `batch`, those received in its conversations, by ascending recipient. Returns
   * the recipient after which the next batch starts; null after the last batch.
   */
  markAllRead(viewer: Viewer, batch?: ConversationBatch): Promise<RecipientId | null>;
  /** Changes only the viewer's own messages. Returns the changed ids, ascending. */
  setFlag(
    viewer: Viewer,
    ids: readonly MessageId[],
    flag: 'starred' | 'collapsed',
    on: boolean,
  ): Promise<readonly MessageId[]>;
  /** Lets later messages from the sender arrive as read. Existing messages are unchanged. Idempotent. */
  muteSender(viewer: Viewer, senderId: UserId, at: UnixSeconds): Promise<void>;
  /** Unmutes the sender. Messages that arrived as read stay read. Idempotent. */
  unmuteSender(viewer: Viewer, senderId: UserId): Promise<void>;
}

declare module '../kernel/feature-types.js' {
  interface RepositoryMap {
    personal: [reads: PersonalMessageReads, repository: PersonalMessages];
  }
}

export interface FlagChange {
  readonly op: 'add' | 'remove';
  readonly flag: 'read' | 'starred' | 'collapsed';
}

/** Unvalidated flag change; flag and operation may be unknown or not editable. */
export interface FlagChangeInput {
  readonly op: string;
  readonly flag: FlagChange['flag'] | { readonly name: string; readonly isFixed: boolean };
}

/**
 * Parses a flag change, in the validation order of messages §13.1. @throws DomainError UNKNOWN_FLAG, FLAG_NOT_EDITABLE,
 * INVALID_FLAG_OPERATION
 */
export function parseFlagChange({ op, flag }: FlagChangeInput): FlagChange {
  if (typeof flag !== 'string') {
    throw flag.isFixed
      ? new DomainError('FLAG_NOT_EDITABLE', `Flag not editable: '${flag.name}'`)
      : new DomainError('UNKNOWN_FLAG', `Invalid flag: '${flag.name}'`);
  }
  if (op !== 'add' && op !== 'remove')
    throw new DomainError('INVALID_FLAG_OPERATION', `Invalid message flag operation: '${op}'`);
  return { op, flag };
}

export interface FlagChangeOutcome {
  /** Ascending. */
  readonly changedIds: readonly MessageId[];
  /** Channels with messages that stay read because the caller is not subscribed, by ascending id. */
  readonly ignoredChannelIds: readonly ChannelId[];
}

/**
 * Changes a flag on messages, which may first become the caller's own (messages §13.1). Notifies the caller's other
 * clients, even without changes. @throws DomainError UNKNOWN_MESSAGE without changing anything
 */
export async function changeFlags(
  tx: Transaction,
  actor: Actor,
  ids: readonly MessageId[],
  wanted: FlagChangeInput,
): Promise<FlagChangeOutcome> {
  const change = parseFlagChange(wanted);
  const { op, flag } = change;
  const eligible = needsNoLookup(change) ? null : await selectEligible(tx, actor, ids, change);
  const changedIds = await store(tx, actor, eligible ? eligible.loaded.map((one) => one.message.id) : ids, change);
  await tx.events.append(actor.realmId, {
    event: {
      type: 'message.flag_changed',
      op,
      flag,
      messageIds: changedIds,
      all: false,
      details: eligible && flag === 'read' ? await locationsOf(tx, actor, eligible.loaded, changedIds) : [],
    },
    audience: users([actor.id]),
  });
  return { changedIds, ignoredChannelIds: eligible?.ignoredChannelIds ?? [] };
}

/**
 * True if the change has no effect on messages that were never received, since these count as read and unflagged. Only
 * the opposite change needs a look-up of each message.
 */
const needsNoLookup = ({ op, flag }: FlagChange): boolean => (flag === 'read' ? op === 'add' : op === 'remove');

/** Parses and checks a change without applying it. @throws DomainError like `changeFlags` */
export async function checkFlagChange(
  reads: Repositories | Transaction,
  actor: Actor,
  ids: readonly MessageId[],
  wanted: FlagChangeInput,
): Promise<FlagChange> {
  const change = parseFlagChange(wanted);
  if (!needsNoLookup(change)) await loadChangeable(reads, actor, ids);
  return change;
}

/** Returns the messages that `changeFlags` accepts: existing ones that the actor can still read. */
export async function listChangeable(
  tx: Transaction,
  actor: Actor,
  ids: readonly MessageId[],
  change: FlagChange,
): Promise<readonly MessageId[]> {
  if (needsNoLookup(change)) return ids;
  const loaded = await loadMessages(tx, actor, ids);
  return loaded.filter((one) => one.isOwn || canReadMessage(actor, one).allowed).map(({ message }) => message.id);
}

async function loadChangeable(
  reads: Repositories | Transaction,
  actor: Actor,
  ids: readonly MessageId[],
): Promise<readonly LoadedMessage[]> {
  const wanted = [...new Set(ids)].sort(ascending);
  const loaded = await loadMessages(reads, actor, wanted);
  if (loaded.length < wanted.length) throw new DomainError('UNKNOWN_MESSAGE', 'Invalid message(s)');
  // Checks access to all requested messages. Otherwise, skipped messages would reveal which hidden channel they are in.
  for (const one of loaded) if (!one.isOwn) enforce(canReadMessage(actor, one));
  return loaded;
}

/** Returns the changeable messages, after making them the caller's own. */
async function selectEligible(
  tx: Transaction,
  actor: Actor,
  ids: readonly MessageId[],
  { flag }: FlagChange,
): Promise<{ readonly loaded: readonly LoadedMessage[]; readonly ignoredChannelIds: readonly ChannelId[] }> {
  const loaded = await loadChangeable(tx, actor, ids);
  const ignored = new Set<ChannelId>();
  const eligible = loaded.filter(({ message, isSubscribed }) => {
    // Only messages in subscribed channels can be unread.
    if (flag !== 'read' || message.channelId === null || isSubscribed) return true;
    ignored.add(message.channelId);
    return false;
  });
  const foreign = eligible.filter((one) => !one.isOwn).map((one) => one.message.id);
  if (foreign.length > 0) await tx.personal.addHistorical({ realmId: actor.realmId, userId: actor.id }, foreign);
  return { loaded: eligible, ignoredChannelIds: [...ignored].sort((a, b) => a - b) };
}

/** Returns the changed ids, ascending. */
async function store(
  tx: Transaction,
  { realmId, id: userId }: Actor,
  ids: readonly MessageId[],
  { op, flag }: FlagChange,
): Promise<readonly MessageId[]> {
  const viewer = { realmId, userId };
  const on = op === 'add';
  return flag === 'read' ? tx.personal.setRead(viewer, ids, on) : tx.personal.setFlag(viewer, ids, flag, on);
}

const ascending = (a: number, b: number): number => a - b;

async function locationsOf(
  tx: Transaction,
  actor: Actor,
  loaded: readonly LoadedMessage[],
  changedIds: readonly MessageId[],
): Promise<readonly (readonly [MessageId, MessageLocation])[]> {
  const changed = new Set(changedIds);
  const messages = loaded.filter((one) => changed.has(one.message.id));
  const recipients = await tx.recipients.list(actor.realmId, [
    ...new Set(messages.map((one) => one.message.recipientId)),
  ]);
  const topics = await loadTopicMutes(tx, actor.realmId, actor.id);
  return messages.map(({ message, flags }) => {
    const isMentioned = (flags?.mentioned || flags?.channelWildcardMentioned || flags?.topicWildcardMentioned) ?? false;
    if (message.channelId !== null) {
      const isUnmuted = topics.isUnmuted(message.channelId, message.topic);
      return [
        message.id,
        { kind: 'channel', channelId: message.channelId, topic: message.topic, isUnmuted, isMentioned },
      ];
    }
    const recipient = recipients.get(message.recipientId);
    const userIds = recipient?.kind === 'direct' ? recipient.userIds.filter((id) => id !== actor.id) : [];
    return [message.id, { kind: 'direct', userIds, isMentioned }];
  });
}

/** Limits per user (events §4.4). */
const MAX_UNREAD = 50_000;
/** The same for clients with a partial state (extensions §18). */
const MAX_UNREAD_OF_PARTIAL_STATE = 1000;
const MAX_RECENT_CONVERSATIONS = 1000;

export interface LoadedUnreadConversation extends UnreadConversation {
  readonly isMuted: boolean;
  /** True for an archived channel, which some clients do not know. */
  readonly isArchived: boolean;
  /** Messages with a relevant mention of the viewer, a group or a wildcard; ascending. */
  readonly mentionIds: readonly MessageId[];
}

export interface LoadedUnread {
  /** Direct conversations and topics of subscribed channels. */
  readonly conversations: readonly LoadedUnreadConversation[];
  /** Recipients of the direct conversations. */
  readonly recipients: ReadonlyMap<RecipientId, Recipient>;
  /** True if the list is truncated. */
  readonly oldOnesAreMissing: boolean;
}

/** Unread messages in a partial state, which select some of its channels. */
export const loadNewestUnread = ({ caller, repositories }: Snapshot): Promise<UnreadOverview> =>
  repositories.personal.overviewUnread(caller, MAX_UNREAD_OF_PARTIAL_STATE);

export async function loadUnread(snapshot: Snapshot): Promise<LoadedUnread> {
  const { caller, repositories } = snapshot;
  const { personal, recipients } = repositories;
  const { realmId, userId } = caller;
  const held = await snapshot.load(loadHeldChannelIds);
  const overview = held
    ? await snapshot.load(loadNewestUnread)
    : await personal.overviewUnread({ realmId, userId }, MAX_UNREAD);
  const unreadIds = held && [
    ...new Set(overview.conversations.flatMap(({ channelId }) => (channelId === null ? [] : [channelId]))),
  ];
  const topics = await loadTopicMutes(repositories, realmId, userId, unreadIds);
  const visible = unreadIds
    ? await repositories.channels.list(realmId, unreadIds)
    : await snapshot.load(loadVisibleChannels);
  const archived = new Set(visible.filter(({ isArchived }) => isArchived).map(({ id }) => id));
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
        // Personal mentions always count, but wildcard mentions only in unmuted conversations.
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

/** Returns the newest of the viewer's own messages, or null. */
export const loadNewestMessageId = ({ caller, repositories }: Snapshot): Promise<MessageId | null> =>
  repositories.personal.newestId({ realmId: caller.realmId, userId: caller.userId });

export interface RecentConversation {
  /** Other participants, ascending. */
  readonly userIds: readonly UserId[];
  readonly lastMessageId: number;
}

/** Returns direct conversations, most recent first. */
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
