import { type Channel, normalizeTopic, topicKey } from '../channels/channel.js';
import { hasFullHistoryAccess } from '../channels/channel-access.js';
import { publishProperty } from '../channels/channel-events.js';
import { changeTopicPolicy } from '../channels/topic-policies.js';
import { DomainError } from '../kernel/errors.js';
import type { Caller, ChannelId, MessageId, RealmId, RecipientId, UnixSeconds } from '../kernel/ids.js';
import { enforce } from '../kernel/permission.js';
import type { Clock } from '../kernel/ports.js';
import type { Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { lastOf } from '../kernel/work.js';
import { loadReadable } from '../messages/load-access.js';
import { canDeleteMessage, canDeleteTopic } from '../messages/message-permissions.js';
import { receivedMessagesIn } from '../messages/narrow.js';
import type { Realm } from '../realms/realm.js';
import { type ArchiveSelection, deleteMessages, MAX_DELETED_AT_ONCE, type PurgedCopies } from './deletion.js';

/** Deletes a single message (messages §11). */
export class DeleteMessage {
  static readonly inject = ['unitOfWork', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError UNKNOWN_MESSAGE, CANNOT_DELETE_MESSAGE, DELETE_TIME_LIMIT_EXCEEDED */
  execute(caller: Caller, { messageId }: { readonly messageId: MessageId }): Promise<void> {
    return this.uow.write(caller.realmId, async (tx) => {
      const { realmId } = caller;
      const actor = await tx.actors.get(caller);
      const { message, channel } = await loadReadable(tx, actor, messageId, { modifying: true });
      const realm = await tx.realms.get(realmId);
      const sender = await tx.users.find(realmId, message.senderId);
      const deletedAt = this.clock.now();
      const senderOwnerId = sender?.bot?.ownerId ?? null;
      enforce(canDeleteMessage(actor, realm, { message, senderOwnerId, channel }, deletedAt));
      await deleteMessages(tx, { realmId, deletedBy: actor.id, deletedAt, channel, messages: [message] });
    });
  }
}

export interface DeleteTopicInput {
  readonly channelId: ChannelId;
  /** Topic as typed. */
  readonly topic: string;
}

/** Time budget per request; the client then sends another request. */
const BUDGET_MS = 50_000;
/** Maximum number of topic policies removed per unit of work. */
const POLICIES_AT_ONCE = 100;

/**
 * Deletes a topic, newest messages first, in several units of work so that other writes can interleave (channels §5.6).
 */
export class DeleteTopic {
  static readonly inject = ['unitOfWork', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
  ) {}

  /**
   * Returns true if no message visible to the caller is left, false if the time budget ran out.
   * @throws DomainError MUST_BE_ADMINISTRATOR, UNKNOWN_CHANNEL
   */
  async execute(caller: Caller, { channelId, topic }: DeleteTopicInput): Promise<boolean> {
    const key = topicKey(normalizeTopic(topic));
    const deadline = this.clock.nowMs() + BUDGET_MS;
    let count: number;
    do {
      if (this.clock.nowMs() >= deadline) return false;
      count = await this.uow.write(caller.realmId, (tx) => this.deleteNewest(tx, caller, channelId, key), {
        yields: true,
      });
    } while (count === MAX_DELETED_AT_ONCE);
    let after: number | null = 0;
    while (after !== null) {
      const from: number = after;
      after = await this.uow.write(caller.realmId, (tx) => this.forgetPolicies(tx, caller, channelId, key, from), {
        yields: true,
      });
    }
    return true;
  }

  /** Returns the number of deleted messages. */
  private async deleteNewest(tx: Transaction, caller: Caller, channelId: ChannelId, key: string): Promise<number> {
    const { realmId } = caller;
    const actor = await tx.actors.get(caller);
    const channel = await tx.channels.find(realmId, channelId);
    const isSubscribed = await tx.channels.isSubscribed(realmId, channelId, actor.id);
    enforce(canDeleteTopic(actor, channel, isSubscribed));
    const scope = hasFullHistoryAccess(actor, channel!, isSubscribed) ? 'shared' : 'own';
    const filter = { ...receivedMessagesIn(channel!.recipientId, key), scope } as const;
    const entries = await tx.pages.listEntriesUpTo(caller, filter, null, MAX_DELETED_AT_ONCE);
    if (entries.length === 0) return 0;
    const ids = entries.map(({ id }) => id);
    await deleteMessages(tx, {
      realmId,
      deletedBy: actor.id,
      deletedAt: this.clock.now(),
      channel,
      messages: await tx.messages.list(realmId, ids),
    });
    return ids.length;
  }

  /**
   * Removes the policies of users without remaining messages in the topic. Returns the user id to continue after, or
   * null when finished.
   */
  private async forgetPolicies(
    tx: Transaction,
    { realmId }: Caller,
    channelId: ChannelId,
    key: string,
    after: number,
  ): Promise<number | null> {
    const channel = await tx.channels.find(realmId, channelId);
    if (!channel) throw new DomainError('UNKNOWN_CHANNEL', 'Invalid channel ID');
    const policies = await tx.topicPolicies.listOfTopic(realmId, channelId, key, after, POLICIES_AT_ONCE);
    const isEmpty = !(await tx.topics.hasMessages(realmId, channel.recipientId, key));
    for (const policy of policies) {
      if (!isEmpty && (await this.hasMessages(tx, channel, key, policy.userId))) continue;
      await changeTopicPolicy(tx, { ...policy, visibility: 'inherit', changedAt: this.clock.now() });
    }
    return policies.length < POLICIES_AT_ONCE ? null : lastOf(policies).userId;
  }

  private async hasMessages(tx: Transaction, channel: Channel, key: string, userId: Caller['userId']) {
    const viewer = { realmId: channel.realmId, userId };
    return (await tx.topics.listNewestOwnInTopics(viewer, channel.recipientId, [key])).has(key);
  }
}

const DAY_SECONDS = 86_400;
const CONVERSATIONS_AT_ONCE = 1000;

/** Returns the retention period in days; null if unlimited. `channel` is null for direct messages. */
export function retentionDays(
  realm: Pick<Realm, 'settings'>,
  channel: Pick<Channel, 'messageRetentionDays'> | null,
): number | null {
  const own = channel?.messageRetentionDays ?? null;
  return own === null ? realm.settings.messageRetentionDays : own === 'forever' ? null : own;
}

/** Deletes expired messages according to channel and realm settings, in small units of work (messages §18.3). */
export class ExpireMessages {
  static readonly inject = ['unitOfWork', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
  ) {}

  /** Returns the number of expired messages. */
  async execute(): Promise<number> {
    let count = 0;
    const realms = await this.uow.readAcross((r) => r.realms.list());
    for (const realm of realms) if (!realm.isDeactivated) count += await this.expireIn(realm);
    return count;
  }

  private async expireIn(realm: Realm): Promise<number> {
    let count = 0;
    const channels = await this.uow.read(realm.id, (r) => r.channels.listAll(realm.id));
    for (const channel of channels) {
      if (retentionDays(realm, channel) !== null) count += await this.expireAll(realm.id, channel.recipientId);
    }
    if (retentionDays(realm, null) === null) return count;
    for (let after = 0; ; ) {
      const page = await this.uow.read(realm.id, (r) =>
        r.recipients.listDirect(realm.id, after, CONVERSATIONS_AT_ONCE),
      );
      if (page.length === 0) return count;
      for (const recipientId of page) count += await this.expireAll(realm.id, recipientId);
      after = lastOf(page);
    }
  }

  private async expireAll(realmId: RealmId, recipientId: RecipientId): Promise<number> {
    const isDue = await this.uow.read(realmId, async (r) => {
      const [oldest] = await r.messages.list(realmId, await r.messages.listOldestIds(realmId, recipientId, 1));
      if (!oldest) return false;
      const channel = oldest.channelId === null ? null : await r.channels.find(realmId, oldest.channelId);
      const days = retentionDays(await r.realms.get(realmId), channel);
      return days !== null && oldest.sentAt < this.sentBefore(days);
    });
    let count = 0;
    let deleted = isDue ? MAX_DELETED_AT_ONCE : 0;
    while (deleted === MAX_DELETED_AT_ONCE) {
      deleted = await this.uow.write(realmId, (tx) => this.expireOldest(tx, realmId, recipientId), { yields: true });
      count += deleted;
    }
    return count;
  }

  /** Reads the retention settings in each unit of work, since they may have changed. */
  private async expireOldest(tx: Transaction, realmId: RealmId, recipientId: RecipientId): Promise<number> {
    const realm = await tx.realms.get(realmId);
    const ids = await tx.messages.listOldestIds(realmId, recipientId, MAX_DELETED_AT_ONCE);
    const oldest = await tx.messages.list(realmId, ids);
    const channelId = oldest[0]?.channelId ?? null;
    const channel = channelId === null ? null : await tx.channels.find(realmId, channelId);
    const days = retentionDays(realm, channel);
    if (days === null) return 0;
    const messages = oldest.filter(({ sentAt }) => sentAt < this.sentBefore(days));
    const deletion = { realmId, deletedBy: null, deletedAt: this.clock.now(), channel };
    // Clients get one event per direct message.
    const parts = channel === null ? messages.map((message) => [message]) : messages.length > 0 ? [messages] : [];
    for (const part of parts) {
      await deleteMessages(tx, { ...deletion, messages: part });
    }
    return messages.length;
  }

  private sentBefore(days: number): UnixSeconds {
    return this.clock.now() - days * DAY_SECONDS;
  }
}

const AT_ONCE = 100;

/** Permanently removes messages that were deleted long enough ago and are not held. */
export class PurgeArchive {
  static readonly inject = ['unitOfWork', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
  ) {}

  /** Returns the number of removed messages. @param keepSeconds Period in which deleted messages can be restored. */
  async execute({ keepSeconds }: { readonly keepSeconds: number }): Promise<number> {
    const before = this.clock.now() - keepSeconds;
    let count = 0;
    let purged: PurgedCopies;
    do {
      purged = await this.uow.writeAcross((tx) => tx.archive.purge(before, AT_ONCE));
      count += purged.count;
    } while (purged.hasMore);
    return count;
  }
}

export interface RestoreMessagesInput {
  readonly realmId: RealmId;
  readonly selection: ArchiveSelection;
  /** True to count the messages without restoring them. */
  readonly isDryRun: boolean;
}

/**
 * Restores deleted messages on behalf of the operator. Clients get no event; they see the messages on their next fetch
 * and recount unread messages when they register again.
 */
export class RestoreMessages {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** Returns the number of selected messages. */
  async execute({ realmId, selection, isDryRun }: RestoreMessagesInput): Promise<number> {
    let count = 0;
    let after = 0;
    for (;;) {
      const archived = await this.uow.read(realmId, (r) => r.archive.list(realmId, selection, after, AT_ONCE));
      const ids = archived.map(({ id }) => id);
      const channelIds = new Set(archived.flatMap(({ channelId }) => channelId ?? []));
      if (isDryRun) count += ids.length;
      else {
        count += await this.uow.write(realmId, async (tx) => {
          const restored = await tx.archive.restore(realmId, ids);
          await tx.dataKeys.index(realmId, 'message', restored);
          for (const channelId of channelIds) await renewFirstMessage(tx, realmId, channelId);
          return restored.length;
        });
      }
      if (archived.length < AT_ONCE) return count;
      after = lastOf(ids);
    }
  }
}

async function renewFirstMessage(tx: Transaction, realmId: RealmId, channelId: ChannelId): Promise<void> {
  const channel = await tx.channels.get(realmId, channelId);
  const [oldest = null] = await tx.messages.listOldestIds(realmId, channel.recipientId, 1);
  if (oldest === null || (channel.firstMessageId !== null && channel.firstMessageId <= oldest)) return;
  await tx.channels.update({ ...channel, firstMessageId: oldest });
  await publishProperty(tx, channel, { property: 'firstMessageId', value: oldest });
}
