import { type Channel, hasSharedHistory, topicKey } from '../channels/channel.js';
import { publishFileChanges } from '../files/files.js';
import { anyOf, users } from '../kernel/event.js';
import type { ChannelId, MessageId, RealmId, UnixSeconds, UserId } from '../kernel/ids.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import type { Message } from './message.js';
import { watchersOfAny } from './message-delivery.js';

/** A message that was deleted, and can be put back for some time. */
export interface ArchivedMessage {
  readonly id: MessageId;
  /** Null: direct. */
  readonly channelId: ChannelId | null;
  readonly deletedAt: UnixSeconds;
  /** Null: its time was over. */
  readonly deletedBy: UserId | null;
}

/** Which of a realm's deleted messages are meant; all that is not null holds together. */
export interface ArchiveSelection {
  readonly messageId: MessageId | null;
  readonly channelId: ChannelId | null;
  readonly topicKey: string | null;
  /** Deleted then or later. */
  readonly since: UnixSeconds | null;
}

export interface MessageArchiveReads {
  /** The oldest `limit` with an id above `after`; ascending id. */
  list(
    realmId: RealmId,
    selection: ArchiveSelection,
    after: number,
    limit: number,
  ): Promise<readonly ArchivedMessage[]>;
}

/** What is left of deleted messages for a while. Every implementation passes message-archive.contract.ts. */
export interface MessageArchive extends MessageArchiveReads {
  /** Copies messages with everything that hangs on them, before they are removed. Unknown ids are left out. */
  keep(
    realmId: RealmId,
    ids: readonly MessageId[],
    deletion: Pick<ArchivedMessage, 'deletedAt' | 'deletedBy'>,
  ): Promise<void>;
  /**
   * Puts messages back as they were, with everybody's flags, in a new version. Returns those that were kept; ascending id. What
   * was unread may have become read meanwhile.
   */
  restore(realmId: RealmId, ids: readonly MessageId[]): Promise<readonly MessageId[]>;
  /** Forgets what was deleted before then, in whatever realm; at most `limit` messages. Returns how many. */
  purge(before: UnixSeconds, limit: number): Promise<number>;
}

declare module '../kernel/unit-of-work.js' {
  interface RepositoryMap {
    archive: [reads: MessageArchiveReads, repository: MessageArchive];
  }
}

export interface Deletion {
  readonly realmId: RealmId;
  /** Null: nobody; their time was over. */
  readonly deletedBy: UserId | null;
  readonly deletedAt: UnixSeconds;
  /** Where they all are now; null: one direct message. */
  readonly channel: Channel | null;
  /** At most MAX_DELETED_AT_ONCE. */
  readonly messages: readonly Pick<Message, 'id' | 'topic'>[];
}

/** What one unit deletes: others wait for no more. */
export const MAX_DELETED_AT_ONCE = 100;

/**
 * Deletes messages with everything that hangs on them, keeps a copy in the archive, and tells those who watch them (messages
 * §11, §18.3; channels §6.7). Asks for no permission.
 */
export async function deleteMessages(tx: Transaction, deletion: Deletion): Promise<void> {
  const { realmId, deletedBy, deletedAt, channel, messages } = deletion;
  const ids = messages.map(({ id }) => id);
  await tx.archive.keep(realmId, ids, { deletedBy, deletedAt });
  const detached = await tx.files.detachAll(realmId, ids, deletedAt);
  await tx.messages.remove(realmId, ids);
  await tx.events.blank(realmId, ids);
  await renewFirstMessage(tx, deletion, ids);
  for (const [topic, messageIds] of byTopic(messages)) {
    await tx.events.append(realmId, {
      event: {
        type: 'message.deleted',
        messageIds,
        channelId: channel?.id ?? null,
        topic,
        // The event goes only to those to whom the messages were shown.
        onlyToHolders: channel !== null && !hasSharedHistory(channel),
      },
      audience: receivers(deletion, messageIds),
    });
  }
  await publishFileChanges(tx, realmId, detached);
}

/** Whoever deletes sees it done, subscribed or not (messages §18.3). */
function receivers({ channel, deletedBy }: Deletion, ids: readonly MessageId[]) {
  const watchers = watchersOfAny(ids, channel);
  return deletedBy === null ? watchers : anyOf(watchers, users([deletedBy]));
}

/** As the newest of them spells it. Ids ascend. */
function byTopic(messages: Deletion['messages']): ReadonlyMap<string, readonly MessageId[]> {
  const topics = new Map<string, { topic: string; ids: MessageId[] }>();
  for (const { id, topic } of [...messages].sort((a, b) => a.id - b.id)) {
    const known = topics.get(topicKey(topic));
    if (known) {
      known.ids.push(id);
      known.topic = topic;
    } else topics.set(topicKey(topic), { topic, ids: [id] });
  }
  return new Map([...topics.values()].map(({ topic, ids }) => [topic, ids]));
}

/** Announced to those who get the deletion, and before it. */
async function renewFirstMessage(tx: Transaction, deletion: Deletion, ids: readonly MessageId[]): Promise<void> {
  const { realmId, channel } = deletion;
  if (channel === null || channel.firstMessageId === null || !ids.includes(channel.firstMessageId)) return;
  const [oldest = null] = await tx.messages.listOldestIds(realmId, channel.recipientId, 1);
  await tx.channels.update({ ...channel, firstMessageId: oldest });
  await tx.events.append(realmId, {
    event: {
      type: 'channel.property_changed',
      channelId: channel.id,
      name: channel.name,
      property: 'firstMessageId',
      value: oldest,
    },
    audience: receivers(deletion, ids),
  });
}
