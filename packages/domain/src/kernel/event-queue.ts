import { DomainError } from './errors.js';
import type { EventSeq, RealmId, UnixSeconds, UserId } from './ids.js';
import { utf8Length } from './text.js';

/**
 * Cursor of a client in its realm's log. Positions sent to clients are `seq × 1024 + n`, where n numbers the wire
 * events of a log row and ephemeral events (architecture §4).
 */
export interface EventQueue {
  /** UUID. */
  readonly id: string;
  readonly realmId: RealmId;
  readonly ownerId: UserId;
  readonly filter: QueueFilter;
  /** Wanted events and their presentation, defined by the adapter and opaque to the domain. */
  readonly presentation: Readonly<Record<string, unknown>>;
  /** Last event included in the state sent at registration. */
  readonly startSeq: EventSeq;
  /** Last position confirmed by the client; -1 if none. */
  readonly acked: number;
  /** Event up to which all events were confirmed or do not concern the queue. */
  readonly floorSeq: EventSeq;
  readonly lastPolledAt: UnixSeconds;
  readonly idleTimeoutSeconds: number;
}

export interface QueueFilter {
  /** True if the queue includes messages of all public channels, subscribed or not. */
  readonly allPublicChannels: boolean;
  /** Limits messages to those that match all terms; other events are not affected. */
  readonly narrow: readonly QueueNarrowTerm[];
}

/** Term as sent by the client. Operators with a `queueCondition` (messages/narrow-operators.ts) are supported. */
export interface QueueNarrowTerm {
  readonly operator: string;
  readonly operand: string;
}

export const POSITIONS_PER_SEQ = 1024;

export const seqOf = (position: number): EventSeq => Math.floor(position / POSITIONS_PER_SEQ) as EventSeq;
export const firstPositionOf = (seq: EventSeq): number => seq * POSITIONS_PER_SEQ;

/** Idle time after which queues expire (events §6.1). */
export const DEFAULT_IDLE_SECONDS = 600;
export const MAX_IDLE_SECONDS = 604_800;

/** Clamps the requested idle time to the contract's bounds; null or a non-positive value selects the default. */
export const idleTimeoutFrom = (wanted: number | null): number =>
  wanted === null || !(wanted > 0) ? DEFAULT_IDLE_SECONDS : Math.min(Math.ceil(wanted), MAX_IDLE_SECONDS);

/** Number of queues per user; opening another one expires the least recently polled queue. */
export const MAX_QUEUES_PER_USER = 100;

/** Maximum JSON size of filter and presentation, because both are read for every event. */
const MAX_FILTER_BYTES = 8192;

/** @throws DomainError EVENT_QUEUE_FILTER_TOO_LONG if the filter exceeds the limit */
export function checkFilterSize({ filter, presentation }: Pick<EventQueue, 'filter' | 'presentation'>): void {
  if (utf8Length(JSON.stringify(filter)) + utf8Length(JSON.stringify(presentation)) > MAX_FILTER_BYTES) {
    throw new DomainError(
      'EVENT_QUEUE_FILTER_TOO_LONG',
      `Event queue filter is too long (limit: ${MAX_FILTER_BYTES} bytes)`,
    );
  }
}

export interface QueuePosition {
  readonly id: string;
  readonly acked: number;
  readonly floorSeq: EventSeq;
  readonly lastPolledAt: UnixSeconds;
}

/** Stored queue that this version cannot read. */
export interface UnreadableQueue {
  readonly id: string;
  readonly ownerId: UserId;
  /** Reason for operators, without content of the row. */
  readonly reason: string;
}

/** Ids of queues, which prove later that the log reached the event at which the queue was registered. */
export interface QueueIds {
  /** New UUID. */
  make(realmId: RealmId, startSeq: EventSeq): string;
  /** Returns -1 for an id that was not made for this organization and database. */
  startOf(realmId: RealmId, id: string): number;
}

export interface QueueKey {
  readonly realmId: RealmId;
  readonly id: string;
}

/** Queue that was removed. */
export interface EndedQueue extends QueueKey {
  readonly ownerId: UserId;
  readonly lastPolledAt: UnixSeconds;
  /** Null if it cannot be read. */
  readonly presentation: EventQueue['presentation'] | null;
}

/** Logged events about queues, for features that follow the log. */
export interface QueueEventTypes {
  /** The user's last queue that receives messages has ended. It was last polled at `since`. */
  'queue.last_expired': { readonly userId: UserId; readonly since: UnixSeconds };
}

