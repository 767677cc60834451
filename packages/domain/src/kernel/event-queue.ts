import { DomainError } from './errors.js';
import type { EventSeq, RealmId, UnixSeconds, UserId } from './ids.js';
import { utf8Length } from './text.js';

/**
 * A client's cursor over its realm's log. Positions in answers to clients are `seq × 1024 + n`: n numbers what one log
 * row became on the wire, and ephemeral events (architecture §4).
 */
export interface EventQueue {
  /** UUID. */
  readonly id: string;
  readonly realmId: RealmId;
  readonly ownerId: UserId;
  readonly filter: QueueFilter;
  /** Which events the client wants, and how it wants them presented: the adapter's own words, kept with the queue. */
  readonly presentation: Readonly<Record<string, unknown>>;
  /** The state the client was given at registration holds everything up to it. */
  readonly startSeq: EventSeq;
  /** The last position the client has confirmed; -1: none. */
  readonly acked: number;
  /** Every event up to it was confirmed, or did not concern the queue. */
  readonly floorSeq: EventSeq;
  readonly lastPolledAt: UnixSeconds;
  readonly idleTimeoutSeconds: number;
}

export interface QueueFilter {
  /** Messages of every public channel, followed or not. */
  readonly allPublicChannels: boolean;
  /** Only messages that match all of these are delivered; other events are not affected. */
  readonly narrow: readonly QueueNarrowTerm[];
}

/** As the client put it; operators with a `queueCondition` (messages/narrow-operators.ts) are supported. */
export interface QueueNarrowTerm {
  readonly operator: string;
  readonly operand: string;
}

export const POSITIONS_PER_SEQ = 1024;

export const seqOf = (position: number): EventSeq => Math.floor(position / POSITIONS_PER_SEQ) as EventSeq;
export const firstPositionOf = (seq: EventSeq): number => seq * POSITIONS_PER_SEQ;

/** The idle time of queues, after which they expire (events §6.1). */
export const DEFAULT_IDLE_SECONDS = 600;
export const MAX_IDLE_SECONDS = 604_800;

/** The idle time asked for, within the contract's bounds; null and what is not positive mean the default. */
export const idleTimeoutFrom = (wanted: number | null): number =>
  wanted === null || !(wanted > 0) ? DEFAULT_IDLE_SECONDS : Math.min(Math.ceil(wanted), MAX_IDLE_SECONDS);

/** With one more, the one that was polled least recently expires. */
export const MAX_QUEUES_PER_USER = 100;

/** Filter and presentation as JSON; both are read for every event. */
const MAX_FILTER_BYTES = 8192;

/** @throws DomainError EVENT_QUEUE_FILTER_TOO_LONG for a filter that is too long to keep. */
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

/** A stored queue that this version cannot read. */
export interface UnreadableQueue {
  readonly id: string;
  readonly ownerId: UserId;
  /** For operators; quotes nothing of the row. */
  readonly reason: string;
}

export interface QueueKey {
  readonly realmId: RealmId;
  readonly id: string;
}

/** What is known of the queues in this process beyond their rows. */
export interface ServedQueues {
  /** When the user's queues were polled last; infinite while a poll waits. Queues that were not polled here are absent. */
  lastPolled(ownerId: UserId): ReadonlyMap<string, number>;
  /** Their rows are gone: waiting polls are answered, and the queues leave memory. */
  forgetRemoved(keys: readonly QueueKey[]): void;
  /** It was just added, and gets what is not logged from now on, as if it had been polled. */
  admit(queue: EventQueue): Promise<void>;
}

export interface EventQueueReads {
  /** Null when the realm has none of this id. */
  find(realmId: RealmId, id: string): Promise<EventQueue | UnreadableQueue | null>;
  /** The user's, the one that was polled least recently first. */
  listOf(realmId: RealmId, ownerId: UserId): Promise<readonly Pick<QueuePosition, 'id' | 'lastPolledAt'>[]>;
  /** The lowest `floorSeq` of the realm's queues; null when it has none. */
  lowestFloor(realmId: RealmId): Promise<EventSeq | null>;
}

export interface Expiry {
  readonly now: UnixSeconds;
  /** Idle time before it does not count: the server was down. */
  readonly servedSince: UnixSeconds;
  /** Polls wait for these. */
  readonly except: readonly string[];
}

/**
 * Every implementation passes event-queue-repository.contract.ts. Removing many reads nothing of them but their
 * positions, so that a damaged row is removed like any other.
 */
export interface EventQueueRepository extends EventQueueReads {
  add(queue: EventQueue): Promise<void>;
  /** Idempotent. */
  remove(realmId: RealmId, ids: readonly string[]): Promise<void>;
  removeOfUser(realmId: RealmId, ownerId: UserId): Promise<void>;
  /** At most `limit` of those, of any realm, that nobody has polled for as long as they live. Returns which. */
  removeIdle(expiry: Expiry, limit: number): Promise<readonly QueueKey[]>;
  /** At most `limit` of the realm's queues whose `floorSeq` is below this one. Returns which. */
  removeBehind(realmId: RealmId, floorSeq: number, limit: number): Promise<readonly QueueKey[]>;
  /** Queues that are gone meanwhile are skipped. */
  savePositions(realmId: RealmId, positions: readonly QueuePosition[]): Promise<void>;
}

declare module './unit-of-work.js' {
  interface RepositoryMap {
    queues: [reads: EventQueueReads, repository: EventQueueRepository];
  }
}

/**
 * Ascending ids as the differences between them: a thousand take a few hundred bytes instead of eight thousand. A negative
 * number says how many more times the difference before it follows.
 */
export interface PackedIds {
  readonly steps: readonly number[];
}

/** More than any event names; a damaged count would fill the memory. */
const MOST_IDS = 10_000_000;
/** Shorter lists are as short as they are. */
const WORTHWHILE = 16;

/** The list itself where it is short, or does not ascend. */
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

/** Null where the text was damaged. */
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
