import { hasPassed } from '../kernel/clock-watch.js';
import { declareErrors } from '../kernel/errors.js';
import { type Audience, wholeRealm } from '../kernel/event.js';
import type { PersonPart } from '../kernel/export-parts.js';
import type { RealmId, UnixSeconds, UserId } from '../kernel/ids.js';
import * as shape from '../kernel/shape.js';
import type { Repositories, Transaction } from '../kernel/unit-of-work.js';
import type { User } from './user.js';
import { accessorsOf } from './user-delivery.js';

/** Operator policy for presence visibility (users §8.1, §8.5). */
export interface PresencePolicy {
  /** True to show limited guests only the presence of users they can see; otherwise they see everyone's. */
  readonly limitsToAccessors: boolean;
}

export const presenceAudience = ({ limitsToAccessors }: PresencePolicy, userId: UserId): Audience =>
  limitsToAccessors ? accessorsOf(userId) : wholeRealm;

export const PRESENCE_ERRORS = declareErrors({
  /** Bots have no presence. */
  NO_PRESENCE_OF_BOTS: 'conflict',
  /** The user has never reported presence, or hides it. */
  UNKNOWN_PRESENCE: 'unknown',
});

type PresenceErrors = typeof PRESENCE_ERRORS;

/** Reported status: `active` while the user interacts, `idle` while a client is only open. */
export type PresenceStatus = 'active' | 'idle';

/** Last presence of a user on any client (users §8). */
export interface Presence {
  readonly userId: UserId;
  /** Time of the last activity; null if never. */
  readonly lastActive: UnixSeconds | null;
  /** Time at which a client was last open. */
  readonly lastConnected: UnixSeconds;
  /** Increases with every change in the realm, so a client that has one update also has all earlier ones. */
  readonly updateId: number;
}

/** Fields changed by reports. */
export type PresenceTimes = Pick<Presence, 'lastActive' | 'lastConnected'>;

/** Minimum time between updates; more frequent reports change nothing. */
const MIN_UPDATE_SECONDS = 55;
/** Inactivity after which the next activity counts as coming online. */
const ONLINE_SECONDS = 130;
/** Time after the last activity during which the legacy status is `active`. */
const ACTIVE_SECONDS = 70;
/** Time after which a user counts as offline. */
export const OFFLINE_SECONDS = 200;
/** Age of the presence shown for hidden users: a little beyond the offline limit. */
const INVISIBLE_SECONDS = OFFLINE_SECONDS + 120;

/** True for a time that is longer ago, or so far in the future that the clock was wrong. */
export const isOlder = (time: UnixSeconds | null, now: UnixSeconds, seconds: number): boolean =>
  time === null || hasPassed(time, seconds + 1, now);

/** Returns the times after a report; null if nothing changes (users §8.5). */
export function timesAfterReport(
  before: PresenceTimes | null,
  status: PresenceStatus,
  now: UnixSeconds,
): PresenceTimes | null {
  const isActive = status === 'active';
  if (!before) return { lastActive: isActive ? now : null, lastConnected: now };
  const lastActive = isActive && isOlder(before.lastActive, now, MIN_UPDATE_SECONDS) ? now : before.lastActive;
  const lastConnected = isOlder(before.lastConnected, now, MIN_UPDATE_SECONDS) ? now : before.lastConnected;
  const isSame = lastActive === before.lastActive && lastConnected === before.lastConnected;
  return isSame ? null : { lastActive, lastConnected };
}

/** True if the report must be published immediately (users §8.5). */
export const comesOnline = (before: PresenceTimes | null, status: PresenceStatus, now: UnixSeconds): boolean =>
  before === null || (status === 'active' && isOlder(before.lastActive, now, ONLINE_SECONDS));

/** Returns the times after a user changed the visibility of their presence (users §8.5). */
export const timesAfterSwitch = (isVisible: boolean, now: UnixSeconds): PresenceTimes =>
  isVisible ? { lastActive: now, lastConnected: now } : { lastActive: null, lastConnected: now - INVISIBLE_SECONDS };

/** Converts to the legacy form: one status with its time. */
export function statusOf({ lastActive, lastConnected }: PresenceTimes): {
  readonly status: PresenceStatus;
  readonly timestamp: UnixSeconds;
} {
  return lastActive !== null && lastActive + ACTIVE_SECONDS >= lastConnected
    ? { status: 'active', timestamp: lastActive }
    : { status: 'idle', timestamp: lastConnected };
}

export interface PresenceReads {
  /** Returns the presences with an update after `after`, by default all presences, by update id. */
  list(realmId: RealmId, after?: number): Promise<readonly Presence[]>;
}

/** Every implementation passes presence-repository.contract.ts. */
export interface PresenceRepository extends PresenceReads {
  /** Stores or replaces the presence of each user. */
  put(realmId: RealmId, presences: readonly Presence[]): Promise<void>;
  /** Reserves a block of update ids and returns the first. Ids ascend from 1 in commit order and are never reused. */
  reserveIds(realmId: RealmId, count: number): Promise<number>;
}

/** Stores the presence of one user as the newest update. */
export async function storePresence(
  tx: Transaction,
  realmId: RealmId,
  userId: UserId,
  times: PresenceTimes,
): Promise<void> {
  const updateId = await tx.presence.reserveIds(realmId, 1);
  await tx.presence.put(realmId, [{ ...times, userId, updateId }]);
}

export interface PresenceEventTypes {
  /** Sent to everyone when a user comes online. */
  'presence.came_online': { readonly user: User; readonly times: PresenceTimes; readonly at: UnixSeconds };
}

const loadPresences = async (reads: Repositories, realmId: RealmId) =>
  new Map((await reads.presence.list(realmId)).map((presence) => [presence.userId, presence]));

declare module '../kernel/feature-types.js' {
  interface ErrorCodes extends PresenceErrors {}
  interface RepositoryMap {
    presence: [reads: PresenceReads, repository: PresenceRepository];
  }
  interface EphemeralEventTypes extends PresenceEventTypes {}
  interface PersonCopyParts {
    readonly presence: PresenceTimes | null;
  }
}

const personPart: PersonPart<'presence'> = {
  none: { presence: null },
  shapes: {
    presence: shape.orNull(shape.object({ lastActive: shape.orNull(shape.time), lastConnected: shape.time })),
  },
  async read(reads, { userId }, covered) {
    const presence = (await covered.once(reads, loadPresences)).get(userId);
    return {
      presence: presence ? { lastActive: presence.lastActive, lastConnected: presence.lastConnected } : null,
    };
  },
  async add(tx, { realmId, userId }, { presence }) {
    if (presence) await storePresence(tx, realmId, userId, presence);
  },
};

export const PRESENCE_FEATURE = { personPart };
