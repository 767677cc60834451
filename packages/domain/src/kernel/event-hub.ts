import { firstOf } from './work.js';
/*
 * Delivery of events
 *
 * A queue is a cursor over the log of its realm. Its row stores the cursor; `LiveQueue` is a queue in memory because its
 * client polls. A live queue is either behind or caught up. Delivery has three phases:
 *
 * 1. Replay. A queue that was just opened is behind. `QueueReader` reads the log from the cursor, page by page through
 *    one `EventCache`, and decides for each event whether it is due (`LogReplay`). New commits do not reach the queue.
 * 2. Cutover. At the end of the log, the queue joins the `RealmFanOut` of its realm and is caught up. It joins only if
 *    the fan-out is idle and has distributed exactly the events that the replay read. Otherwise an event would be lost
 *    or duplicated, so the replay continues.
 * 3. Fan-out. `LogFollower` merges the commits of all processes into one sequence per realm, without gaps or
 *    duplicates. `RealmFanOut` finds the online users in the audience of each event, and adds the event's number to
 *    their caught-up queues. This wakes the waiting poll, for which `QueueReader` loads the events from the cache.
 *
 * A queue falls behind again if it has too many due events or if the receivers of an event cannot be determined. It then
 * returns to phase 1. The next poll acknowledges events; until then, they are delivered again. `QueueSweep` stores the
 * cursors and removes unpolled queues, first from memory and later from storage.
 */

import type { Bus, BusHint } from './bus.js';
import type { DeliveryFeatures, SignedOut } from './delivery.js';
import { hasMessageQueue, publishLastEnded } from './ended-queues.js';
import { DomainError } from './errors.js';
import type { EphemeralAnnouncement, EphemeralEvents } from './event.js';
import { EventCache } from './event-cache.js';
import type { EventCatalogue, EventListener, StoredEvent, UnreadableEvent } from './event-log.js';
import {
  type EventQueue,
  firstPositionOf,
  type QueueIds,
  type QueueKey,
  type QueuePosition,
  type ServedQueues,
  seqOf,
} from './event-queue.js';
import type { EventSeq, MessageId, RealmId, UserId } from './ids.js';
import { LiveQueue, type Waiter } from './live-queue.js';
import type { LogFollower } from './log-follower.js';
import type { Clock, ReportProblem } from './ports.js';
import { QueueReader, type TakeDelivery } from './queue-reader.js';
import { RealmFanOuts } from './realm-fan-out.js';
import type { UnitOfWork } from './unit-of-work.js';
import type { EventLoop } from './yielding.js';

export interface EventHubParts {
  readonly uow: UnitOfWork;
  readonly follower: LogFollower;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly eventLoop: EventLoop;
  readonly catalogue: EventCatalogue;
  readonly features: DeliveryFeatures;
  readonly report: ReportProblem;
  readonly queueIds?: Pick<QueueIds, 'startOf'>;
  /** Lets ids and event numbers continue beyond those of a lost history. Returns the queues that it has removed. */
  readonly continueHistory?: (lostEvents: number) => Promise<readonly QueueKey[]>;
}

export interface EventHubOptions {
  /** Maximum number of events by which a queue may lag behind its realm before it ends. */
  readonly maxEventsBehind: number;
  /** Approximate size of the event cache shared by all queues. */
  readonly cacheBytes: number;
}

export const DEFAULT_HUB_OPTIONS: EventHubOptions = { maxEventsBehind: 20_000, cacheBytes: 24 * 1024 * 1024 };

/** Queue that is being loaded. */
interface QueueSnapshot {
  readonly id: string;
  /** True if its row was removed while loading. */
  isVoid: boolean;
}

/** Delivers events to polled queues. Entry point of delivery for the HTTP layer and for register. */
export class EventHub implements EventListener, ServedQueues, EphemeralEvents {
  private readonly queues = new Map<string, LiveQueue>();
  private readonly byOwner = new Map<UserId, Set<LiveQueue>>();
  /** Keyed by owner and id. */
  private readonly opening = new Map<string, QueueSnapshot & { readonly live: Promise<LiveQueue> }>();
  private readonly cache: EventCache;
  private readonly realms: RealmFanOuts;
  private readonly reader: QueueReader;

