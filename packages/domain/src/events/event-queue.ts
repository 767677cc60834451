import type { EventSeq, RealmId, UnixSeconds, UserId } from '../shared/ids.js';

/**
 * A client's cursor over its realm's log. Positions in answers to clients are `seq × 1024 + n`: n numbers what one log
 * row became on the wire, and what is not logged at all (architecture §4).
 */
export interface EventQueue {
  /** UUID. */
  readonly id: string;
  readonly realmId: RealmId;
  readonly ownerId: UserId;
  readonly filter: QueueFilter;
  /** How the client wants events presented; the adapter's own words, kept with the queue. */
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
  /** Names of event types as the API spells them; null: all. */
  readonly types: readonly string[] | null;
  /** Messages of every public channel, followed or not. */
  readonly allPublicChannels: boolean;
  /** Only messages that match all of these are delivered; other events are not affected. */
  readonly narrow: readonly QueueNarrowTerm[];
}

/** As the client put it; which operators there are is told by their `queueCondition` (messages/narrow-operators.ts). */
export interface QueueNarrowTerm {
  readonly operator: string;
  readonly operand: string;
}

export const POSITIONS_PER_SEQ = 1024;

export interface QueuePosition {
  readonly id: string;
  readonly acked: number;
  readonly floorSeq: EventSeq;
  readonly lastPolledAt: UnixSeconds;
}

export interface EventQueueReads {
  find(realmId: RealmId, id: string): Promise<EventQueue | null>;
  /** Of all realms. */
  listAll(): Promise<readonly EventQueue[]>;
}

/** Every implementation passes event-queue-repository.contract.ts. */
export interface EventQueueRepository extends EventQueueReads {
  add(queue: EventQueue): Promise<void>;
  /** Idempotent. */
  remove(realmId: RealmId, ids: readonly string[]): Promise<void>;
  removeOfUser(realmId: RealmId, ownerId: UserId): Promise<void>;
  /** Queues that are gone meanwhile are skipped. */
  savePositions(realmId: RealmId, positions: readonly QueuePosition[]): Promise<void>;
}
