import type { Actor } from '../access/actor.js';
import type { SubscribedSpan } from '../channels/channel.js';
import { loadKnownChannels } from '../channels/channels.use-cases.js';
import { loadTopicMutes } from '../channels/topic-policies.js';
import { DomainError } from '../kernel/errors.js';
import { users } from '../kernel/event.js';
import type { ChannelId, MessageId, RealmId, RecipientId, UnixSeconds, UserId } from '../kernel/ids.js';
import { enforce } from '../kernel/permission.js';
import type { Snapshot } from '../kernel/register-queue.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import { slicesOf } from '../kernel/work.js';
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

/** How many messages are worked on before others get their turn. */
const IDS_AT_A_TIME = 2000;

export interface FlagChange {
  readonly op: 'add' | 'remove';
  readonly flag: 'read' | 'starred' | 'collapsed';
}

/** As somebody asked for it: there are flags that nobody can change, and words that mean nothing. */
export interface FlagChangeInput {
  readonly op: string;
  readonly flag: FlagChange['flag'] | { readonly name: string; readonly isFixed: boolean };
}

/** In the order of messages §13.1. @throws DomainError UNKNOWN_FLAG, FLAG_NOT_EDITABLE, INVALID_FLAG_OPERATION */
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
  /** Channels whose messages stay read because the caller does not follow them; ascending. */
  readonly ignoredChannelIds: readonly ChannelId[];
}

/**
 * Changes a flag on messages, whether or not they are the caller's own yet (messages §13.1), and tells their other clients,
 * even when nothing changed. @throws DomainError UNKNOWN_MESSAGE; then nothing is changed.
 */
export async function changeFlags(
  tx: Transaction,
  actor: Actor,
  ids: readonly MessageId[],
  wanted: FlagChangeInput,
): Promise<FlagChangeOutcome> {
  const change = parseFlagChange(wanted);
  const { op, flag } = change;
  // What was never received counts as read and bare, so only the opposite of that has to look at each message.
  const needsNoLookup = flag === 'read' ? op === 'add' : op === 'remove';
  const eligible = needsNoLookup ? null : await selectEligible(tx, actor, ids, change);
  const changedIds = await store(tx, actor, eligible ? eligible.loaded.map((one) => one.message.id) : ids, change);
  await tx.events.append(actor.realmId, {
    event: {
      type: 'message.flag_changed',
      op,
      flag,
      messageIds: changedIds,
      all: false,
      details: eligible && flag === 'read' ? await placesOf(tx, actor, eligible.loaded, changedIds) : [],
    },
    audience: users([actor.id]),
  });
  return { changedIds, ignoredChannelIds: eligible?.ignoredChannelIds ?? [] };
}

/** The messages that can be changed, which are the caller's own from now on. */
async function selectEligible(
  tx: Transaction,
  actor: Actor,
  ids: readonly MessageId[],
  { flag }: FlagChange,
): Promise<{ readonly loaded: readonly LoadedMessage[]; readonly ignoredChannelIds: readonly ChannelId[] }> {
  const wanted = [...new Set(ids)].sort(ascending);
  const loaded: LoadedMessage[] = [];
  for (const some of slicesOf(wanted, IDS_AT_A_TIME)) {
    loaded.push(...(await loadMessages(tx, actor, some)));
    await tx.yield();
  }
  if (loaded.length < wanted.length) throw new DomainError('UNKNOWN_MESSAGE', 'Invalid message(s)');
  // Of all that were named: else what is passed over would give away in which hidden channel it is.
  for (const one of loaded) if (!one.isOwn) enforce(canReadMessage(actor, one));
  const ignored = new Set<ChannelId>();
  const eligible = loaded.filter(({ message, isSubscribed }) => {
    // Only what one follows can be unread.
    if (flag !== 'read' || message.channelId === null || isSubscribed) return true;
    ignored.add(message.channelId);
    return false;
  });
  const foreign = eligible.filter((one) => !one.isOwn).map((one) => one.message.id);
  for (const some of slicesOf(foreign, IDS_AT_A_TIME)) {
    await tx.personal.addHistorical({ realmId: actor.realmId, userId: actor.id }, some);
    await tx.yield();
  }
  return { loaded: eligible, ignoredChannelIds: [...ignored].sort((a, b) => a - b) };
}

/** Answers those that changed, ascending. */
async function store(
  tx: Transaction,
  { realmId, id: userId }: Actor,
  ids: readonly MessageId[],
  { op, flag }: FlagChange,
): Promise<readonly MessageId[]> {
  const viewer = { realmId, userId };
  const on = op === 'add';
  const changed: MessageId[] = [];
  for (const some of slicesOf(ids, IDS_AT_A_TIME)) {
    changed.push(
      ...(flag === 'read'
        ? await tx.personal.setRead(viewer, some, on)
        : await tx.personal.setFlag(viewer, some, flag, on)),
    );
    await tx.yield();
  }
  return changed.sort(ascending);
}

const ascending = (a: number, b: number): number => a - b;

async function placesOf(
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
