import type { Actor } from '../access/actor.js';
import { type Channel, normalizeTopic, topicKey } from '../channels/channel.js';
import { canReadContent } from '../channels/channel-access.js';
import { DomainError } from '../kernel/errors.js';
import { users } from '../kernel/event.js';
import type { Caller, ChannelId, MessageId, UserId } from '../kernel/ids.js';
import { enforce } from '../kernel/permission.js';
import type { RealmUrls } from '../kernel/ports.js';
import { takeSnapshot } from '../kernel/register-queue.js';
import type { Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { slicesOf } from '../kernel/work.js';
import type { SearchWords } from '../markdown/markdown.js';
import { changeFlags, type FlagChangeInput, type FlagChangeOutcome, loadUnread } from './flags.js';
import { loadReadable } from './load-access.js';
import { type MessageView, participantIdsOf } from './message.js';
import { checkRange, clampRange, type PageRange, selectPage } from './message-page.js';
import { receivedMessagesIn, resolveNarrow } from './narrow.js';
import type { NarrowTerm } from './narrow-operators.js';

export interface ChangeMessageFlagsInput extends FlagChangeInput {
  readonly ids: readonly MessageId[];
}

/** Changes a flag on individual messages (messages §13.1). */
export class ChangeMessageFlags {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError UNKNOWN_FLAG, FLAG_NOT_EDITABLE, INVALID_FLAG_OPERATION, UNKNOWN_MESSAGE */
  execute(caller: Caller, { ids, ...change }: ChangeMessageFlagsInput): Promise<FlagChangeOutcome> {
    return this.uow.write(caller.realmId, async (tx) => changeFlags(tx, await tx.actors.get(caller), ids, change));
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

/** Changes a flag on a range of a narrow (messages §13.2). */
export class ChangeNarrowFlags {
  static readonly inject = ['unitOfWork', 'realmUrls', 'renderedMessages'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly realmUrls: RealmUrls,
    private readonly words: SearchWords,
  ) {}

  /** @throws DomainError UNKNOWN_FLAG, FLAG_NOT_EDITABLE, INVALID_FLAG_OPERATION, INVALID_MESSAGE_RANGE, INVALID_NARROW */
  execute(caller: Caller, { narrow, range, ...change }: ChangeNarrowFlagsInput): Promise<ChangeNarrowFlagsOutput> {
    return this.uow.write(caller.realmId, async (tx) => {
      const actor = await tx.actors.get(caller);
      checkRange(range);
      const resolved = await resolveNarrow({ reads: tx, actor, realmUrls: this.realmUrls, words: this.words }, narrow);
      const page = await selectPage(tx, actor, resolved, clampRange(range));
      const ids = page.entries.map((entry) => entry.id);
      const { changedIds, ignoredChannelIds } = await changeFlags(tx, actor, ids, change);
      return {
        processedCount: ids.length,
        updatedCount: changedIds.length,
        firstProcessedId: ids[0] ?? null,
        lastProcessedId: ids.at(-1) ?? null,
        foundOldest: page.foundOldest,
        foundNewest: page.foundNewest,
        ignoredChannelIds,
      };
    });
  }
}

export interface MarkReadInput {
  readonly scope:
    | { readonly kind: 'everything' }
    | { readonly kind: 'channel'; readonly channelId: ChannelId }
    | { readonly kind: 'topic'; readonly channelId: ChannelId; readonly topic: string };
}

/** Marks all messages, a channel or a topic as read (messages §13.3). */
export class MarkRead {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError UNKNOWN_CHANNEL, UNKNOWN_TOPIC */
  execute(caller: Caller, { scope }: MarkReadInput): Promise<void> {
    return this.uow.write(caller.realmId, async (tx) => {
      const actor = await tx.actors.get(caller);
      if (scope.kind === 'everything') {
        await tx.personal.markAllRead(caller);
        return announce(tx, actor, [], true);
      }
      const channel = await findReadable(tx, actor, scope.channelId);
      const key = scope.kind === 'topic' ? topicKey(normalizeTopic(scope.topic)) : null;
      const filter = receivedMessagesIn(channel.recipientId, key);
      const changed = await tx.personal.markRead(caller, filter);
      if (changed.length > 0) return announce(tx, actor, changed, false);
      // A topic with unread messages exists; otherwise, check for any message.
      if (scope.kind === 'topic' && (await tx.pages.listEntriesUpTo(caller, filter, null, 1)).length === 0) {
        throw new DomainError('UNKNOWN_TOPIC', `No such topic '${scope.topic}'`);
      }
    });
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
/** Views read per batch; the event loop may turn between batches. */
const VIEWS_AT_A_TIME = 200;

export interface UnreadConversationView {
  /** Newest unread message, which determines the conversation and topic. */
  readonly newest: MessageView;
  readonly firstId: MessageId;
  readonly count: number;
  /** Number of these messages with a relevant mention of the caller, a group or a wildcard. */
  readonly mentionCount: number;
  readonly isMuted: boolean;
}

export interface Unread {
  /** Unread count without muted channels and topics. */
  readonly count: number;
  /** Includes muted conversations. */
  readonly mentionCount: number;
  /** False if unread messages older than the newest 50,000 are not counted. */
  readonly isComplete: boolean;
  /** Sorted by newest unread message, most recent first. */
  readonly conversations: readonly UnreadConversationView[];
}

/**
 * Returns the caller's unread counts as clients show them (events §4.4). Ignores archived channels. The cost depends
 * on unread messages only.
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
        .map((conversation) => ({ ...conversation, newestId: conversation.ids.at(-1)! }))
        .sort((one, other) => other.newestId - one.newestId)
        .slice(0, limit);
      const views = new Map<MessageId, MessageView>();
      for (const slice of slicesOf(listed, VIEWS_AT_A_TIME)) {
        const ids = slice.map(({ newestId }) => newestId);
        for (const view of await repositories.pages.listViews(realmId, ids)) views.set(view.message.id, view);
        await repositories.yield();
      }
      return {
        count: conversations.reduce((sum, { ids, isMuted }) => sum + (isMuted ? 0 : ids.length), 0),
        mentionCount: conversations.reduce((sum, { mentionIds }) => sum + mentionIds.length, 0),
        isComplete: !oldOnesAreMissing,
        conversations: listed.map(({ newestId, ids, mentionIds, isMuted }) => ({
          newest: views.get(newestId)!,
          firstId: ids[0]!,
          count: ids.length,
          mentionCount: mentionIds.length,
          isMuted,
        })),
      };
    });
  }
}

/** Maximum number of users per query. */
const STEP = 500;

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
      const readers: UserId[] = [];
      for (let at = 0; at < candidates.length; at += STEP) {
        if (at > 0) await reads.yield();
        const some = candidates.slice(at, at + STEP).filter((id) => id !== message.senderId);
        const flags = await reads.personal.listFlagsOf(realmId, some, [messageId]);
        const read = some.filter((id) => flags.get(id)?.get(messageId)?.read === true);
        const muting = await reads.personal.filterMuting({ realmId, userId: actor.id }, read);
        for (const { id, isActive, settings } of await reads.users.list(realmId, read)) {
          if (isActive && settings.sendReadReceipts && !muting.has(id)) readers.push(id);
        }
      }
      return readers;
    });
  }
}
