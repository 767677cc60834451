import type { DeliveryFeatures } from './delivery.js';
import { DomainError } from './errors.js';
import type { EphemeralAnnouncement, EphemeralEvents } from './event.js';
import { EventCache } from './event-cache.js';
import type { EventCatalogue, EventListener, StoredEvent, UnreadableEvent } from './event-log.js';
import {
  type EventQueue,
  firstPositionOf,
  type QueueKey,
  type QueuePosition,
  type ServedQueues,
  seqOf,
} from './event-queue.js';
import type { EventSeq, MessageId, RealmId, UserId } from './ids.js';
import { LiveQueue } from './live-queue.js';
import { LiveRealms } from './live-realm.js';
import type { LogFollower } from './log-follower.js';
import type { Clock, EventLoop, ReportProblem } from './ports.js';
import { QueueReader, type TakeDelivery } from './queue-reader.js';
import type { UnitOfWork } from './unit-of-work.js';

export interface EventHubParts {
  readonly uow: UnitOfWork;
  readonly follower: LogFollower;
  readonly clock: Clock;
  readonly eventLoop: EventLoop;
  readonly catalogue: EventCatalogue;
  readonly features: DeliveryFeatures;
  readonly report: ReportProblem;
}

export interface EventHubOptions {
  /** A queue that is so many events behind its realm ends. */
  readonly maxEventsBehind: number;
  /** Of the decoded events that are cached for all queues together, about. */
  readonly cacheBytes: number;
}

export const DEFAULT_HUB_OPTIONS: EventHubOptions = { maxEventsBehind: 20_000, cacheBytes: 24 * 1024 * 1024 };

/** A queue that is being loaded. */
interface QueueSnapshot {
  readonly id: string;
  /** Its row was removed meanwhile. */
  isVoid: boolean;
}

/**
 * Brings events to the queues that are polled. Every queue reads the log through one cache of decoded events, as its client
 * reads on; one that has read to the end, as a new one has, is up to date, and from there on gets events as they are committed.
 * Queues that nobody polls cost nothing but their row, soon.
 */
export class EventHub implements EventListener, ServedQueues, EphemeralEvents {
  private readonly queues = new Map<string, LiveQueue>();
  private readonly byOwner = new Map<UserId, Set<LiveQueue>>();
  /** By owner and id. */
  private readonly opening = new Map<string, QueueSnapshot & { readonly live: Promise<LiveQueue> }>();
  private readonly cache: EventCache;
  private readonly realms: LiveRealms;
  private readonly reader: QueueReader;

  constructor(
    private readonly parts: EventHubParts,
    private readonly options: EventHubOptions = DEFAULT_HUB_OPTIONS,
  ) {
    this.cache = new EventCache(parts.uow, options.cacheBytes);
    this.realms = new LiveRealms({
      ...parts,
      onUnfit: (live, { type, seq }, err) => this.fail(live, type, seq, err),
      onSignedOut: (userId) => this.forgetUser(userId),
    });
    this.reader = new QueueReader({
      ...parts,
      cache: this.cache,
      realms: this.realms,
      maxEventsBehind: options.maxEventsBehind,
      fail: (live, { type, seq }, err) => this.fail(live, type, seq, err),
      expire: (live) => this.end(live),
      takePosition: (live) => this.takeUnloggedPosition(live),
    });
  }

  onEvents(events: readonly StoredEvent[]): void {
    for (const event of events) {
      const realm = this.realms.get(event.realmId);
      if (!realm) continue;
      this.cache.add(event);
      realm.take(event);
    }
  }

  /** What it changed is unknown, so every queue of the realm reads the log to see whether it is concerned. */
  onUnreadable({ realmId, seq, reason }: UnreadableEvent): void {
    this.parts.report('an event of the log cannot be read', { realmId, seq, reason });
    this.realms.drop(realmId, seq);
  }

  onBlanked(realmId: RealmId, messageIds: readonly MessageId[]): void {
    this.cache.blank(realmId, messageIds);
  }

  /** Another process may have changed what the log quotes. */
  onWrittenElsewhere(realmId: RealmId): void {
    this.cache.forget(realmId);
  }

  /** What was committed since it was registered stays for its client's first poll, which also learns of any failure. */
  async admit(queue: EventQueue): Promise<void> {
    const live = this.add(new LiveQueue(queue, this.parts.clock.now()));
    await this.reader
      .read(live, () => 'left')
      .catch((err: unknown) => {
        if (live.isClosed) return;
        this.forget(live);
        this.parts.report('a new event queue is not read before its first poll', { queueId: queue.id, err });
      });
  }

  /** To live queues only: an ephemeral event is not stored, so queues that are opened later do not get it. */
  publishEphemeral(realmId: RealmId, announcement: EphemeralAnnouncement): void {
    this.realms.get(realmId)?.takeEphemeral(announcement, this.parts.clock.now());
  }

