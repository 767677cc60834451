import { DomainError } from './errors.js';
import type { EphemeralEvent } from './event.js';
import { type EventQueue, firstPositionOf, POSITIONS_PER_SEQ, type QueuePosition, seqOf } from './event-queue.js';
import type { EventSeq, UnixSeconds } from './ids.js';

declare const dueBrand: unique symbol;

/**
 * Due event as its first position, plus one if the owner is not a subscriber. Stored as a number, because returning
 * clients have thousands of them.
 */
export type DueEvent = number & { readonly [dueBrand]: true };

export const dueEvent = (seq: EventSeq, isNotSubscriber: boolean): DueEvent =>
  (firstPositionOf(seq) + (isNotSubscriber ? 1 : 0)) as DueEvent;

/** True if the owner sees a public event without having received its message; such a message has no flags. */
export const isForNonSubscriber = (due: DueEvent): boolean => due % POSITIONS_PER_SEQ === 1;

/** Due ephemeral event. */
export interface Ephemeral {
  readonly event: EphemeralEvent;
  readonly at: UnixSeconds;
}

/** Reason for waking a poll: an event, a newer poll, the end of the queue, or its end with a `failure`. */
export type WakeReason = 'event' | 'supplanted' | 'closed' | 'failed';
export type Waiter = (reason: WakeReason) => void;

/** Maximum number of due events. A queue with more starts lagging, and its next poll reads the log. */
const MAX_DUE = 200;
/**
 * Maximum number of ephemeral events between two polls; only the newest are kept, because they supersede earlier
 * ones.
 */
const MAX_EPHEMERALS = 50;
/** Maximum age of a delivered ephemeral event. */
const EPHEMERAL_SECONDS = 30;

/**
 * In-memory queue: a cursor and, while caught up, the numbers of due events. Events are not copied, so the memory of an
 * unread queue is bounded.
 */
export class LiveQueue {
  /** In ascending order. */
  private due: DueEvent[] = [];
  private ephemerals: Ephemeral[] = [];
  private waiter: Waiter | null = null;
  /** True if the waiter is a stream, which receives more events without acknowledging earlier ones. */
  private isStreamed = false;
  /** First event that a stream has sent and its client has not acknowledged; null if there is none. */
  private firstUnacked: EventSeq | null = null;
  /** Last position that a stream has sent. */
  private streamed = -1;
  private lost: { readonly after: EventSeq; readonly before: number } | null = null;
  /** Floor while lagging: all events up to it were confirmed or are not due. */
  private floorSeq: EventSeq;
  private saved: QueuePosition;
  /** True if due events after `floorSeq` must be read from the log. */
  isBehind = true;
  private end: 'closed' | DomainError | null = null;
  /** Number of times that events already passed became due again. Reads that began before know nothing of them. */
  rewinds = 0;
  acked: number;
  /** Last position sent to the client, logged or unlogged. */
  lastGiven: number;
  lastPolledAt: UnixSeconds;

  /** `acked` and `floorSeq` may be ahead of the stored values. */
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

  /** Due events; empty while lagging. */
  get dueEvents(): readonly DueEvent[] {
    return this.due;
  }

  get hasDeliveries(): boolean {
    return this.isBehind || this.due.length > 0 || this.ephemerals.length > 0;
  }

  get hasEphemerals(): boolean {
    return this.ephemerals.length > 0;
  }

  get isClosed(): boolean {
    return this.end !== null;
  }

  /** Error sent to the client when the queue failed; null if it has not failed. */
  get failure(): DomainError | null {
    return this.end instanceof DomainError ? this.end : null;
  }

  get isWaitedFor(): boolean {
    return this.waiter !== null;
  }

  push(due: DueEvent): void {
    if (this.isBehind) return;
    if (this.due.length >= MAX_DUE) {
      this.fallBehind(seqOf(due));
      return;
    }
    this.due.push(due);
    this.waiter?.('event');
  }

  /** Adds an ephemeral event, kept briefly and only while the queue is caught up. */
  pushEphemeral(ephemeral: Ephemeral): void {
    if (this.isBehind) return;
    if (this.ephemerals.length >= MAX_EPHEMERALS) this.ephemerals.shift();
    this.ephemerals.push(ephemeral);
    this.waiter?.('event');
  }

  /** Returns the ephemeral events that are recent enough; each is delivered once. */
  takeEphemerals(now: UnixSeconds): readonly Ephemeral[] {
    const taken = this.ephemerals.filter(({ at }) => now - at <= EPHEMERAL_SECONDS);
    this.ephemerals = [];
    return taken;
  }

  /** Makes the queue read the log, beginning with this event. */
  fallBehind(seq: EventSeq): void {
    if (this.isBehind) return;
    this.floorSeq = this.unsentFloor((seq - 1) as EventSeq);
    this.due = [];
    this.ephemerals = [];
    this.isBehind = true;
    this.waiter?.('event');
  }