  constructor(
    private readonly parts: EventHubParts,
    private readonly options: EventHubOptions = DEFAULT_HUB_OPTIONS,
  ) {
    this.cache = new EventCache(parts.uow, options.cacheBytes);
    this.realms = new RealmFanOuts({
      ...parts,
      onUnfit: (live, { type, seq }, err) => this.fail(live, type, seq, err),
      onSignedOut: (signedOut) => this.signOut(signedOut),
    });
    this.reader = new QueueReader({
      ...parts,
      cache: this.cache,
      realms: this.realms,
      maxEventsBehind: options.maxEventsBehind,
      fail: (live, { type, seq }, err) => this.fail(live, type, seq, err),
      expire: (live, reason) => this.failQueue(live, reason),
      end: (live) => this.end(live),
      takePosition: (live) => this.takeUnloggedPosition(live),
    });
  }

  onEvents(events: readonly StoredEvent[]): void {
    for (const event of events) {
      if (event.event.type === 'blanked') this.forgetContent(event.realmId, event.event.messageIds);
      if (event.event.type === 'restarted') this.endBefore(event);
      const realm = this.realms.get(event.realmId);
      if (!realm) continue;
      this.cache.add(event);
      realm.take(event);
    }
  }

  /** Without messages, any event may have changed. */
  private forgetContent(realmId: RealmId, messageIds: readonly MessageId[]): void {
    if (messageIds.length > 0) this.cache.blank(realmId, messageIds);
    else this.cache.forget(realmId);
  }

  /** Ends the queues that were registered before the event. */
  private endBefore({ realmId, seq }: StoredEvent): void {
    for (const live of this.liveQueues) {
      if (live.queue.realmId === realmId && live.queue.startSeq < seq) this.end(live);
    }
  }

  /** Makes every queue of the realm read the log, because the change is unknown. */
  onUnreadable({ realmId, seq, reason, isNewer }: UnreadableEvent): void {
    if (!isNewer) this.parts.report('an event of the log cannot be read', { realmId, seq, reason });
    this.realms.drop(realmId, seq);
    this.cache.forget(realmId);
  }

  onHint(realmId: RealmId, hint: BusHint): void {
    if (hint.kind === 'queuesRemoved') this.closeRemoved(hint.ids);
    else if (hint.kind === 'ephemeral') this.realms.get(realmId)?.takeEphemeral(hint.announcement, hint.at);
  }

  holds(realmId: RealmId): boolean {
    return this.liveQueues.some(({ queue }) => queue.realmId === realmId);
  }

  onClosed(realmId: RealmId): void {
    this.cache.forget(realmId);
  }

  /** Ends queues with clients that received lost events; the other queues read the log again. */
  onForked(realmId: RealmId, after: EventSeq, before: number): void {
    this.realms.drop(realmId, (after + 1) as EventSeq);
    let ended = 0;
    for (const live of this.liveQueues) {
      if (live.queue.realmId !== realmId || live.isClosed) continue;
      const seq = seqOf(live.lastGiven);
      if (seq <= after) live.rewind(after, before);
      else if (seq < before) {
        this.end(live);
        ended++;
      }
    }
    if (ended > 0) {
      this.parts.report('the log has lost events: clients that know them register again', { realmId, after, ended });
    }
  }

  /** Opens a newly registered queue. Its events wait for the first poll, which also reports any failure. */
  async openNew(queue: EventQueue): Promise<void> {
    const live = this.add(new LiveQueue(queue, this.parts.clock.now()));
    await this.reader
      .read(live, () => 'left')
      .catch((err: unknown) => {
        if (live.isClosed) return;
        this.forget(live);
        this.parts.report('a new event queue is not read before its first poll', { queueId: queue.id, err });
      });
  }

  /**
   * Publishes an event to live queues on every server. Ephemeral events are not stored, so queues opened later miss
   * them.
   */
  publishEphemeral(realmId: RealmId, announcement: EphemeralAnnouncement): void {
    const at = this.parts.clock.now();
    this.realms.get(realmId)?.takeEphemeral(announcement, at);
    this.parts.bus.publish(realmId, { kind: 'ephemeral', announcement, at });
  }

