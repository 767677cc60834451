import type { EphemeralEvent } from './event.js';
import { type EventQueue, firstPositionOf, POSITIONS_PER_SEQ, type QueuePosition, seqOf } from './event-queue.js';
import type { EventSeq, UnixSeconds } from './ids.js';

declare const dueBrand: unique symbol;

/**
 * An event of the log that is due to a queue: its first position, by one higher where the owner is no subscriber. A number, because
 * there are thousands of them for each client that returns.
 */
export type DueEvent = number & { readonly [dueBrand]: true };

export const dueEvent = (seq: EventSeq, isNotSubscriber: boolean): DueEvent =>
  (firstPositionOf(seq) + (isNotSubscriber ? 1 : 0)) as DueEvent;

/** Seen for being public, not for being received: a message then has no flags. */
export const isForNonSubscriber = (due: DueEvent): boolean => due % POSITIONS_PER_SEQ === 1;

/** An ephemeral event that is due. */
export interface Ephemeral {
  readonly event: EphemeralEvent;
  readonly at: UnixSeconds;
}

/**
 * Why a waiting poll is woken: there are events, another poll waits in its place, the queue has ended, or it has failed and
 * its client has to register again.
 */
export type WakeReason = 'event' | 'supplanted' | 'closed' | 'failed';
export type Waiter = (reason: WakeReason) => void;

/** With more the queue falls behind: what is due to it is read from the log by the next poll. */
const MAX_DUE = 200;
/** Of ephemeral events between two polls the newest are kept: they supersede the others. */
const MAX_EPHEMERALS = 50;
/** How old an ephemeral event may be when it is delivered. */
const EPHEMERAL_SECONDS = 30;

/**
 * A queue in memory: a cursor, and while it is up to date the numbers of the events due to it. It copies no events, so the
 * memory of a queue that nobody reads does not grow.
 */
export class LiveQueue {
  /** Ascending. */
  private due: DueEvent[] = [];
  private ephemerals: Ephemeral[] = [];
  private waiter: Waiter | null = null;
  /** While it is behind: every event up to it was confirmed, or is not due. */
  private floorSeq: EventSeq;
  private saved: QueuePosition;
  /** What is due to it after `floorSeq` is to be found in the log. */
  isBehind = true;
  private end: 'closed' | 'failed' | null = null;
  acked: number;
  /** The last position given to the client, logged or not. */
  lastGiven: number;
  lastPolledAt: UnixSeconds;

  /** `acked` and `floorSeq` may be further on than what is stored of them. */
  constructor(
    readonly queue: EventQueue,
    now: UnixSeconds,
    { acked, floorSeq }: Pick<EventQueue, 'acked' | 'floorSeq'> = queue,
  ) {
    this.acked = acked;
    this.floorSeq = floorSeq;
    this.lastGiven = Math.max(acked, firstPositionOf(queue.startSeq));
    this.lastPolledAt = now;
    this.saved = { id: queue.id, acked: queue.acked, floorSeq: queue.floorSeq, lastPolledAt: queue.lastPolledAt };
  }

  /** Empty while it is behind. */
  get dueEvents(): readonly DueEvent[] {
    return this.due;
  }

  get hasNews(): boolean {
    return this.isBehind || this.due.length > 0 || this.ephemerals.length > 0;
  }

  get hasEphemerals(): boolean {
    return this.ephemerals.length > 0;
  }

  get isClosed(): boolean {
    return this.end !== null;
  }

  /** It has failed: its client has to register again. */
  get hasFailed(): boolean {
    return this.end === 'failed';
  }

  get isWaitedFor(): boolean {
    return this.waiter !== null;
  }

  push(due: DueEvent): void {
    if (this.isBehind) return;
    if (this.due.length >= MAX_DUE) {
      this.markLagging(seqOf(due));
      return;
    }
    this.due.push(due);
    this.waiter?.('event');
  }

  /** Kept for a short time, and only while the queue is up to date. */
  pushEphemeral(ephemeral: Ephemeral): void {
    if (this.isBehind) return;
    if (this.ephemerals.length >= MAX_EPHEMERALS) this.ephemerals.shift();
    this.ephemerals.push(ephemeral);
    this.waiter?.('event');
  }

  /** Those that are not too old; each is delivered once. */
  takeEphemerals(now: UnixSeconds): readonly Ephemeral[] {
    const taken = this.ephemerals.filter(({ at }) => now - at <= EPHEMERAL_SECONDS);
    this.ephemerals = [];
    return taken;
  }

  /** From this event on, what is due to it has to be read from the log. */
  markLagging(seq: EventSeq): void {
    if (this.isBehind) return;
    this.floorSeq = this.floor((seq - 1) as EventSeq);
    this.due = [];
    this.ephemerals = [];
    this.isBehind = true;
    this.waiter?.('event');
  }

  /** The whole log has been read, and these events are due. False when they are more than it may keep. */
  catchUp(due: readonly DueEvent[]): boolean {
    if (due.length > MAX_DUE) return false;
    this.due = [...due];
    this.isBehind = false;
    return true;
  }

  /** Its client has processed everything up to the position, which may be in the middle of what one event became. */
  acknowledge(position: number, now: UnixSeconds): void {
    if (position !== -1) this.dropBefore(seqOf(position));
    this.acked = position;
    this.lastPolledAt = now;
  }

  /** Nothing before this event is due any more. */
  dropBefore(seq: EventSeq): void {
    const first = firstPositionOf(seq);
    let count = 0;
    while (count < this.due.length && this.due[count]! < first) count++;
    if (count > 0) this.due = this.due.slice(count);
    if (this.isBehind && seq - 1 > this.floorSeq) this.floorSeq = (seq - 1) as EventSeq;
  }

  /** One at a time: the poll that waited before is woken, since this one replaces it. `wake` is called for each event. */
  waitFor(wake: Waiter): void {
    const former = this.waiter;
    this.waiter = wake;
    former?.('supplanted');
  }

  /** Stops waiting, if this is still the waiting poll. */
  stopWaiting(wake: Waiter): void {
    if (this.waiter === wake) this.waiter = null;
  }

  close(reason: 'closed' | 'failed' = 'closed'): void {
    this.end = reason;
    this.waiter?.(reason);
  }

  /** Every event up to it was confirmed or is not due, when everything up to `head` has been distributed. */
  floor(lastSeq: EventSeq): EventSeq {
    if (this.isBehind) return this.floorSeq;
    const [first] = this.due;
    return first === undefined ? lastSeq : ((seqOf(first) - 1) as EventSeq);
  }

  position(lastSeq: EventSeq): QueuePosition {
    const { acked, lastPolledAt, queue } = this;
    return { id: queue.id, acked, floorSeq: this.floor(lastSeq), lastPolledAt };
  }

  /** What to store of it; null when nothing moved since the last time. */
  unsavedPosition(lastSeq: EventSeq): QueuePosition | null {
    const { saved } = this;
    const position = this.position(lastSeq);
    const isSaved =
      position.acked === saved.acked &&
      position.floorSeq === saved.floorSeq &&
      position.lastPolledAt === saved.lastPolledAt;
    return isSaved ? null : position;
  }

  markSaved(position: QueuePosition): void {
    this.saved = position;
  }

  /** A position for an ephemeral event: after all positions sent so far. Null: the row of the log has no more of them. */
  nextUnloggedPosition(): number | null {
    const position = Math.max(this.lastGiven, this.acked) + 1;
    return position % POSITIONS_PER_SEQ >= MAX_UNLOGGED ? null : position;
  }
}

/** Positions from here on stay free, so that a row is left before it is full. */
const MAX_UNLOGGED = 1000;