  /** Rereads the log; events in this range are lost. */
  rewind(after: EventSeq, before: number): void {
    this.lost = { after, before };
    this.rewinds++;
    this.fallBehind((after + 1) as EventSeq);
    if (this.floorSeq > after) this.floorSeq = after;
  }

  /** Returns true if another server sent an event at this position that the log has lost. */
  isLost(position: number): boolean {
    return this.lost !== null && seqOf(position) > this.lost.after && seqOf(position) < this.lost.before;
  }

  /** Accepts the due events after a read of the whole log. Returns false if there are too many to hold. */
  catchUp(due: readonly DueEvent[]): boolean {
    if (due.length > MAX_DUE) return false;
    this.due = [...due];
    this.isBehind = false;
    return true;
  }

  /** Acknowledges everything up to the position, which may lie between the wire events of one row. */
  acknowledge(position: number, now: UnixSeconds): void {
    if (position !== -1) this.dropBefore(seqOf(position));
    this.acked = position;
    this.lastPolledAt = now;
    if (position >= this.streamed) this.firstUnacked = null;
    else if (this.firstUnacked !== null && seqOf(position) > this.firstUnacked) this.firstUnacked = seqOf(position);
  }

  /**
   * Records that a stream has sent all due events up to `position`. They stay in the log until they are acknowledged.
   * @param logged first and last logged event among them; null if all were ephemeral
   */
  markStreamed(position: number, logged: { readonly first: EventSeq; readonly last: EventSeq } | null): void {
    this.streamed = position;
    if (!logged) return;
    this.firstUnacked ??= logged.first;
    this.dropBefore((logged.last + 1) as EventSeq);
  }

  /** Drops due events before this one. */
  dropBefore(seq: EventSeq): void {
    const first = firstPositionOf(seq);
    let count = 0;
    while (count < this.due.length && this.due[count]! < first) count++;
    if (count > 0) this.due = this.due.slice(count);
    if (this.isBehind && seq - 1 > this.floorSeq) this.floorSeq = (seq - 1) as EventSeq;
  }

  /** Ends a stream, because another poll or stream begins, and makes its unacknowledged events due again. */
  endStream(): void {
    if (this.isStreamed) this.waiter?.('supplanted');
    if (this.firstUnacked === null) return;
    const first = this.firstUnacked;
    this.firstUnacked = null;
    this.rewinds++;
    this.fallBehind(first);
    if (this.floorSeq >= first) this.floorSeq = (first - 1) as EventSeq;
  }

  /** Registers the waiting poll or stream and wakes the one it replaces. Calls `wake` for each event. */
  waitFor(wake: Waiter, isStream = false): void {
    const former = this.waiter;
    this.endStream();
    this.waiter = wake;
    this.isStreamed = isStream;
    former?.('supplanted');
  }

  /** Stops waiting if this poll or stream is still registered. */
  stopWaiting(wake: Waiter): void {
    if (this.waiter === wake) this.waiter = null;
  }

  close(reason: 'closed' | DomainError = 'closed'): void {
    this.end = reason;
    this.waiter?.(reason instanceof DomainError ? 'failed' : reason);
  }

  /**
   * Returns the seq up to which all events were confirmed or are not due, given that everything up to `lastSeq` was
   * distributed.
   */
  floor(lastSeq: EventSeq): EventSeq {
    const floor = this.unsentFloor(lastSeq);
    return this.firstUnacked === null ? floor : (Math.min(floor, this.firstUnacked - 1) as EventSeq);
  }

  /** Returns the seq up to which all events were sent by a stream, confirmed, or are not due. */
  unsentFloor(lastSeq: EventSeq): EventSeq {
    if (this.isBehind) return this.floorSeq;
    const [first] = this.due;
    return first === undefined ? lastSeq : ((seqOf(first) - 1) as EventSeq);
  }

  /** Returns the current position. A waiting poll, and one from the future, counts as a poll at this moment. */
  position(lastSeq: EventSeq, now: UnixSeconds): QueuePosition {
    const { acked, queue } = this;
    const lastPolledAt = this.isWaitedFor ? now : Math.min(this.lastPolledAt, now);
    return { id: queue.id, acked, floorSeq: this.floor(lastSeq), lastPolledAt };
  }

  /** Returns the position to store, or null if it is unchanged. */
  unsavedPosition(lastSeq: EventSeq, now: UnixSeconds): QueuePosition | null {
    const { saved } = this;
    const position = this.position(lastSeq, now);
    const isSaved =
      position.acked === saved.acked &&
      position.floorSeq === saved.floorSeq &&
      position.lastPolledAt === saved.lastPolledAt;
    return isSaved ? null : position;
  }

  markSaved(position: QueuePosition): void {
    this.saved = position;
  }

  /** Returns a position for an ephemeral event after all sent positions, or null if the log row has none left. */
  nextUnloggedPosition(): number | null {
    const position = Math.max(this.lastGiven, this.acked) + 1;
    return position % POSITIONS_PER_SEQ >= MAX_UNLOGGED ? null : position;
  }
}

/** Limit that leaves some positions unused, so that a new row starts before this one is full. */
const MAX_UNLOGGED = 1000;