  /**
   * Opens a queue for reading. `cursor` is the last position processed by the client, because the stored position may
   * be a minute old. @throws DomainError UNKNOWN_EVENT_QUEUE if the queue is unknown, expired or owned by another user
   */
  async open(realmId: RealmId, ownerId: UserId, id: string, cursor = -1): Promise<LiveQueue> {
    const existing = this.queues.get(id);
    if (existing) {
      const isTheirs = existing.queue.realmId === realmId && existing.queue.ownerId === ownerId;
      if (!isTheirs || existing.isClosed) throw queueNotFound(id);
      return existing;
    }
    const key = `${realmId}:${ownerId}:${id}`;
    const running = this.opening.get(key);
    // Opening with this cursor may succeed although opening with another one failed.
    if (running) return running.live.catch(() => this.open(realmId, ownerId, id, cursor));
    const opening: QueueSnapshot = { id, isVoid: false };
    const live = this.activateQueue(realmId, ownerId, opening, cursor).finally(() => this.opening.delete(key));
    this.opening.set(key, Object.assign(opening, { live }));
    return live;
  }

  /**
   * Acknowledges everything up to `position`; -1 means nothing yet.
   * @throws DomainError EVENTS_PRUNED, UNKNOWN_EVENT for a position that was pruned or never sent (events §6.2 rows
   * 4–5), UNKNOWN_EVENT_QUEUE if the log has lost the event
   */
  async acknowledge(live: LiveQueue, position: number): Promise<void> {
    const { follower } = this.parts;
    const { realmId, startSeq } = live.queue;
    const isBeyond = () => seqOf(position) > follower.lastSeqOf(realmId);
    // Another process may have sent an event that this process has not read yet.
    if (isBeyond()) await follower.fill(realmId);
    // A later poll may have acknowledged more during the read.
    if (live.isLost(position)) throw this.end(live);
    if (position < live.acked)
      throw new DomainError('EVENTS_PRUNED', `An event newer than ${position} has already been pruned!`);
    if (position !== -1 && (position < firstPositionOf(startSeq) || isBeyond())) {
      throw new DomainError('UNKNOWN_EVENT', `Event ${position} was not in this queue`);
    }
    live.acknowledge(position, this.parts.clock.now());
  }

  /** Resolves once this server's committed events have reached the queues that are open here. */
  async settled(realmId: RealmId): Promise<void> {
    await this.realms.get(realmId)?.settled();
  }

  /**
   * Delivers due events in order if no look-up is needed. Otherwise returns false without delivering anything.
   * @throws DomainError UNKNOWN_EVENT_QUEUE if the queue ended and its client must register again
   */
  readNow(live: LiveQueue, take: TakeDelivery): boolean {
    return this.reader.readNow(live, take);
  }

  /** Delivers due events after any look-ups. A queue without remaining events is then caught up. */
  read(live: LiveQueue, take: TakeDelivery): Promise<void> {
    return this.reader.read(live, take);
  }

  /**
   * Assigns a position to an unlogged event such as a heartbeat, strictly between the surrounding events. Appends a
   * blank row if the current row has no positions left.
   */
  async takeUnloggedPosition(live: LiveQueue): Promise<number> {
    for (;;) {
      const position = live.nextUnloggedPosition();
      if (position !== null) {
        live.lastGiven = position;
        return position;
      }
      const { realmId } = live.queue;
      let seq = 0 as EventSeq;
      await this.parts.uow.write(
        realmId,
        (tx) => tx.events.append(realmId, { event: { type: 'blank' }, audience: { kind: 'nobody' } }),
        { shared: { kind: 'queues' }, onCommit: ({ events }) => (seq = firstOf(events).seq) },
      );
      live.lastGiven = Math.max(live.lastGiven, firstPositionOf(seq));
    }
  }

  /** Ends a queue and its waiting poll. @throws DomainError UNKNOWN_EVENT_QUEUE */
  async remove(realmId: RealmId, ownerId: UserId, id: string): Promise<void> {
    await this.parts.uow.write(
      realmId,
      async (tx) => {
        const queue = await tx.queues.find(realmId, id);
        if (!queue || queue.ownerId !== ownerId) throw queueNotFound(id);
        await tx.queues.remove(realmId, [id]);
        if ('reason' in queue) return;
        const live = this.queues.get(id);
        const lastPolledAt = live?.isWaitedFor ? this.parts.clock.now() : (live ?? queue).lastPolledAt;
        await publishLastEnded(tx, [{ ...queue, lastPolledAt }], this.wantsMessages);
      },
      { shared: { kind: 'queues' } },
    );
    this.forgetRemoved([{ realmId, id }]);
  }

