import type { EventSeq, UnixSeconds } from '../shared/ids.js';
import type { StoredEvent } from './event-log.js';
import { type EventQueue, POSITIONS_PER_SEQ, type QueuePosition } from './event-queue.js';

/** An event on its way to one queue. */
export interface Delivery {
  readonly stored: StoredEvent;
  /** Seen for being public, not for being received: a message then has no flags. */
  readonly isBystander: boolean;
}

/** Why somebody who waits is woken: there is news, another waits in his place, or the queue has ended. */
export type WakeReason = 'event' | 'supplanted' | 'closed';
export type Waiter = (reason: WakeReason) => void;

/** Beyond that a queue nobody polls goes back to the log for what it missed. */
const MAX_PENDING = 2000;

/** A queue somebody polls: what waits for it is at hand, and whoever waits is woken. */
export class LiveQueue {
  /** Ascending seq. Shared objects: a queue costs a reference for each event. */
  private pending: Delivery[] = [];
  private waiter: Waiter | null = null;
  /** The last position given to the client, logged or not. */
  lastGiven: number;
  acked: number;
  lastPolledAt: UnixSeconds;
  isClosed = false;
  private overflowed = false;
  private saved: QueuePosition;

  constructor(
    readonly queue: EventQueue,
    now: UnixSeconds,
  ) {
    this.acked = queue.acked;
    this.lastGiven = Math.max(queue.acked, queue.startSeq * POSITIONS_PER_SEQ);
    this.lastPolledAt = now;
    this.saved = { id: queue.id, acked: queue.acked, floorSeq: queue.floorSeq, lastPolledAt: queue.lastPolledAt };
  }

  get deliveries(): readonly Delivery[] {
    return this.pending;
  }

  /** What it missed is in the log only; whoever polls next has to open it again. */
  get isBehind(): boolean {
    return this.overflowed;
  }

  get isWaitedFor(): boolean {
    return this.waiter !== null;
  }

  /** What it missed before it came to life, and up to where its client has confirmed what he got. */
  load(missed: readonly Delivery[], acked: number): void {
    this.pending = [...missed];
    this.acked = acked;
    this.lastGiven = Math.max(this.lastGiven, acked);
  }

  push(delivery: Delivery): void {
    if (this.overflowed) return;
    if (this.pending.length >= MAX_PENDING && this.waiter === null) {
      this.overflowed = true;
      return;
    }
    this.pending.push(delivery);
    this.waiter?.('event');
  }

  /** Events were lost on the way to it: whoever polls next gets them from the log. */
  fallBehind(): void {
    this.overflowed = true;
    this.waiter?.('closed');
  }

  /** Forgets what lies before this seq. */
  dropBefore(seq: number): void {
    let count = 0;
    while (count < this.pending.length && this.pending[count]!.stored.seq < seq) count++;
    if (count === this.pending.length) this.pending = [];
    else if (count > 0) this.pending = this.pending.slice(count);
  }

  /** One at a time: whoever waited before is told that another took his place. `wake` is called for each event. */
  waitFor(wake: Waiter): void {
    const former = this.waiter;
    this.waiter = wake;
    former?.('supplanted');
  }

  /** No longer waits, if it still is this one who does. */
  stopWaiting(wake: Waiter): void {
    if (this.waiter === wake) this.waiter = null;
  }

  close(): void {
    this.isClosed = true;
    this.waiter?.('closed');
  }

  /** Where it stands when everything up to `head` has been distributed. */
  floor(head: EventSeq): EventSeq {
    // What it missed is to be read again.
    if (this.overflowed) return this.saved.floorSeq;
    const [first] = this.pending;
    return (first ? first.stored.seq - 1 : head) as EventSeq;
  }

  /** What to store of it; null when nothing moved since the last time. */
  takePosition(head: EventSeq): QueuePosition | null {
    const { acked, lastPolledAt, queue, saved } = this;
    const position = { id: queue.id, acked, floorSeq: this.floor(head), lastPolledAt };
    if (position.acked === saved.acked && position.floorSeq === saved.floorSeq && lastPolledAt === saved.lastPolledAt) {
      return null;
    }
    this.saved = position;
    return position;
  }

  /** A position for what is not logged: after everything given so far. Null: the row of the log has no more of them. */
  nextUnloggedPosition(): number | null {
    const position = Math.max(this.lastGiven, this.acked) + 1;
    return position % POSITIONS_PER_SEQ >= MAX_UNLOGGED ? null : position;
  }
}

/** Positions from here on stay free, so that a row is left before it is full. */
const MAX_UNLOGGED = 1000;
