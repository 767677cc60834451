import { nobody } from '../kernel/event.js';
import type { RealmId, UnixSeconds, UserId } from '../kernel/ids.js';
import { encodeJob, type Job, type JobHandler, type JobWork, jobKind } from '../kernel/jobs.js';
import type { Clock } from '../kernel/ports.js';
import type { Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { ENTITIES_PER_PAGE } from '../kernel/work.js';
import type { Realm } from './realm.js';

/** Progress of the removal as plain JSON, opaque outside the storage. */
export type RemovalCursor = { readonly table: string; readonly key: readonly (string | number)[] } | null;

/** Removes entire realms. Every implementation passes realm-data.contract.ts. */
export interface RealmDataRepository {
  /**
   * Removes at most `limit` rows of the realm from a cursor on; null starts at the beginning. Returns the next cursor,
   * or `done` if only the realm and its deletion job are left.
   */
  removeSome(realmId: RealmId, from: RemovalCursor, limit: number): Promise<RemovalCursor | 'done'>;
  /** Removes the realm itself after all its data. Idempotent. */
  removeRealm(realmId: RealmId): Promise<void>;
}

/**
 * String id of a realm that is being removed or created. It contains a character not allowed in host names, so the
 * realm is unreachable.
 */
export const unreachableStringId = (id: RealmId | string): string => `#${id}`;

export const isReachable = ({ stringId }: Pick<Realm, 'stringId'>): boolean => !stringId.startsWith('#');

declare module '../kernel/feature-types.js' {
  interface RepositoryMap {
    realmData: [reads: never, repository: RealmDataRepository];
  }
}

interface DeletionPayload {
  readonly place: RemovalCursor;
}

/** Job key that limits a realm to one job. */
const KEY = 'realm';

export const DELETE_REALM_DATA = jobKind<DeletionPayload>({
  name: 'realms.delete_data',
  isFixed: true,
  deletes: true,
  readPayload: (stored) => ({ place: (stored as DeletionPayload).place }),
  concurrency: 1,
});

/** Schedules the deletion of all realm data, which can still be cancelled. */
export async function planDeletion(tx: Transaction, realmId: RealmId, dueAt: UnixSeconds): Promise<void> {
  await tx.jobs.schedule(encodeJob(DELETE_REALM_DATA, { realmId, dueAt, key: KEY, payload: { place: null } }));
}

export async function callOffDeletion(tx: Transaction, realmId: RealmId): Promise<void> {
  await tx.jobs.cancel(realmId, DELETE_REALM_DATA.name, KEY);
}

/** Time after which the job is rescheduled with its progress. */
const MAX_RUN_MS = 1000;
/** Time until the deletion of an organization with holds is tried again. */
const HELD_SECONDS = 3600;

/**
 * Removes all data of a deactivated realm (organization §3). Frees its string id first, so that a half-deleted realm
 * cannot be reactivated. Garbage collection removes the file contents. Waits while messages of the realm are held.
 */
export class DeleteRealmData implements JobHandler<DeletionPayload> {
  static readonly inject = ['unitOfWork', 'clock'] as const;

  readonly kind = DELETE_REALM_DATA;

  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
  ) {}

  async prepare({ realmId, payload }: Job<DeletionPayload>): Promise<JobWork> {
    const until = this.clock.nowMs() + MAX_RUN_MS;
    if (await this.isHeld(realmId)) return (tx) => planDeletion(tx, realmId, this.clock.now() + HELD_SECONDS);
    if (!(await this.makeUnreachable(realmId))) return async () => {};
    const reached = await this.removeUntil(realmId, payload.place, until);
    return async (tx) => {
      if (reached === 'done') await tx.realmData.removeRealm(realmId);
      else {
        const dueAt = this.clock.now();
        await tx.jobs.schedule(encodeJob(this.kind, { realmId, dueAt, key: KEY, payload: { place: reached } }));
      }
    };
  }

  /** Deletes immediately, including the scheduled job. Has no effect on an active realm. */
  async deleteNow(realmId: RealmId): Promise<void> {
    if (!(await this.makeUnreachable(realmId))) return;
    await this.removeUntil(realmId, null, Number.POSITIVE_INFINITY);
    await this.uow.write(realmId, (tx) => tx.realmData.removeRealm(realmId));
  }

  private async isHeld(realmId: RealmId): Promise<boolean> {
    const holds = await this.uow.read(realmId, (reads) => reads.holds.list(realmId));
    return holds.some(({ releasedAt }) => releasedAt === null);
  }

  /** Returns true if the realm is still deactivated and may be removed. */
  private makeUnreachable(realmId: RealmId): Promise<boolean> {
    return this.uow.write(realmId, async (tx) => {
      const realm = await tx.realms.find(realmId);
      if (!realm?.isDeactivated) return false;
      await tx.realms.update({ ...realm, stringId: unreachableStringId(realmId), isAtServerAddress: false });
      return true;
    });
  }

  private async removeUntil(realmId: RealmId, from: RemovalCursor, until: number): Promise<RemovalCursor | 'done'> {
    let cursor: RemovalCursor | 'done' = from;
    do {
      const begin: RemovalCursor = cursor;
      cursor = await this.uow.write(realmId, (tx) => tx.realmData.removeSome(realmId, begin, ENTITIES_PER_PAGE));
    } while (cursor !== 'done' && this.clock.nowMs() < until);
    return cursor;
  }
}

export interface ForgetLimitsInput {
  readonly realmId: RealmId;
  /** User with calls and logins to reset; null for none. */
  readonly userId: UserId | null;
  /**
   * IP address with anonymous calls to reset; null for none. If both are null, all counters of all realms are reset.
   */
  readonly ip: string | null;
}

/**
 * Resets rate limits for the operator. Every process on the database applies the reset when it reads the event log,
 * within a second.
 */
export class ForgetLimits {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError UNKNOWN_REALM, UNKNOWN_USER */
  execute({ realmId, userId, ip }: ForgetLimitsInput): Promise<void> {
    return this.uow.write(realmId, async (tx) => {
      await tx.realms.get(realmId);
      const user = userId === null ? null : await tx.users.get(realmId, userId);
      const event = { type: 'realm.limits_forgotten', userId, email: user?.email ?? null, ip } as const;
      await tx.events.append(realmId, { event, audience: nobody });
    });
  }
}
