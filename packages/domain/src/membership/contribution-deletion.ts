import type { ChannelPrivacy } from '../channels/channel.js';
import { type ChannelId, isId, type MessageId, type RealmId, type UnixSeconds, type UserId } from '../kernel/ids.js';
import { encodeJob, type Job, type JobHandler, type JobWork, jobKind } from '../kernel/jobs.js';
import type { Clock } from '../kernel/ports.js';
import type { Repositories, Transaction } from '../kernel/unit-of-work.js';
import { firstOf } from '../kernel/work.js';
import type { Message } from '../messages/message.js';
import type { MessageCondition, MessageFilter } from '../messages/message-condition.js';
import { deleteMessages, MAX_DELETED_AT_ONCE } from '../writing/deletion.js';

/** Scopes in which messages of a deactivated user can be deleted. */
export const MESSAGE_SCOPES = ['publicChannels', 'privateChannels', 'direct'] as const;
export type MessageScope = (typeof MESSAGE_SCOPES)[number];

interface DeletionPayload {
  readonly userId: UserId;
  /** Administrator who requested the deletion. */
  readonly byId: UserId;
  readonly places: readonly MessageScope[];
  /** Newest message to delete. Null in jobs of earlier versions: any. */
  readonly upTo: number | null;
}

const PRIVACIES: Readonly<Record<MessageScope, readonly ChannelPrivacy[]>> = {
  publicChannels: ['public', 'webPublic'],
  privateChannels: ['privateSharedHistory', 'privateProtectedHistory'],
  direct: [],
};

export const DELETE_MESSAGES_JOB = jobKind<DeletionPayload>({
  name: 'accounts.delete_messages',
  readPayload: (stored) => {
    const { userId, byId, places, upTo = null } = stored as Partial<DeletionPayload>;
    if (!isId(userId) || !isId(byId) || !places?.every((scope) => MESSAGE_SCOPES.includes(scope))) {
      throw new TypeError('Job payload has no user id or unknown message scopes');
    }
    return { userId, byId, places, upTo };
  },
  concurrency: 1,
});

/** Plans the deletion of present messages. A reactivated user may send others before the job runs. */
export async function planMessageDeletion(
  tx: Transaction,
  realmId: RealmId,
  deletion: Omit<DeletionPayload, 'upTo'>,
  now: UnixSeconds,
): Promise<void> {
  const all = { userId: deletion.userId, places: MESSAGE_SCOPES, upTo: null };
  const [upTo] = (await newestOf(tx, realmId, all, 1)).ids;
  if (upTo === undefined) return;
  await tx.jobs.schedule(encodeJob(DELETE_MESSAGES_JOB, { realmId, dueAt: now, payload: { ...deletion, upTo } }));
}

/**
 * Deletes a user's messages, newest first and a limited number per transaction, even in channels to which the user
 * never subscribed (users §4.1).
 */
export class DeleteContributions implements JobHandler<DeletionPayload> {
  static readonly inject = ['clock'] as const;

  readonly kind = DELETE_MESSAGES_JOB;

  constructor(private readonly clock: Clock) {}

  async prepare({ realmId, payload }: Job<DeletionPayload>): Promise<JobWork> {
    return async (tx) => {
      const now = this.clock.now();
      const { next } = await deleteSomeMessages(tx, realmId, payload, now);
      if (next === null) return;
      const rest = { ...payload, upTo: next };
      await tx.jobs.schedule(encodeJob(this.kind, { realmId, dueAt: now, payload: rest }));
    };
  }
}

/** Deletes at most `limit` messages, up to MAX_DELETED_AT_ONCE. `next` is the new `upTo`, or null at the end. */
export async function deleteSomeMessages(
  tx: Transaction,
  realmId: RealmId,
  payload: DeletionPayload,
  deletedAt: UnixSeconds,
  limit = MAX_DELETED_AT_ONCE,
): Promise<{ readonly count: number; readonly next: number | null }> {
  const { ids, next } = await newestOf(tx, realmId, payload, limit);
  for (const [channelId, messages] of byConversation(await tx.messages.list(realmId, ids))) {
    const channel = channelId === null ? null : await tx.channels.find(realmId, channelId);
    await deleteMessages(tx, { realmId, deletedBy: payload.byId, deletedAt, channel, messages });
  }
  return { count: ids.length, next };
}

/** Returns the newest `limit` messages of the user, ascending. `next` is the new `upTo`, or null at the end. */
export async function newestOf(
  { pages }: Pick<Repositories, 'pages'>,
  realmId: RealmId,
  { userId, places, upTo }: Pick<DeletionPayload, 'userId' | 'places' | 'upTo'>,
  limit: number,
): Promise<{ readonly ids: readonly MessageId[]; readonly next: number | null }> {
  const ids: MessageId[] = [];
  for (const filter of filtersOf(userId, places)) {
    const entries = await pages.listEntriesUpTo({ realmId, userId }, filter, upTo, limit);
    ids.push(...entries.map(({ id }) => id));
  }
  ids.sort((a, b) => a - b).splice(0, Math.max(0, ids.length - limit));
  return { ids, next: ids.length < limit ? null : firstOf(ids) - 1 };
}

/** Messages sent by the user. Senders always hold their own direct messages. */
function filtersOf(userId: UserId, places: readonly MessageScope[]): readonly MessageFilter[] {
  const bySender: MessageCondition = { kind: 'sender', userId };
  const privacies = places.flatMap((scope) => PRIVACIES[scope]);
  const inChannels: MessageCondition = { kind: 'channelPrivacy', privacies };
  return [
    ...(privacies.length > 0 ? [{ conditions: [bySender, inChannels], scope: 'shared' } as const] : []),
    ...(places.includes('direct') ? [{ conditions: [bySender, { kind: 'direct' }], scope: 'own' } as const] : []),
  ];
}

/** Groups messages by channel; direct messages stay separate. */
function byConversation(messages: readonly Message[]): readonly (readonly [ChannelId | null, readonly Message[]])[] {
  const conversations = new Map<ChannelId | MessageId, [ChannelId | null, Message[]]>();
  for (const message of messages) {
    const key = message.channelId === null ? (-message.id as MessageId) : message.channelId;
    const existing = conversations.get(key);
    if (existing) existing[1].push(message);
    else conversations.set(key, [message.channelId, [message]]);
  }
  return [...conversations.values()];
}
