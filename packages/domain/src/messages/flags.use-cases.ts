import type { Actor } from '../access/actor.js';
import { type Channel, normalizeTopic, topicKey } from '../channels/channel.js';
import { canReadContent } from '../channels/channel-access.js';
import { DomainError } from '../kernel/errors.js';
import { users } from '../kernel/event.js';
import type { Caller, ChannelId, MessageId, RecipientId, UserId } from '../kernel/ids.js';
import { type JobPartOutcome, jobPartKind, RequestParts } from '../kernel/job-parts.js';
import type { Job, JobWork, StoredJob } from '../kernel/jobs.js';
import { enforce } from '../kernel/permission.js';
import type { Clock, RealmUrls } from '../kernel/ports.js';
import { takeSnapshot } from '../kernel/register-queue.js';
import type { Repositories, Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { firstOf, getOrThrow, lastOf, slicesOf } from '../kernel/work.js';
import type { SearchWords } from '../markdown/markdown.js';
import {
  changeFlags,
  checkFlagChange,
  type FlagChange,
  type FlagChangeInput,
  type FlagChangeOutcome,
  listChangeable,
  loadUnread,
} from './flags.js';
import { loadReadable } from './load-access.js';
import { type MessageView, participantIdsOf } from './message.js';
import { checkRange, clampRange, type MessagePage, type PageRange, selectPage } from './message-page.js';
import { receivedMessagesIn, resolveNarrow } from './narrow.js';
import type { NarrowTerm } from './narrow-operators.js';

export interface ChangeMessageFlagsInput extends FlagChangeInput {
  readonly ids: readonly MessageId[];
}

/** Maximum number of messages with flags changed in one unit of work. */
export const MAX_FLAGS_AT_ONCE = 1000;

/** Part of a request that changes the flags of many messages. */
interface FlagPart {
  readonly caller: Caller;
  readonly ids: readonly MessageId[];
  readonly change: FlagChange;
}

/** Performs the parts of requests that change the flags of many messages (contract decision 10). */
export class ChangeFlagParts extends RequestParts<FlagPart, FlagChangeOutcome> {
  static readonly inject = ['unitOfWork', 'clock'] as const;
  readonly kind = jobPartKind<FlagPart>('messages.change_flags');

  /** Changes the selected messages, of which there are at most `maxCount`, in as many units of work as needed. */
  async change(
    caller: Caller,
    wanted: FlagChangeInput,
    maxCount: number,
    select: (reads: Repositories | Transaction, actor: Actor) => Promise<readonly MessageId[]>,
  ): Promise<FlagChangeOutcome> {
    const plan = async (reads: Repositories | Transaction) => {
      const actor = await reads.actors.get(caller);
      const ids = await select(reads, actor);
      const change = await checkFlagChange(reads, actor, ids, wanted);
      // A change of no message is published as well.
      const parts = ids.length === 0 ? [ids] : [...slicesOf(ids, MAX_FLAGS_AT_ONCE)];
      return parts.map((some) => ({ caller, ids: some, change }));
    };
    const shared = { kind: 'flags', userId: caller.userId } as const;
    const outcomes = await this.perform(caller.realmId, maxCount <= MAX_FLAGS_AT_ONCE, plan, { shared });
    const ignored = new Set(outcomes.flatMap(({ ignoredChannelIds }) => ignoredChannelIds));
    return {
      changedIds: outcomes.flatMap(({ changedIds }) => changedIds).sort((a, b) => a - b),
      ignoredChannelIds: [...ignored].sort((a, b) => a - b),
    };
  }

  async prepare({ payload }: Job<FlagPart>): Promise<JobWork<JobPartOutcome<FlagChangeOutcome>>> {
    return async (tx) => ({ result: await changePart(tx, payload) });
  }
}

/** Skips messages deleted since the request was checked. */
async function changePart(tx: Transaction, { caller, ids, change }: FlagPart): Promise<FlagChangeOutcome> {
  const actor = await tx.actors.getAuthor(caller);
  return changeFlags(tx, actor, await listChangeable(tx, actor, ids, change), change);
}

/** Changes a flag on individual messages (messages §13.1). */
export class ChangeMessageFlags {
  static readonly inject = ['unitOfWork', 'clock'] as const;
  private readonly parts: ChangeFlagParts;

  constructor(uow: UnitOfWork, clock: Clock) {
    this.parts = new ChangeFlagParts(uow, clock);
  }

  /**
   * Splits large requests into several units of work (contract decision 10).
   * @throws DomainError UNKNOWN_FLAG, FLAG_NOT_EDITABLE, INVALID_FLAG_OPERATION, UNKNOWN_MESSAGE
   */
  execute(caller: Caller, { ids, ...wanted }: ChangeMessageFlagsInput): Promise<FlagChangeOutcome> {
    return this.parts.change(caller, wanted, ids.length, async () => ids);
  }
}

export interface ChangeNarrowFlagsInput extends FlagChangeInput {
  readonly narrow: readonly NarrowTerm[];
  readonly range: PageRange;
}

export interface ChangeNarrowFlagsOutput {
  readonly processedCount: number;
  readonly updatedCount: number;
  readonly firstProcessedId: MessageId | null;
  readonly lastProcessedId: MessageId | null;
  readonly foundOldest: boolean;
  readonly foundNewest: boolean;
  readonly ignoredChannelIds: readonly ChannelId[];
}

/** Changes a flag on a range of messages in a narrow (messages §13.2). */
export class ChangeNarrowFlags {
  static readonly inject = ['unitOfWork', 'realmUrls', 'renderedMessages', 'clock'] as const;
  private readonly parts: ChangeFlagParts;

  constructor(
    uow: UnitOfWork,
    private readonly realmUrls: RealmUrls,
    private readonly words: SearchWords,
    clock: Clock,
  ) {
    this.parts = new ChangeFlagParts(uow, clock);
  }

  /** @throws DomainError UNKNOWN_FLAG, FLAG_NOT_EDITABLE, INVALID_FLAG_OPERATION, INVALID_MESSAGE_RANGE, INVALID_NARROW */
  async execute(
    caller: Caller,
    { narrow, range, ...wanted }: ChangeNarrowFlagsInput,
  ): Promise<ChangeNarrowFlagsOutput> {
    let page: MessagePage | undefined;
    const select = async (reads: Repositories | Transaction, actor: Actor) => {
      checkRange(range);
      const resolved = await resolveNarrow({ reads, actor, realmUrls: this.realmUrls, words: this.words }, narrow);
      page = await selectPage(reads, actor, resolved, clampRange(range));
      return page.entries.map(({ id }) => id);
    };
    const maxCount = range.before + range.after + 1;
    const { changedIds, ignoredChannelIds } = await this.parts.change(caller, wanted, maxCount, select);
    const { entries, foundOldest, foundNewest } = page!;
    return {
      processedCount: entries.length,
      updatedCount: changedIds.length,
      firstProcessedId: entries[0]?.id ?? null,
      lastProcessedId: entries.at(-1)?.id ?? null,
      foundOldest,
      foundNewest,
      ignoredChannelIds,
    };
  }
}

export interface MarkReadInput {
  readonly scope:
    | { readonly kind: 'everything' }
    | { readonly kind: 'channel'; readonly channelId: ChannelId }
    | { readonly kind: 'topic'; readonly channelId: ChannelId; readonly topic: string };
}

/** Maximum number of conversations, and of newly arrived messages, that one unit of work marks as read. */
export const MAX_CONVERSATIONS_AT_ONCE = 500;

/** Approximate number of messages of a channel or topic that one unit of work marks as read. */
export const MAX_READ_AT_ONCE = 10_000;

/** One batch of "mark all as read": the conversations after a recipient, or messages of a channel or topic. */
type ReadPart =
  | { readonly caller: Caller; readonly after: RecipientId | null }
  | { readonly caller: Caller; readonly recipientId: RecipientId; readonly topicKey: string | null };

/** Performs the batches of "mark all as read" (contract decision 10). */
export class MarkAllReadParts extends RequestParts<ReadPart> {
  static readonly inject = ['unitOfWork', 'clock'] as const;
  readonly kind = jobPartKind<ReadPart>('messages.mark_all_read');

  async markAll(caller: Caller): Promise<void> {
    const jobs = await this.uow.write(caller.realmId, async (tx) => {
      const actor = await tx.actors.get(caller);
      return this.mark(tx, actor, { caller, after: null }, null);
    });
    await this.run(jobs);
  }

  async prepare(job: Job<ReadPart>): Promise<JobWork<JobPartOutcome<void>>> {
    return async (tx) => {
      const actor = await tx.actors.getAuthor(job.payload.caller);
      return { result: undefined, next: await this.mark(tx, actor, job.payload, job) };
    };
  }

  /** Marks some messages of a channel or topic. Returns null if none is unread, else the jobs of the next part. */
  async markWithin(
    tx: Transaction,
    actor: Actor,
    part: Extract<ReadPart, { recipientId: RecipientId }>,
    previous: Job<ReadPart> | null = null,
  ): Promise<readonly StoredJob[] | null> {
    const { caller, recipientId, topicKey } = part;
    const changed = await tx.personal.markRead(caller, receivedMessagesIn(recipientId, topicKey), MAX_READ_AT_ONCE);
    if (changed.length === 0) return null;
    await announce(tx, actor, changed, false);
    return changed.length < MAX_READ_AT_ONCE ? [] : this.schedule(tx, caller.realmId, [part], previous);
  }

  /**
   * Returns the job of the next part. The last part leaves no unread messages and is the only one that publishes an
   * event.
   */
  private async mark(
    tx: Transaction,
    actor: Actor,
    part: ReadPart,
    previous: Job<ReadPart> | null,
  ): Promise<readonly StoredJob[]> {
    if ('recipientId' in part) return (await this.markWithin(tx, actor, part, previous)) ?? [];
    const { caller, after } = part;
    const limit = MAX_CONVERSATIONS_AT_ONCE;
    const next = await tx.personal.markAllRead(caller, { after, limit });
    // New messages may have arrived in conversations of earlier parts.
    const isLast = next === null && (after === null || (await this.markArrived(tx, caller)) < limit);
    if (!isLast) {
      const payload = { caller, after: next ?? after };
      return this.schedule(tx, caller.realmId, [payload], previous);
    }
    await announce(tx, actor, [], true);
    return [];
  }

  private async markArrived(tx: Transaction, caller: Caller): Promise<number> {
    const unread = await tx.personal.listUnread(caller, MAX_CONVERSATIONS_AT_ONCE);
    const ids = unread.map(({ id }) => id);
    return (await tx.personal.setRead(caller, ids, true)).length;
  }
}

/** Marks all messages, a channel or a topic as read (messages §13.3). */
export class MarkRead {
  static readonly inject = ['unitOfWork', 'clock'] as const;
  private readonly parts: MarkAllReadParts;

  constructor(
    private readonly uow: UnitOfWork,
    clock: Clock,
  ) {
    this.parts = new MarkAllReadParts(uow, clock);
  }

  /** @throws DomainError UNKNOWN_CHANNEL, UNKNOWN_TOPIC */
  async execute(caller: Caller, { scope }: MarkReadInput): Promise<void> {
    if (scope.kind === 'everything') return this.parts.markAll(caller);
    const jobs = await this.uow.write(caller.realmId, async (tx) => {
      const actor = await tx.actors.get(caller);
      const channel = await findReadable(tx, actor, scope.channelId);
      const key = scope.kind === 'topic' ? topicKey(normalizeTopic(scope.topic)) : null;
      const { recipientId } = channel;
      const next = await this.parts.markWithin(tx, actor, { caller, recipientId, topicKey: key });
      if (next !== null) return next;
      const filter = receivedMessagesIn(recipientId, key);
      // A topic with unread messages exists; otherwise, look for any message.
      if (scope.kind === 'topic' && (await tx.pages.listEntriesUpTo(caller, filter, null, 1)).length === 0) {
        throw new DomainError('UNKNOWN_TOPIC', `No such topic '${scope.topic}'`);
      }
      return [];
    });
    await this.parts.run(jobs);
  }
}

async function findReadable(tx: Transaction, actor: Actor, id: ChannelId): Promise<Channel> {
  const channel = await tx.channels.find(actor.realmId, id);
  if (!channel) throw new DomainError('UNKNOWN_CHANNEL', 'Invalid channel ID');
  enforce(canReadContent(actor, channel, await tx.channels.isSubscribed(actor.realmId, id, actor.id)));
  return channel;
}

async function announce(tx: Transaction, actor: Actor, messageIds: readonly MessageId[], all: boolean): Promise<void> {
  await tx.events.append(actor.realmId, {
    event: { type: 'message.flag_changed', op: 'add', flag: 'read', messageIds, all, details: [] },
    audience: users([actor.id]),
  });
}

/** Maximum number of conversations per response. */
export const MAX_UNREAD_CONVERSATIONS = 1000;

export interface UnreadConversationView {
  /** Newest unread message, which determines the conversation and topic. */
  readonly newest: MessageView;
  readonly firstId: MessageId;
  readonly count: number;
  /** Number of these messages with a mention of the caller, a group or a wildcard that counts. */
  readonly mentionCount: number;
  readonly isMuted: boolean;
}

export interface Unread {
  /** Number of unread messages outside muted channels and topics. */
  readonly count: number;
  /** Number of mentions, including those in muted conversations. */
  readonly mentionCount: number;
  /** False if there are unread messages older than the newest 50,000, which are not counted. */
  readonly isComplete: boolean;
  /** Sorted by newest unread message, most recent first. */
  readonly conversations: readonly UnreadConversationView[];
}

/**
 * Returns the caller's unread counts as shown by clients (events §4.4). Ignores archived channels. The cost depends
 * only on unread messages.
 */
export class GetUnread {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** `limit`: maximum number of listed conversations, up to 1000. @throws DomainError INVALID_MESSAGE_RANGE */
  execute(caller: Caller, { limit }: { readonly limit: number }): Promise<Unread> {
    if (!Number.isInteger(limit) || limit < 0 || limit > MAX_UNREAD_CONVERSATIONS) {
      throw new DomainError(
        'INVALID_MESSAGE_RANGE',
        `The number of conversations is a whole number, at most ${MAX_UNREAD_CONVERSATIONS}.`,
      );
    }
    return this.uow.read(caller.realmId, async (repositories) => {
      const { realmId } = await repositories.actors.get(caller);
      const { conversations: all, oldOnesAreMissing } = await loadUnread(takeSnapshot(repositories, caller));
      const conversations = all.filter(({ isArchived }) => !isArchived);
      const listed = conversations
        .map((conversation) => ({ ...conversation, newestId: lastOf(conversation.ids) }))
        .sort((one, other) => other.newestId - one.newestId)
        .slice(0, limit);
      const found = await repositories.pages.listViews(
        realmId,
        listed.map(({ newestId }) => newestId),
      );
      const views = new Map(found.map((view) => [view.message.id, view]));
      return {
        count: conversations.reduce((sum, { ids, isMuted }) => sum + (isMuted ? 0 : ids.length), 0),
        mentionCount: conversations.reduce((sum, { mentionIds }) => sum + mentionIds.length, 0),
        isComplete: !oldOnesAreMissing,
        conversations: listed.map(({ newestId, ids, mentionIds, isMuted }) => ({
          newest: getOrThrow(views, newestId),
          firstId: firstOf(ids),
          count: ids.length,
          mentionCount: mentionIds.length,
          isMuted,
        })),
      };
    });
  }
}

/** Lists the users who have read a message (messages §14). */
export class ListReaders {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** Sorted by ascending id. @throws DomainError UNKNOWN_MESSAGE, READ_RECEIPTS_DISABLED */
  execute(caller: Caller, { messageId }: { readonly messageId: MessageId }): Promise<readonly UserId[]> {
    return this.uow.read(caller.realmId, async (reads) => {
      const actor = await reads.actors.get(caller);
      const { realmId } = actor;
      const { message } = await loadReadable(reads, actor, messageId);
      if (!(await reads.realms.get(realmId)).settings.enableReadReceipts) {
        throw new DomainError('READ_RECEIPTS_DISABLED', 'Read receipts are disabled in this organization.');
      }
      const candidates =
        (await participantIdsOf(reads, message)) ??
        (await reads.users.listEntries(realmId)).filter(({ isActive }) => isActive).map(({ id }) => id);
      const others = candidates.filter((id) => id !== message.senderId);
      const flags = await reads.personal.listFlagsOf(realmId, others, [messageId]);
      const read = others.filter((id) => flags.get(id)?.get(messageId)?.read === true);
      const muting = await reads.personal.filterMuting({ realmId, userId: actor.id }, read);
      return (await reads.users.list(realmId, read))
        .filter(({ id, isActive, settings }) => isActive && settings.sendReadReceipts && !muting.has(id))
        .map(({ id }) => id);
    });
  }
}
