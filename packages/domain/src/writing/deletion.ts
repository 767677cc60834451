import { type Channel, hasSharedHistory, topicKey } from '../channels/channel.js';
import { publishProperty } from '../channels/channel-events.js';
import { publishFileChanges } from '../files/files.js';
import { anyOf, users } from '../kernel/event.js';
import type { ChannelId, MessageId, RealmId, UnixSeconds, UserId } from '../kernel/ids.js';
import { encodeJob } from '../kernel/jobs.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import type { Message } from '../messages/message.js';
import { watchersOfAny } from '../messages/message-delivery.js';
import { DELETED_QUOTE_JOB } from './drafts.js';
import { DELETED_MESSAGE_JOB } from './reminders.js';

/** Deleted message that can be restored for a while. */
export interface ArchivedMessage {
  readonly id: MessageId;
  /** Null for direct messages. */
  readonly channelId: ChannelId | null;
  readonly deletedAt: UnixSeconds;
  /** Null if the message expired. */
  readonly deletedBy: UserId | null;
}

/** Selects deleted messages of a realm. All non-null criteria must match. */
export interface ArchiveSelection {
  readonly messageId: MessageId | null;
  readonly channelId: ChannelId | null;
  readonly topicKey: string | null;
  /** Earliest deletion time. */
  readonly since: UnixSeconds | null;
}

export interface PurgedCopies {
  readonly count: number;
  /** True if more copies may be due. */
  readonly hasMore: boolean;
}

export interface MessageArchiveReads {
  /** Returns the oldest `limit` restorable messages with ids above `after`, by ascending id. */
  list(
    realmId: RealmId,
    selection: ArchiveSelection,
    after: number,
    limit: number,
  ): Promise<readonly ArchivedMessage[]>;
}

/** Copies of recently deleted messages. Every implementation passes message-archive.contract.ts. */
export interface MessageArchive extends MessageArchiveReads {
  /** Copies messages with all dependent data before their removal. Ignores unknown ids. */
  keep(
    realmId: RealmId,
    ids: readonly MessageId[],
    deletion: Pick<ArchivedMessage, 'deletedAt' | 'deletedBy'>,
  ): Promise<void>;
  /**
   * Restores messages and all users' flags, with a new version. Returns the restored ids, ascending. Unread messages
   * may have become read in the meantime. Ignores copies that only a hold keeps.
   */
  restore(realmId: RealmId, ids: readonly MessageId[]): Promise<readonly MessageId[]>;
  /**
   * Deletes messages among the oldest `limit` of any realm that were archived before that time. Held ones stay
   * until their holds are released, and cannot be restored.
   */
  purge(before: UnixSeconds, limit: number): Promise<PurgedCopies>;
  /**
   * Deletes the copies of the sender's messages among the next `limit` copies with ids above `after`, and the sender's
   * reactions and submessages in the other copies. Held copies stay and cannot be restored. `next` is the last id that was
   * examined, or null at the end. `count`: deleted copies.
   */
  purgeOfSender(
    realmId: RealmId,
    senderId: UserId,
    after: number,
    limit: number,
  ): Promise<{ readonly count: number; readonly held: number; readonly next: number | null }>;
}

declare module '../kernel/feature-types.js' {
  interface RepositoryMap {
    archive: [reads: MessageArchiveReads, repository: MessageArchive];
  }
}

export interface Deletion {
  readonly realmId: RealmId;
  /** Null if the messages expired. */
  readonly deletedBy: UserId | null;
  readonly deletedAt: UnixSeconds;
  /** Current channel of all messages; null for a single direct message. */
  readonly channel: Channel | null;
  /** At most MAX_DELETED_AT_ONCE. */
  readonly messages: readonly Pick<Message, 'id' | 'topic'>[];
}

/** Maximum number of messages deleted per unit of work, to limit the delay of other writes. */
export const MAX_DELETED_AT_ONCE = 100;

/**
 * Deletes messages with all dependent data, archives a copy and notifies watchers (messages §11, §18.3; channels §6.7).
 * Does not check permissions.
 */
export async function deleteMessages(tx: Transaction, deletion: Deletion): Promise<void> {
  const { realmId, deletedBy, deletedAt, channel, messages } = deletion;
  const ids = messages.map(({ id }) => id);
  await tx.archive.keep(realmId, ids, { deletedBy, deletedAt });
  const detached = await tx.files.detachAll(realmId, ids, deletedAt);
  await tx.messages.remove(realmId, ids);
  await tx.events.blank(realmId, ids);
  await planRemovalOfText(tx, realmId, ids, deletedAt);
  await renewFirstMessage(tx, deletion, ids);
  for (const [topic, messageIds] of byTopic(messages)) {
    await tx.events.append(realmId, {
      event: {
        type: 'message.deleted',
        messageIds,
        channelId: channel?.id ?? null,
        topic,
        // Restricts the event to users who had received the messages.
        onlyToHolders: channel !== null && !hasSharedHistory(channel),
      },
      audience: receivers(deletion, messageIds),
    });
  }
  await publishFileChanges(tx, realmId, detached);
}

/** Plans jobs that remove the text from reminders and drafts. Those of many users take too long for the deletion. */
async function planRemovalOfText(
  tx: Transaction,
  realmId: RealmId,
  messageIds: readonly MessageId[],
  dueAt: UnixSeconds,
): Promise<void> {
  const reminded = await tx.reminders.filterMessages(realmId, messageIds);
  const quoted = await tx.drafts.listQuoted(realmId, messageIds);
  const jobs = [
    ...reminded.map((id) => encodeJob(DELETED_MESSAGE_JOB, { realmId, dueAt, payload: { id } })),
    ...quoted.map((id) => encodeJob(DELETED_QUOTE_JOB, { realmId, dueAt, payload: { id } })),
  ];
  for (const job of jobs) await tx.jobs.schedule(job);
}

/** Returns the receivers, including the acting user even if not subscribed (messages §18.3). */
function receivers({ channel, deletedBy }: Deletion, ids: readonly MessageId[]) {
  const watchers = watchersOfAny(ids, channel);
  return deletedBy === null ? watchers : anyOf(watchers, users([deletedBy]));
}

/** Groups ids by topic, using the newest spelling. Expects ascending ids. */
function byTopic(messages: Deletion['messages']): ReadonlyMap<string, readonly MessageId[]> {
  const topics = new Map<string, { topic: string; ids: MessageId[] }>();
  for (const { id, topic } of [...messages].sort((a, b) => a.id - b.id)) {
    const existing = topics.get(topicKey(topic));
    if (existing) {
      existing.ids.push(id);
      existing.topic = topic;
    } else topics.set(topicKey(topic), { topic, ids: [id] });
  }
  return new Map([...topics.values()].map(({ topic, ids }) => [topic, ids]));
}

/** Publishes the new first message to the receivers of the deletion, before the deletion event. */
async function renewFirstMessage(tx: Transaction, deletion: Deletion, ids: readonly MessageId[]): Promise<void> {
  const { realmId, channel } = deletion;
  if (channel === null || channel.firstMessageId === null || !ids.includes(channel.firstMessageId)) return;
  const [oldest = null] = await tx.messages.listOldestIds(realmId, channel.recipientId, 1);
  await tx.channels.update({ ...channel, firstMessageId: oldest });
  await publishProperty(tx, channel, { property: 'firstMessageId', value: oldest }, receivers(deletion, ids));
}