  /** Ends a queue and returns the error for the current poll. Its client must register again. */
  failQueue(live: LiveQueue, reason: string): DomainError {
    const { id, realmId } = live.queue;
    if (!live.isClosed) this.parts.report('an event queue was closed', { realmId, queueId: id, reason });
    return this.end(live);
  }

  /** Queues in the memory of this process. */
  get liveQueues(): readonly LiveQueue[] {
    return [...this.queues.values()];
  }

  /** Ends the wait of a stream. The idle time of its queue begins now, because a stream is a poll until its end. */
  endStream(live: LiveQueue, wake: Waiter): void {
    live.stopWaiting(wake);
    live.lastPolledAt = this.parts.clock.now();
  }

  /** Returns the queue position to store, or null if it is already stored. */
  unsavedPositionOf(live: LiveQueue): QueuePosition | null {
    return live.unsavedPosition(this.realms.get(live.queue.realmId)?.lastSeq ?? NEVER, this.parts.clock.now());
  }

  lastPolled(ownerId: UserId): ReadonlyMap<string, number> {
    const queues = this.byOwner.get(ownerId) ?? [];
    return new Map(
      [...queues].map((live) => [live.queue.id, live.isWaitedFor ? Number.POSITIVE_INFINITY : live.lastPolledAt]),
    );
  }

  async receivesMessages(realmId: RealmId, ownerId: UserId): Promise<boolean> {
    const live = [...(this.byOwner.get(ownerId) ?? [])];
    if (live.some(({ queue }) => this.wantsMessages(queue.presentation))) return true;
    // Other servers also poll queues.
    return this.parts.uow.read(realmId, (reads) => hasMessageQueue(reads, realmId, ownerId, this.wantsMessages));
  }

  /** True if queues with this presentation receive messages, so that these need not reach the user in another way. */
  readonly wantsMessages = (presentation: EventQueue['presentation']): boolean =>
    this.parts.catalogue.wants(presentation, 'message.sent') && this.parts.catalogue.isWhole(presentation);

  /** Closes queues with removed rows and answers their waiting polls, on every server. */
  forgetRemoved(keys: readonly QueueKey[]): void {
    const byRealm = new Map<RealmId, string[]>();
    for (const { realmId, id } of keys) byRealm.set(realmId, [...(byRealm.get(realmId) ?? []), id]);
    for (const [realmId, ids] of byRealm) {
      this.closeRemoved(ids);
      this.parts.bus.publish(realmId, { kind: 'queuesRemoved', ids });
    }
  }

  /** Closes queues with removed rows on this server. */
  closeRemoved(ids: readonly string[]): void {
    for (const opening of this.opening.values()) if (ids.includes(opening.id)) opening.isVoid = true;
    for (const id of ids) {
      const live = this.queues.get(id);
      if (!live) continue;
      live.close();
      this.forget(live);
    }
  }

  /** Removes an unused queue from memory and keeps its row. */
  deactivateQueue(live: LiveQueue): void {
    if (!live.isWaitedFor && !this.reader.isReading(live)) this.forget(live);
  }

