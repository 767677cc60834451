import type { ChannelPrivacy } from '../channels/channel.js';
import type { Clock } from '../kernel/clock.js';
import { type ChannelId, isId, type MessageId, type RealmId, type UnixSeconds, type UserId } from '../kernel/ids.js';
import { encodeJob, type Job, jobKind } from '../kernel/job.js';
import type { JobHandler, JobWork } from '../kernel/job-handler.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import { deleteMessages, MAX_DELETED_AT_ONCE } from '../messages/delete-messages.js';
import type { Message } from '../messages/message.js';
import type { MessageCondition } from '../messages/message-condition.js';
import type { MessageFilter } from '../messages/message-page-reads.js';

/** Where messages of somebody who is deactivated are deleted. */
export const MESSAGE_PLACES = ['publicChannels', 'privateChannels', 'direct'] as const;
export type MessagePlace = (typeof MESSAGE_PLACES)[number];

interface DeletionPayload {
  readonly userId: UserId;
  /** Whoever decided it. */
  readonly byId: UserId;
  readonly places: readonly MessagePlace[];
  /** The newest that may be left; null: none was deleted yet. */
  readonly upTo: number | null;
}

const PRIVACIES: Readonly<Record<MessagePlace, readonly ChannelPrivacy[]>> = {
  publicChannels: ['public', 'webPublic'],
  privateChannels: ['privateSharedHistory', 'privateProtectedHistory'],
  direct: [],
};

export const DELETE_MESSAGES_JOB = jobKind<DeletionPayload>({
  name: 'accounts.delete_messages',
  readPayload: (stored) => {
    const { userId, byId, places, upTo = null } = stored as Partial<DeletionPayload>;
    if (!isId(userId) || !isId(byId) || !places?.every((place) => MESSAGE_PLACES.includes(place))) {
      throw new Error('It names no messages');
    }
    return { userId, byId, places, upTo };
  },
  concurrency: 1,
});

export const planMessageDeletion = (
  tx: Transaction,
  realmId: RealmId,
  deletion: Omit<DeletionPayload, 'upTo'>,
  now: UnixSeconds,
) => tx.jobs.schedule(encodeJob(DELETE_MESSAGES_JOB, { realmId, dueAt: now, payload: { ...deletion, upTo: null } }));

/** Deletes what somebody wrote, whether they followed the channel or not, the newest first, so many in a unit (users §4.1). */
export class DeleteContributions implements JobHandler<DeletionPayload> {
  static readonly inject = ['clock'] as const;

  readonly kind = DELETE_MESSAGES_JOB;

  constructor(private readonly clock: Clock) {}

  async prepare({ realmId, payload }: Job<DeletionPayload>): Promise<JobWork> {
    return async (tx) => {
      const { userId, byId, places, upTo } = payload;
      const ids: MessageId[] = [];
      for (const filter of filtersOf(userId, places)) {
        const entries = await tx.pages.listEntriesUpTo({ realmId, userId }, filter, upTo, MAX_DELETED_AT_ONCE);
        ids.push(...entries.map(({ id }) => id));
      }
      ids.sort((a, b) => a - b).splice(0, Math.max(0, ids.length - MAX_DELETED_AT_ONCE));
      const deletedAt = this.clock.now();
      for (const [channelId, messages] of byPlace(await tx.messages.list(realmId, ids))) {
        const channel = channelId === null ? null : await tx.channels.find(realmId, channelId);
        await deleteMessages(tx, { realmId, deletedBy: byId, deletedAt, channel, messages });
        await tx.yield();
      }
      if (ids.length < MAX_DELETED_AT_ONCE) return;
      const rest = { ...payload, upTo: ids[0]! - 1 };
      await tx.jobs.schedule(encodeJob(this.kind, { realmId, dueAt: deletedAt, payload: rest }));
    };
  }
}

/** Sent by the user; of direct messages, senders have all their own. */
function filtersOf(userId: UserId, places: readonly MessagePlace[]): readonly MessageFilter[] {
  const bySender: MessageCondition = { kind: 'sender', userId };
  const privacies = places.flatMap((place) => PRIVACIES[place]);
  const inChannels: MessageCondition = { kind: 'channelPrivacy', privacies };
  return [
    ...(privacies.length > 0 ? [{ conditions: [bySender, inChannels], scope: 'shared' } as const] : []),
    ...(places.includes('direct') ? [{ conditions: [bySender, { kind: 'direct' }], scope: 'own' } as const] : []),
  ];
}

/** Those of a channel together, direct ones one by one. */
function byPlace(messages: readonly Message[]): readonly (readonly [ChannelId | null, readonly Message[]])[] {
  const places = new Map<ChannelId | MessageId, [ChannelId | null, Message[]]>();
  for (const message of messages) {
    const key = message.channelId === null ? (-message.id as MessageId) : message.channelId;
    const known = places.get(key);
    if (known) known[1].push(message);
    else places.set(key, [message.channelId, [message]]);
  }
  return [...places.values()];
}