  /**
   * The queue, to be read. `cursor` is the last position that its client says it has processed: the stored one may be a minute
   * old. @throws DomainError UNKNOWN_EVENT_QUEUE when it is unknown, expired or another user's.
   */
  async open(realmId: RealmId, ownerId: UserId, id: string, cursor = -1): Promise<LiveQueue> {
    const known = this.queues.get(id);
    if (known) {
      const isTheirs = known.queue.realmId === realmId && known.queue.ownerId === ownerId;
      if (!isTheirs || known.isClosed) throw queueNotFound(id);
      return known;
    }
    const key = `${realmId}:${ownerId}:${id}`;
    const running = this.opening.get(key);
    // Opening that failed with another cursor may succeed with this one.
    if (running) return running.live.catch(() => this.open(realmId, ownerId, id, cursor));
    const opening: QueueSnapshot = { id, isVoid: false };
    const live = this.activateQueue(realmId, ownerId, opening, cursor).finally(() => this.opening.delete(key));
    this.opening.set(key, Object.assign(opening, { live }));
    return live;
  }

  /**
   * The client has processed everything up to `position`; -1: nothing yet.
   * @throws DomainError EVENTS_PRUNED, UNKNOWN_EVENT for a position that was given up or never given (events §6.2 rows 4–5).
   */
  async acknowledge(live: LiveQueue, position: number): Promise<void> {
    if (position < live.acked)
      throw new DomainError('EVENTS_PRUNED', `An event newer than ${position} has already been pruned!`);
    if (position !== -1) {
      const { follower } = this.parts;
      const { realmId, startSeq } = live.queue;
      const isBeyond = () => seqOf(position) > follower.lastSeqOf(realmId);
      // Another process may have sent an event that this one has not read yet.
      if (isBeyond()) await follower.fill(realmId);
      if (position < firstPositionOf(startSeq) || isBeyond()) {
        throw new DomainError('UNKNOWN_EVENT', `Event ${position} was not in this queue`);
      }
    }
    live.acknowledge(position, this.parts.clock.now());
  }

  /**
   * Hands over what is due to the queue, in order, where that takes no look-up; false: it takes one, and nothing was handed
   * over. @throws DomainError UNKNOWN_EVENT_QUEUE when the queue cannot go on, so that its client registers again
   */
  readNow(live: LiveQueue, take: TakeDelivery): boolean {
    return this.reader.readNow(live, take);
  }

  /** The same with any look-ups. A queue that has nothing left to hand over is up to date afterwards. */
  read(live: LiveQueue, take: TakeDelivery): Promise<void> {
    return this.reader.read(live, take);
  }

  /**
   * A position for what is not logged, such as a heartbeat; strictly between the events before and after it. When the
   * present row of the log has no more of them, an empty row is added.
   */
  async takeUnloggedPosition(live: LiveQueue): Promise<number> {
    for (;;) {
      const position = live.nextUnloggedPosition();
      if (position !== null) {
        live.lastGiven = position;
        return position;
      }
      const seq = await this.parts.uow.write((tx) =>
        tx.events.append(live.queue.realmId, { event: { type: 'blank' }, audience: { kind: 'nobody' } }),
      );
      live.lastGiven = Math.max(live.lastGiven, firstPositionOf(seq));
    }
  }

  /** Ends a queue; whoever waits for it is answered first. @throws DomainError UNKNOWN_EVENT_QUEUE */
  async remove(realmId: RealmId, ownerId: UserId, id: string): Promise<void> {
    await this.parts.uow.write(async (tx) => {
      const queue = await tx.queues.find(realmId, id);
      if (!queue || queue.ownerId !== ownerId) throw queueNotFound(id);
      await tx.queues.remove(realmId, [id]);
    });
    this.forgetRemoved([{ realmId, id }]);
  }

  /** Ends it; its client registers again. Returns the refusal for the present poll. */
  failQueue(live: LiveQueue, reason: string): DomainError {
    const { id, realmId } = live.queue;
    this.parts.report('an event queue is given up', { realmId, queueId: id, reason });
    return this.end(live);
  }

  /** Those that this process knows. */
  get knownQueues(): readonly LiveQueue[] {
    return [...this.queues.values()];
  }

  /** The position of a queue that is to be stored; null: it is stored already. */
  unsavedPositionOf(live: LiveQueue): QueuePosition | null {
    return live.unsavedPosition(this.realms.get(live.queue.realmId)?.lastSeq ?? NEVER);
  }

  lastPolled(ownerId: UserId): ReadonlyMap<string, number> {
    const queues = this.byOwner.get(ownerId) ?? [];
    return new Map(
      [...queues].map((live) => [live.queue.id, live.isWaitedFor ? Number.POSITIVE_INFINITY : live.lastPolledAt]),
    );
  }