  /** Wakes all waiting polls, so that the process can exit. */
  close(): void {
    for (const live of this.liveQueues) {
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
    const found = await uow.read(realmId, async ({ queues, events, users }) => {
      const queue = await queues.find(realmId, id);
      if (!queue || queue.ownerId !== ownerId || !(await users.find(realmId, ownerId))?.isActive) return null;
      const lastSeq = await events.lastSeq(realmId);
      const prunedUpTo = await events.prunedUpTo(realmId);
      const seq = seqOf(cursor);
      const isLost =
        seq > prunedUpTo &&
        seq < lastSeq &&
        (await events.listAfter(realmId, (seq - 1) as EventSeq, 1))[0]?.seq !== seq;
      return { queue, lastSeq, prunedUpTo, isLost };
    });
    if (!found) {
      await this.examineUnknown(realmId, id);
      throw queueNotFound(id);
    }
    const refuse = (reason: string) => {
      report('an event queue cannot be resumed', { realmId, queueId: id, cursor, reason });
      return queueNotFound(id);
    };
    if (found.isLost) throw refuse('its client knows events that a replaced database had');
    const { queue, lastSeq, prunedUpTo } = found;
    // Later events would get the numbers of those that the client knows.
    if (seqOf(cursor) > lastSeq) {
      await uow.write(realmId, (tx) => tx.queues.remove(realmId, [id]));
      throw refuse('its client knows events beyond the end of the log');
    }
    if ('reason' in queue) {
      report('a stored event queue cannot be read', { realmId, queueId: id, reason: queue.reason });
      await uow.write(realmId, (tx) => tx.queues.remove(realmId, [id]));
      throw queueNotFound(id);
    }
    // A position that was never sent is rejected later and must not lose events.
    const isGiven = cursor >= queue.acked && seqOf(cursor) >= queue.startSeq;
    // One row may become several wire events, of which the client may have received only the first ones.
    const floorSeq = (isGiven ? Math.max(queue.floorSeq, seqOf(cursor) - 1) : queue.floorSeq) as EventSeq;
    if (opening.isVoid) throw queueNotFound(id);
    if (prunedUpTo > floorSeq) throw refuse('the log no longer has its next event');
    if (lastSeq - floorSeq > this.options.maxEventsBehind) throw refuse('it is too far behind');
    return this.add(new LiveQueue(queue, clock.now(), { acked: isGiven ? cursor : queue.acked, floorSeq }));
  }

  /** A queue that was registered beyond the end of the log proves that the database was put back. */
  private async examineUnknown(realmId: RealmId, id: string): Promise<void> {
    const { continueHistory, queueIds, uow } = this.parts;
    const start = queueIds?.startOf(realmId, id) ?? -1;
    if (!continueHistory || start < 0) return;
    const lost = start - (await uow.read(realmId, ({ events }) => events.lastSeq(realmId)));
    if (lost > 0) this.forgetRemoved(await continueHistory(lost));
  }

  private add(live: LiveQueue): LiveQueue {
    const { id, ownerId } = live.queue;
    this.queues.set(id, live);
    const others = this.byOwner.get(ownerId);
    if (others) others.add(live);
    else this.byOwner.set(ownerId, new Set([live]));
    return live;
  }

  /** Ends one queue because an event cannot be delivered to it. */
  private fail(live: LiveQueue, eventType: string, seq: EventSeq | null, err: unknown): DomainError {
    const { id, realmId } = live.queue;
    if (!live.isClosed) {
      this.parts.report('an event cannot be delivered, so its queue was closed', {
        realmId,
        queueId: id,
        seq,
        eventType,
        err,
      });
    }
    return this.end(live);
  }

  /**
   * Ends a queue and lets its client register again. Its row is removed later; until then the queue is marked as
   * closed.
   */
  private end(live: LiveQueue): DomainError {
    const { id, realmId } = live.queue;
    const failure = queueNotFound(id);
    if (!live.isClosed) {
      live.close(failure);
      this.realms.leave(live);
      this.removeRow(live).catch((err: unknown) =>
        this.parts.report('a closed event queue cannot be removed', { realmId, queueId: id, err }),
      );
    }
    return failure;
  }

  private async removeRow(live: LiveQueue): Promise<void> {
    const { realmId, id } = live.queue;
    await this.parts.uow.write(realmId, (tx) => tx.queues.remove(realmId, [id]), { shared: { kind: 'queues' } });
    this.forget(live);
  }

  private signOut({ userId, reason }: SignedOut): void {
    for (const live of [...(this.byOwner.get(userId) ?? [])]) {
      live.close(reason ?? 'closed');
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

/** Position before the first event; lagging queues report their position themselves. */
const NEVER = 0 as EventSeq;

export const queueNotFound = (queueId: string): DomainError =>
  new DomainError('UNKNOWN_EVENT_QUEUE', `Bad event queue ID: ${queueId}`, { queueId });
