import type { Actor } from '../access/actor.js';
import { DomainError, declareErrors } from '../kernel/errors.js';
import { type FeatureParts, users } from '../kernel/event.js';
import type { PersonPart } from '../kernel/export-parts.js';
import type { Caller, UserId } from '../kernel/ids.js';
import { type JobPartOutcome, jobPartKind, RequestParts } from '../kernel/job-parts.js';
import type { Job, JobWork, StoredJob } from '../kernel/jobs.js';
import type { Clock } from '../kernel/ports.js';
import type { Snapshot } from '../kernel/register-queue.js';
import * as shape from '../kernel/shape.js';
import type { Repositories, Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { conversationPartnerIds, mayAccessUser } from '../users/accessible-users.js';
import type { MutedSender } from './flags.js';
import type { MessageFilter } from './message-condition.js';

/** Limit per user; each change publishes the complete list. */
export const MAX_MUTED_USERS = 1000;

/** @throws DomainError TOO_MANY_MUTED_USERS */
export function requireRoomForMutedUser(muted: readonly MutedSender[]): void {
  if (muted.length < MAX_MUTED_USERS) return;
  throw new DomainError('TOO_MANY_MUTED_USERS', `Too many muted users (limit: ${MAX_MUTED_USERS}).`);
}

/**
 * Returns a user visible to the actor, including system bots (users §10).
 * @throws DomainError UNKNOWN_USER, NOT_PERMITTED
 */
export async function requireMutable(
  reads: Pick<Repositories | Transaction, 'realms' | 'users'>,
  actor: Actor,
  userId: UserId,
): Promise<void> {
  const user =
    (await reads.users.find(actor.realmId, userId)) ??
    (await reads.users.listSystemBots(actor.realmId)).find(({ id }) => id === userId);
  if (!user) throw new DomainError('UNKNOWN_USER', 'No such user');
  const realm = await reads.realms.get(actor.realmId);
  const partners = await conversationPartnerIds(reads, actor, realm);
  if (mayAccessUser(actor, user, { realm, sharesConversation: partners.has(userId) })) return;
  throw new DomainError('NOT_PERMITTED', 'Insufficient permission');
}

export const MUTED_USER_ERRORS = declareErrors({
  /** Users cannot mute themselves. */
  CANNOT_MUTE_SELF: 'invalid',
  /** The user is already muted. */
  USER_ALREADY_MUTED: 'conflict',
  /** The user is not muted. */
  USER_NOT_MUTED: 'conflict',
  /** The caller mutes too many users. */
  TOO_MANY_MUTED_USERS: 'conflict',
});

type MutedUserErrors = typeof MUTED_USER_ERRORS;

export interface MutedUserEventTypes {
  /** Sent to the muting user with the complete list. */
  'muted_users.changed': { readonly muted: readonly MutedSender[] };
}

declare module '../kernel/feature-types.js' {
  interface ErrorCodes extends MutedUserErrors {}
  interface DomainEventTypes extends MutedUserEventTypes {}
  interface PersonCopyParts {
    readonly mutedUsers: readonly MutedSender[];
  }
}

const personPart: PersonPart<'mutedUsers'> = {
  none: { mutedUsers: [] },
  shapes: { mutedUsers: shape.list(shape.object({ userId: shape.id<UserId>(), mutedAt: shape.time }), 100_000) },
  async read(reads, owner, { userIds }) {
    const muted = await reads.personal.listMutedSenders(owner);
    return { mutedUsers: muted.filter(({ userId }) => userIds.has(userId)) };
  },
  async add(tx, owner, { mutedUsers }, ids) {
    for (const { userId, mutedAt } of mutedUsers) await tx.personal.muteSender(owner, ids.users.get(userId), mutedAt);
  },
};

export const MUTED_USER_FEATURE = {
  eventFormats: { 'muted_users.changed': 1 },
  personPart: personPart,
} satisfies FeatureParts<MutedUserEventTypes>;

export async function publishMutedUsers(tx: Transaction, { realmId, id: userId }: Actor): Promise<void> {
  const muted = await tx.personal.listMutedSenders({ realmId, userId });
  await tx.events.append(realmId, { event: { type: 'muted_users.changed', muted }, audience: users([userId]) });
}

/** Returns the users muted by the viewer, in order of muting. */
export const loadMutedUsers = ({ caller, repositories }: Snapshot): Promise<readonly MutedSender[]> =>
  repositories.personal.listMutedSenders({ realmId: caller.realmId, userId: caller.userId });

/** Maximum number of messages that one unit of work marks as read. */
export const MAX_MUTED_AT_ONCE = 1000;

interface MutePart {
  readonly caller: Caller;
  readonly senderId: UserId;
}

/** Marks many earlier messages of a muted user as read (contract decision 10). */
export class MuteUserParts extends RequestParts<MutePart> {
  static readonly inject = ['unitOfWork', 'clock'] as const;
  readonly kind = jobPartKind<MutePart>('messages.mute_user');

  async prepare(job: Job<MutePart>): Promise<JobWork<JobPartOutcome<void>>> {
    return async (tx) => ({ result: undefined, next: await this.markRead(tx, job.payload, job) });
  }

  /** Marks some messages as read and returns the job of the next part. */
  async markRead(
    tx: Transaction,
    part: MutePart,
    previous: Job<MutePart> | null = null,
  ): Promise<readonly StoredJob[]> {
    const { caller, senderId } = part;
    const { realmId, userId } = caller;
    const filter: MessageFilter = { conditions: [{ kind: 'sender', userId: senderId }], scope: 'own' };
    const unread = await tx.personal.listUnread(caller, MAX_MUTED_AT_ONCE, filter);
    const ids = unread.map(({ id }) => id);
    const messageIds = await tx.personal.setRead(caller, ids, true);
    if (messageIds.length === 0) return [];
    await tx.events.append(realmId, {
      event: { type: 'message.flag_changed', op: 'add', flag: 'read', messageIds, all: false, details: [] },
      audience: users([userId]),
    });
    if (unread.length < MAX_MUTED_AT_ONCE) return [];
    return this.schedule(tx, realmId, [part], previous);
  }
}

/** Mutes a user: later messages arrive as read and earlier ones become read (users §10). */
export class MuteUser {
  static readonly inject = ['unitOfWork', 'clock'] as const;
  private readonly parts: MuteUserParts;

  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
  ) {
    this.parts = new MuteUserParts(uow, clock);
  }

  /** @throws DomainError CANNOT_MUTE_SELF, UNKNOWN_USER, NOT_PERMITTED, USER_ALREADY_MUTED, TOO_MANY_MUTED_USERS */
  async execute(caller: Caller, { userId: senderId }: { readonly userId: UserId }): Promise<void> {
    const jobs = await this.uow.write(caller.realmId, async (tx) => {
      const actor = await tx.actors.get(caller);
      if (senderId === actor.id) throw new DomainError('CANNOT_MUTE_SELF', 'Cannot mute self');
      await requireMutable(tx, actor, senderId);
      const muted = await tx.personal.listMutedSenders(caller);
      if (muted.some(({ userId }) => userId === senderId)) {
        throw new DomainError('USER_ALREADY_MUTED', 'User already muted');
      }
      requireRoomForMutedUser(muted);
      await tx.personal.muteSender(caller, senderId, this.clock.now());
      const next = await this.parts.markRead(tx, { caller, senderId });
      await publishMutedUsers(tx, actor);
      return next;
    });
    await this.parts.run(jobs);
  }
}

/** Unmutes a user; later messages from this user arrive as unread (users §10). */
export class UnmuteUser {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError UNKNOWN_USER, NOT_PERMITTED, USER_NOT_MUTED */
  execute(caller: Caller, { userId: senderId }: { readonly userId: UserId }): Promise<void> {
    return this.uow.write(caller.realmId, async (tx) => {
      const actor = await tx.actors.get(caller);
      await requireMutable(tx, actor, senderId);
      const muted = await tx.personal.listMutedSenders(caller);
      if (!muted.some(({ userId }) => userId === senderId)) {
        throw new DomainError('USER_NOT_MUTED', 'User is not muted');
      }
      await tx.personal.unmuteSender(caller, senderId);
      await publishMutedUsers(tx, actor);
    });
  }
}
