import { DomainError } from '../kernel/errors.js';
import { nobody } from '../kernel/event.js';
import type { RealmId, UnixSeconds, UserId } from '../kernel/ids.js';
import { encodeJob, type Job, type JobHandler, type JobWork, jobKind } from '../kernel/jobs.js';
import type { Clock } from '../kernel/ports.js';
import type { Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import type { Realm } from './realm.js';

/** How far the removal of everything that a realm has has come: known to the storage alone, and plain JSON. */
export type RemovalPlace = { readonly table: string; readonly key: readonly (string | number)[] } | null;

/** Removes realms as a whole. Every implementation passes realm-data.contract.ts. */
export interface RealmDataRepository {
  /**
   * Removes at most `limit` rows of what the realm has, from a place on; null: from the beginning. Answers the place to go on
   * from, or `done` when nothing is left but the realm itself and its job that removes it.
   */
  removeSome(realmId: RealmId, from: RemovalPlace, limit: number): Promise<RemovalPlace | 'done'>;
  /** The realm itself, of which nothing else is left. Without effect where there is none. */
  removeRealm(realmId: RealmId): Promise<void>;
}

/**
 * The string id of a realm that nobody can reach, since no host name has the sign: one that is being removed, or that is not
 * complete yet.
 */
export const unreachableStringId = (id: RealmId | string): string => `#${id}`;

export const isReachable = ({ stringId }: Pick<Realm, 'stringId'>): boolean => !stringId.startsWith('#');

declare module '../kernel/unit-of-work.js' {
  interface RepositoryMap {
    realmData: [reads: never, repository: RealmDataRepository];
  }
}

interface DeletionPayload {
  readonly place: RemovalPlace;
}

/** One of a realm at most. */
const KEY = 'realm';

export const DELETE_REALM_DATA = jobKind<DeletionPayload>({
  name: 'realms.delete_data',
  readPayload: (stored) => ({ place: (stored as DeletionPayload).place }),
  concurrency: 1,
});

/** From then on everything of the realm goes, unless that is called off. */
export async function planDeletion(tx: Transaction, realmId: RealmId, dueAt: UnixSeconds): Promise<void> {
  await tx.jobs.schedule(encodeJob(DELETE_REALM_DATA, { realmId, dueAt, key: KEY, payload: { place: null } }));
}

export async function callOffDeletion(tx: Transaction, realmId: RealmId): Promise<void> {
  await tx.jobs.cancel(realmId, DELETE_REALM_DATA.name, KEY);
}

/** So few that others write in between. */
const ROWS_AT_A_TIME = 200;
/** Then the job is stored anew, with where it has come to. */
const TURN_MS = 1000;

/**
 * Removes everything that a deactivated realm has (organization §3). Its string id is free from the first moment on, so that
 * nobody lets people into a realm of which half is gone. Bytes of its files belong to nothing then, and are swept away.
 */
export class DeleteRealmData implements JobHandler<DeletionPayload> {
  static readonly inject = ['unitOfWork', 'clock'] as const;

  readonly kind = DELETE_REALM_DATA;

  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
  ) {}

  async prepare({ realmId, payload }: Job<DeletionPayload>): Promise<JobWork> {
    const until = this.clock.nowMs() + TURN_MS;
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

  /** At once, with the job that would do it. Without effect on a realm that is in use. */
  async deleteNow(realmId: RealmId): Promise<void> {
    if (!(await this.makeUnreachable(realmId))) return;
    await this.removeUntil(realmId, null, Number.POSITIVE_INFINITY);
    await this.uow.write((tx) => tx.realmData.removeRealm(realmId));
  }

  /** Whether it may be removed: nobody has let people in again. */
  private makeUnreachable(realmId: RealmId): Promise<boolean> {
    return this.uow.write(async (tx) => {
      const realm = await tx.realms.find(realmId);
      if (!realm?.isDeactivated) return false;
      await tx.realms.update({ ...realm, stringId: unreachableStringId(realmId), isAtServerAddress: false });
      return true;
    });
  }

  private async removeUntil(realmId: RealmId, from: RemovalPlace, until: number): Promise<RemovalPlace | 'done'> {
    let place: RemovalPlace | 'done' = from;
    do {
      const begin: RemovalPlace = place;
      place = await this.uow.write((tx) => tx.realmData.removeSome(realmId, begin, ROWS_AT_A_TIME));
    } while (place !== 'done' && this.clock.nowMs() < until);
    return place;
  }
}

export interface ForgetLimitsInput {
  readonly realmId: RealmId;
  /** Whose calls and log-ins are forgotten; null: nobody's. */
  readonly userId: UserId | null;
  /** Of whom calls without log-in are forgotten; null: nobody. Both null: everything that is counted, of all organizations. */
  readonly ip: string | null;
}

/**
 * For the operator: rate limits begin anew, in every process that serves the database, as soon as it reads the log; that takes a
 * second.
 */
export class ForgetLimits {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError UNKNOWN_REALM, UNKNOWN_USER */
  execute({ realmId, userId, ip }: ForgetLimitsInput): Promise<void> {
    return this.uow.write(async (tx) => {
      await tx.realms.get(realmId);
      const user = userId === null ? null : await tx.users.find(realmId, userId);
      if (userId !== null && !user) throw new DomainError('UNKNOWN_USER', 'No such user');
      const event = { type: 'realm.limits_forgotten', userId, email: user?.email ?? null, ip } as const;
      await tx.events.append(realmId, { event, audience: nobody });
    });
  }
}
