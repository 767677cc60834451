import { declareErrors } from '../kernel/errors.js';
import { type Audience, wholeRealm } from '../kernel/event.js';
import type { RealmId, UnixSeconds, UserId } from '../kernel/ids.js';
import type { User } from './user.js';
import { accessorsOf } from './user-delivery.js';

/** What the operator decided about who learns when people are there (users §8.1, §8.5). */
export interface PresencePolicy {
  /** Guests who may not know everybody learn it of those whom they know; else of everybody. */
  readonly limitsToAccessors: boolean;
}

export const presenceAudience = ({ limitsToAccessors }: PresencePolicy, userId: UserId): Audience =>
  limitsToAccessors ? accessorsOf(userId) : wholeRealm;

export const PRESENCE_ERRORS = declareErrors({
  /** Bots have none. */
  NO_PRESENCE_OF_BOTS: 'conflict',
  /** The user has never been there, as far as they tell. */
  UNKNOWN_PRESENCE: 'unknown',
});

type PresenceErrors = typeof PRESENCE_ERRORS;

declare module '../kernel/errors.js' {
  interface ErrorCodes extends PresenceErrors {}
}

/** What clients report: that somebody uses them, or that they are merely open. */
export type PresenceStatus = 'active' | 'idle';

/** When somebody was there last, on whatever client (users §8). */
export interface Presence {
  readonly userId: UserId;
  /** When they last did something; null: never. */
  readonly lastActive: UnixSeconds | null;
  /** When a client of theirs was last open. */
  readonly lastConnected: UnixSeconds;
  /** Grows with every change within the organization: who has seen one has seen those before. */
  readonly updateId: number;
}

/** What reports change. */
export type PresenceTimes = Pick<Presence, 'lastActive' | 'lastConnected'>;

/** Reports that come sooner change nothing. */
const MIN_UPDATE_SECONDS = 55;
/** Who did nothing for longer comes online with the next thing they do. */
const ONLINE_SECONDS = 130;
/** So long after the last thing they did somebody still counts as active, in the old form. */
const ACTIVE_SECONDS = 70;
/** After which nobody counts as there. */
export const OFFLINE_SECONDS = 200;
/** What who does not want to be seen looks like: gone for so long, and a little longer. */
const INVISIBLE_SECONDS = OFFLINE_SECONDS + 120;

const isOlder = (time: UnixSeconds | null, now: UnixSeconds, seconds: number): boolean =>
  time === null || now - time > seconds;

/** After a report; null where it changes nothing (users §8.5). */
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

/** Whether others get a report at once (users §8.5). */
export const comesOnline = (before: PresenceTimes | null, status: PresenceStatus, now: UnixSeconds): boolean =>
  before === null || (status === 'active' && isOlder(before.lastActive, now, ONLINE_SECONDS));

/** Of somebody who has just decided whether others see when they are there (users §8.5). */
export const timesAfterSwitch = (isVisible: boolean, now: UnixSeconds): PresenceTimes =>
  isVisible ? { lastActive: now, lastConnected: now } : { lastActive: null, lastConnected: now - INVISIBLE_SECONDS };

/** In the old form: one status with its time. */
export function statusOf({ lastActive, lastConnected }: PresenceTimes): {
  readonly status: PresenceStatus;
  readonly timestamp: UnixSeconds;
} {
  return lastActive !== null && lastActive + ACTIVE_SECONDS >= lastConnected
    ? { status: 'active', timestamp: lastActive }
    : { status: 'idle', timestamp: lastConnected };
}

declare module '../kernel/unit-of-work.js' {
  interface RepositoryMap {
    presence: [reads: PresenceReads, repository: PresenceRepository];
  }
}

export interface PresenceReads {
  /** Of everybody who was ever there; ascending update id. */
  list(realmId: RealmId): Promise<readonly Presence[]>;
}

/** Every implementation passes presence-repository.contract.ts. */
export interface PresenceRepository extends PresenceReads {
  /** Each in place of what was stored of the user. */
  put(realmId: RealmId, presences: readonly Presence[]): Promise<void>;
  /** Answers the first of so many update ids that nobody had, and nobody gets again; they ascend from 1. */
  reserveIds(realmId: RealmId, count: number): Promise<number>;
}

export interface PresenceEventTypes {
  /** To everybody: somebody is there who was not. */
  'presence.came_online': { readonly user: User; readonly times: PresenceTimes; readonly at: UnixSeconds };
}

declare module '../kernel/event.js' {
  interface EphemeralEventTypes extends PresenceEventTypes {}
}