  /** Their rows are gone: whoever waits is answered, and nobody reads them any more. */
  forgetRemoved(keys: readonly QueueKey[]): void {
    const ids = new Set(keys.map(({ id }) => id));
    for (const opening of this.opening.values()) if (ids.has(opening.id)) opening.isVoid = true;
    for (const id of ids) {
      const live = this.queues.get(id);
      if (!live) continue;
      live.close();
      this.forget(live);
    }
  }

  /** Removes it from memory unless it is in use; its row stays. */
  deactivateQueue(live: LiveQueue): void {
    if (!live.isWaitedFor && !this.reader.isReading(live)) this.forget(live);
  }

  /** Wakes all waiting polls, so that the process can end. */
  close(): void {
    for (const live of this.knownQueues) {
      live.close();
      this.forget(live);
    }
  }

  private async activateQueue(
    realmId: RealmId,
    ownerId: UserId,
    opening: QueueSnapshot,
    cursor: number,
  ): Promise<LiveQueue> {
    const { uow, clock, report } = this.parts;
    const { id } = opening;
    const found = await uow.read(async ({ queues, events, users }) => {
      const queue = await queues.find(realmId, id);
      if (!queue || queue.ownerId !== ownerId || !(await users.find(realmId, ownerId))?.isActive) return null;
      const lastSeq = await events.lastSeq(realmId);
      return { queue, lastSeq, prunedUpTo: await events.prunedUpTo(realmId) };
    });
    if (!found) throw queueNotFound(id);
    const { queue, lastSeq, prunedUpTo } = found;
    if ('reason' in queue) {
      report('a stored event queue cannot be read', { realmId, queueId: id, reason: queue.reason });
      await uow.write((tx) => tx.queues.remove(realmId, [id]));
      throw queueNotFound(id);
    }
    // A position that was never sent is refused later, and must not lose the queue any events.
    const isGiven = cursor >= queue.acked && seqOf(cursor) >= queue.startSeq && seqOf(cursor) <= lastSeq;
    // One row may be several events, of which the client has had the first ones.
    const floorSeq = (isGiven ? Math.max(queue.floorSeq, seqOf(cursor) - 1) : queue.floorSeq) as EventSeq;
    const isLost = prunedUpTo > floorSeq || lastSeq - floorSeq > this.options.maxEventsBehind;
    if (isLost || opening.isVoid) throw queueNotFound(id);
    return this.add(new LiveQueue(queue, clock.now(), { acked: isGiven ? cursor : queue.acked, floorSeq }));
  }

  private add(live: LiveQueue): LiveQueue {
    const { id, ownerId } = live.queue;
    this.queues.set(id, live);
    const others = this.byOwner.get(ownerId);
    if (others) others.add(live);
    else this.byOwner.set(ownerId, new Set([live]));
    return live;
  }

  /** An event that cannot be delivered ends one queue. */
  private fail(live: LiveQueue, eventType: string, seq: EventSeq | null, err: unknown): DomainError {
    const { id, realmId } = live.queue;
    if (!live.isClosed) {
      this.parts.report('an event cannot be delivered, so its queue ends', {
        realmId,
        queueId: id,
        seq,
        eventType,
        err,
      });
    }
    return this.end(live);
  }

  /** Its client finds it gone and registers again. The row goes in its own time; until then it is known to be closed. */
  private end(live: LiveQueue): DomainError {
    const { id, realmId } = live.queue;
    if (!live.isClosed) {
      live.close('failed');
      this.realms.leave(live);
      this.removeRow(live).catch((err: unknown) =>
        this.parts.report('an event queue that ended cannot be removed', { realmId, queueId: id, err }),
      );
    }
    return queueNotFound(id);
  }

  private async removeRow(live: LiveQueue): Promise<void> {
    const { realmId, id } = live.queue;
    await this.parts.uow.write((tx) => tx.queues.remove(realmId, [id]));
    this.forget(live);
  }

  private forgetUser(userId: UserId): void {
    for (const live of [...(this.byOwner.get(userId) ?? [])]) {
      live.close();
      this.forget(live);
    }
  }

  private forget(live: LiveQueue): void {
    const { id, ownerId } = live.queue;
    if (this.queues.get(id) !== live) return;
    this.queues.delete(id);
    this.realms.leave(live);
    const others = this.byOwner.get(ownerId);
    others?.delete(live);
    if (others?.size === 0) this.byOwner.delete(ownerId);
  }
}

/** Before the first event; queues that are behind report their position themselves. */
const NEVER = 0 as EventSeq;

export const queueNotFound = (queueId: string): DomainError =>
  new DomainError('UNKNOWN_EVENT_QUEUE', `Bad event queue ID: ${queueId}`, { queueId });
