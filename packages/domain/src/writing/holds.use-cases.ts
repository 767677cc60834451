import { mustBeOwner } from '../access/actor.js';
import { DomainError } from '../kernel/errors.js';
import type { HoldId, RealmId, Requester } from '../kernel/ids.js';
import { denyIf, enforce } from '../kernel/permission.js';
import type { Clock } from '../kernel/ports.js';
import type { Repositories, UnitOfWork } from '../kernel/unit-of-work.js';
import { type Hold, type HoldCriteria, MAX_ACTIVE_HOLDS, MAX_HOLDS, requireHold } from './holds.js';

/** @throws DomainError MUST_BE_OWNER, SPECIAL_PERMISSION_REQUIRED */
async function requirePermission(
  { actors, users }: Pick<Repositories, 'actors' | 'users'>,
  { realmId, userId }: Requester,
): Promise<void> {
  if (userId === null) return;
  enforce(mustBeOwner(await actors.get({ realmId, userId })));
  const user = await users.find(realmId, userId);
  const isAllowed = user?.specialPermissions.includes('canHoldMessages') ?? false;
  enforce(denyIf(!isAllowed, 'SPECIAL_PERMISSION_REQUIRED', 'User not authorized to hold messages'));
}

/** @throws DomainError UNKNOWN_HOLD, HOLD_RELEASED */
export async function requireActiveHold({ holds }: Repositories, realmId: RealmId, id: HoldId): Promise<Hold> {
  const hold = await holds.find(realmId, id);
  if (!hold) throw new DomainError('UNKNOWN_HOLD', 'Invalid hold ID');
  if (hold.releasedAt !== null) throw new DomainError('HOLD_RELEASED', 'The hold is released already.');
  return hold;
}

/** @throws DomainError UNKNOWN_USER, UNKNOWN_CHANNEL, UNKNOWN_MESSAGE */
async function requireExisting(
  reads: Repositories,
  realmId: RealmId,
  { personId, channelId, messageId }: HoldCriteria,
): Promise<void> {
  if (personId !== null) await reads.users.get(realmId, personId);
  if (channelId !== null) await reads.channels.get(realmId, channelId);
  if (messageId === null || (await reads.messages.list(realmId, [messageId])).length > 0) return;
  const selection = { messageId, channelId: null, topicKey: null, since: null };
  if ((await reads.archive.list(realmId, selection, 0, 1)).length === 0) {
    throw new DomainError('UNKNOWN_MESSAGE', 'Invalid message(s)');
  }
}

/** Holds messages (extensions §16). */
export class CreateHold {
  static readonly inject = ['unitOfWork', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
  ) {}

  /**
   * @throws DomainError MUST_BE_OWNER, SPECIAL_PERMISSION_REQUIRED, INVALID_HOLD, UNKNOWN_USER, UNKNOWN_CHANNEL,
   * UNKNOWN_MESSAGE, TOO_MANY_HOLDS
   */
  execute(by: Requester, input: HoldCriteria & Pick<Hold, 'reason'>): Promise<Hold> {
    const { realmId, userId } = by;
    return this.uow.write(realmId, async (tx) => {
      await requirePermission(tx, by);
      const { personId, channelId, messageId, since, until } = input;
      const criteria = { personId, channelId, messageId, since, until };
      const reason = requireHold({ ...criteria, reason: input.reason });
      await requireExisting(tx, realmId, criteria);
      const holds = await tx.holds.list(realmId);
      const active = holds.filter(({ releasedAt }) => releasedAt === null);
      if (active.length >= MAX_ACTIVE_HOLDS || holds.length >= MAX_HOLDS) {
        const limits = `${MAX_ACTIVE_HOLDS}, with released ones ${MAX_HOLDS}`;
        throw new DomainError('TOO_MANY_HOLDS', `Too many holds (limit: ${limits}).`);
      }
      const released = { releasedAt: null, releasedBy: null };
      return tx.holds.add({
        realmId,
        ...criteria,
        reason,
        createdAt: this.clock.now(),
        createdBy: userId,
        ...released,
      });
    });
  }
}

/** Returns all holds, oldest first, with released ones (extensions §16). */
export class ListHolds {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError MUST_BE_OWNER, SPECIAL_PERMISSION_REQUIRED */
  execute(by: Requester): Promise<readonly Hold[]> {
    return this.uow.read(by.realmId, async (reads) => {
      await requirePermission(reads, by);
      return reads.holds.list(by.realmId);
    });
  }
}

/** Ends a hold. Retention, purges and erasures that it held up continue within an hour (extensions §16). */
export class ReleaseHold {
  static readonly inject = ['unitOfWork', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError MUST_BE_OWNER, SPECIAL_PERMISSION_REQUIRED, UNKNOWN_HOLD, HOLD_RELEASED */
  execute(by: Requester, { holdId }: { readonly holdId: HoldId }): Promise<Hold> {
    return this.uow.write(by.realmId, async (tx) => {
      await requirePermission(tx, by);
      const hold = await requireActiveHold(tx, by.realmId, holdId);
      const released = { ...hold, releasedAt: this.clock.now(), releasedBy: by.userId };
      await tx.holds.update(released);
      return released;
    });
  }
}