/** State of queues in this process, beyond their rows. */
export interface ServedQueues {
  /**
   * Returns the last poll time of each of the user's queues; infinite while a poll waits. Queues not polled in this
   * process are absent.
   */
  lastPolled(ownerId: UserId): ReadonlyMap<string, number>;
  /** Returns true if a queue of the user receives messages, on any server. */
  receivesMessages(realmId: RealmId, ownerId: UserId): Promise<boolean>;
  /** Removes deleted queues from memory and answers their waiting polls, on every server. */
  forgetRemoved(keys: readonly QueueKey[]): void;
  /** Opens a newly registered queue, which then receives ephemeral events as if it had been polled. */
  openNew(queue: EventQueue): Promise<void>;
}

export interface EventQueueReads {
  /** Returns null if the realm has no queue with this id. */
  find(realmId: RealmId, id: string): Promise<EventQueue | UnreadableQueue | null>;
  /** Returns the user's queues, least recently polled first. */
  listOf(realmId: RealmId, ownerId: UserId): Promise<readonly Pick<QueuePosition, 'id' | 'lastPolledAt'>[]>;
  /** Returns the lowest `floorSeq` of the realm's queues; null if there are none. */
  lowestFloor(realmId: RealmId): Promise<EventSeq | null>;
}

export interface Expiry {
  /** Expiry time: queues with an idle time that ended at this moment or earlier are removed. */
  readonly before: UnixSeconds;
  /** Server start; idle time before it does not count. */
  readonly servedSince: UnixSeconds;
}

/**
 * Every implementation passes event-queue-repository.contract.ts. Bulk removal reads only positions, so damaged rows
 * can be removed as well.
 */
export interface EventQueueRepository extends EventQueueReads {
  add(queue: EventQueue): Promise<void>;
  /** Idempotent. */
  remove(realmId: RealmId, ids: readonly string[]): Promise<void>;
  removeOfUser(realmId: RealmId, ownerId: UserId): Promise<void>;
  /** Polls that are too far in the future (`isDue`) count as polls at this time. */
  bringBack(now: UnixSeconds): Promise<void>;
  /** Removes at most `limit` queues with an expired idle time, of any realm. Returns the removed queues. */
  removeIdle(expiry: Expiry, limit: number): Promise<readonly EndedQueue[]>;
  /** Removes at most `limit` queues of the realm with a lower `floorSeq`. Returns the removed queues. */
  removeBehind(realmId: RealmId, floorSeq: number, limit: number): Promise<readonly EndedQueue[]>;
  /**
   * Stores positions, which only move forward, because several servers may store them. Returns the queues that no
   * longer exist.
   */
  savePositions(realmId: RealmId, positions: readonly QueuePosition[]): Promise<readonly string[]>;
}

declare module './feature-types.js' {
  interface DomainEventTypes extends QueueEventTypes {}
  interface RepositoryMap {
    queues: [reads: EventQueueReads, repository: EventQueueRepository];
  }
}

/** Ascending ids stored as differences. A negative number repeats the preceding difference that many more times. */
export interface PackedIds {
  readonly steps: readonly number[];
}

/** Limit above the size of any list in an event; prevents a damaged count from exhausting memory. */
const MOST_IDS = 10_000_000;
/** Minimum length for packing to pay off. */
const WORTHWHILE = 16;

/** Returns the list itself if it is short or not ascending. */
export function packIds(ids: readonly number[]): PackedIds | readonly number[] {
  if (ids.length < WORTHWHILE) return ids;
  const steps: number[] = [];
  let previous = 0;
  let repeats = 0;
  let latest = 0;
  for (const id of ids) {
    const step = id - previous;
    if (step <= 0) return ids;
    previous = id;
    if (step === latest) {
      repeats++;
      continue;
    }
    if (repeats > 0) steps.push(-repeats);
    repeats = 0;
    latest = step;
    steps.push(step);
  }
  if (repeats > 0) steps.push(-repeats);
  return { steps };
}

/** Returns null if the text is damaged. */
export function unpackIds(packed: unknown): number[] | null {
  const { steps } = (packed ?? {}) as Partial<PackedIds>;
  if (!Array.isArray(steps) || steps.some((step) => !Number.isSafeInteger(step))) return null;
  const ids: number[] = [];
  let id = 0;
  let latest = 0;
  for (const step of steps as number[]) {
    if (step > 0) latest = step;
    const times = step > 0 ? 1 : -step;
    if (ids.length + times > MOST_IDS) return null;
    for (let n = 0; n < times; n++) {
      id += latest;
      ids.push(id);
    }
  }
  return ids;
}
