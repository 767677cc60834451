import { type DeliveryFeatures, mergeQuestions, ReceiverLoader, type ReplayedCandidate } from './delivery.js';
import { DomainError } from './errors.js';
import type { AnyEvent, Audience, DomainEvent } from './event.js';
import type { EventCache } from './event-cache.js';
import { type Delivery, type EventCatalogue, isReadable, type LoggedEvent, type StoredEvent } from './event-log.js';
import { type EventQueue, seqOf } from './event-queue.js';
import type {
  AudienceResults,
  EventNeeds,
  Membership,
  QueueOwner,
  QueueOwnerRights,
  Receiver,
} from './feature-types.js';
import type { EventSeq } from './ids.js';
import { type DueEvent, dueEvent, isForNonSubscriber, type LiveQueue } from './live-queue.js';
import type { LogFollower } from './log-follower.js';
import type { Clock } from './ports.js';
import type { EventReference, RealmFanOuts } from './realm-fan-out.js';
import type { UnitOfWork } from './unit-of-work.js';
import { lastOf } from './work.js';
import type { EventLoop } from './yielding.js';

/** Unreadable event that the owner would receive. */
export class UnreadableEventDue extends Error {
  constructor(readonly logged: Exclude<LoggedEvent, StoredEvent>) {
    super(`The event cannot be read: ${logged.reason}`);
    this.name = 'UnreadableEventDue';
  }
}

/**
 * Decides which logged events are due to a lagging queue. Subscriptions apply as of the event, because they protect
 * message content; other decisions use current rights (architecture §4).
 */
export class LogReplay {
  private readonly candidate: ReplayedCandidate;
  private readonly member: Membership;

  constructor(
    private readonly uow: UnitOfWork,
    private readonly features: DeliveryFeatures,
    private readonly queue: EventQueue,
    private readonly rights: QueueOwnerRights,
    private readonly wants: (event: StoredEvent['event']) => boolean,
  ) {
    this.candidate = { user: rights, seq: rights.lastSeq, results: features.noResults };
    this.member = {
      ...features.membershipOf(this.candidate),
      isAmong: (ids) => ids.includes(rights.userId),
      hasQueue: (id) => id === queue.id,
    };
  }

  /** Uses one look-up for all events. */
  async resultsFor(page: readonly LoggedEvent[]): Promise<AudienceResults> {
    const { features } = this;
    const questions = mergeQuestions(
      page.flatMap(({ audience }) => (audience ? [features.questionsOf(audience)] : [])),
    );
    const asked = features.askedOwner(this.rights, questions);
    if (!asked) return features.noResults;
    return this.uow.read(this.queue.realmId, (repositories) =>
      features.findAnswers(repositories, this.queue.realmId, questions, asked),
    );
  }

  /** Returns null if the event is not due. @throws UnreadableEventDue */
  dueEvent(logged: LoggedEvent, results: AudienceResults): DueEvent | null {
    if (!isReadable(logged)) {
      // The audience may be readable even if the content is not.
      if (logged.audience && !this.isIn(logged.audience, logged.seq, results)) return null;
      throw new UnreadableEventDue(logged);
    }
    const { event, seq, audience } = logged;
    if (!this.wants(event)) return null;
    const isReceiver = this.isIn(audience, seq, results);
    if (!isReceiver && !this.isOpenTo(event)) return null;
    return this.features.selection.isInNarrow(this.queue, event) ? dueEvent(seq, !isReceiver) : null;
  }

  private isOpenTo(event: StoredEvent['event']): boolean {
    const { selection } = this.features;
    return selection.isPublic(event) && selection.isOpen(this.queue.filter) && selection.mayReadPublic(this.rights);
  }

  private isIn(audience: Audience, seq: EventSeq, results: AudienceResults): boolean {
    this.candidate.seq = seq;
    this.candidate.results = results;
    return this.features.isInAudience(audience, this.member);
  }
}

/**
 * Result of handing over an event: included in the response, not presented to this client, or left for the next
 * response. No event follows one that was left.
 */
export type DeliveryOutcome = 'shown' | 'silent' | 'left';
export type TakeDelivery = (delivery: Delivery) => DeliveryOutcome;

export interface QueueReaderParts {
  readonly uow: UnitOfWork;
  readonly follower: LogFollower;
  readonly clock: Clock;
  readonly eventLoop: EventLoop;
  readonly catalogue: EventCatalogue;
  readonly features: DeliveryFeatures;
  readonly cache: EventCache;
  readonly realms: RealmFanOuts;
  /** Maximum number of events a queue may lag behind its realm before it ends. */
  readonly maxEventsBehind: number;
  /** Ends a queue because an event cannot be delivered to it. Returns the error for its client. */
  readonly fail: (live: LiveQueue, what: EventReference, error: unknown) => Error;
  /** Ends a queue that cannot continue reading. Returns the error for its client. */
  readonly expire: (live: LiveQueue, reason: string) => Error;
  /** Ends a queue without a report. Returns the error for its client. */
  readonly end: (live: LiveQueue) => Error;
  readonly takePosition: (live: LiveQueue) => Promise<number>;
}

/** Due events with their logged form in parallel arrays, which avoids an object per pair. */
class Found {
  readonly due: DueEvent[] = [];
  readonly events: StoredEvent[] = [];

  add(due: DueEvent, stored: StoredEvent): void {
    this.due.push(due);
    this.events.push(stored);
  }
}

/** Progress of a response. */
interface Progress {
  /** `LiveQueue.rewinds` at the start of the read. */
  readonly rewinds: number;
  /** Event up to which everything was handed over or is not due. */
  after: EventSeq;
  /** Events included in the response. */
  readonly shown: DueEvent[];
  /** True if the response is full. */
  isFull: boolean;
}

const from = ({ rewinds }: LiveQueue, after: EventSeq): Progress => ({ rewinds, after, shown: [], isFull: false });

/** True if events before those of this read became due again, so that its end is not the queue's position. */
const isRewound = (live: LiveQueue, { rewinds }: Progress): boolean => live.rewinds !== rewinds;

/** Maximum age at which an event of a newer release is left to servers of that release. */
const UPGRADE_SECONDS = 60;
/** Maximum time that a read blocks the event loop. */
const SLICE_MS = 4;
/**
 * Due events loaded before their handover. The response may be full after a few long ones, so loading all of them
 * would read most of them again for each response.
 */
const DUE_AT_A_TIME = 16;
const EVENTS_GONE = 'the log no longer has its next event';
/** Maximum number of additional log reads for a lagging queue once the response has events. */
const MAX_ROUNDS = 3;

/** Delivers due events of queues in log order, up to the size of a response. */
export class QueueReader {
  private readonly receivers: ReceiverLoader;
  private readonly reading = new WeakMap<LiveQueue, Promise<void>>();

  constructor(private readonly parts: QueueReaderParts) {
    this.receivers = new ReceiverLoader(parts.uow, parts.eventLoop, parts.features);
  }

  isReading(live: LiveQueue): boolean {
    return this.reading.has(live);
  }

  /** Reads without look-ups. Returns false, without delivering anything, if one is needed. */
  readNow(live: LiveQueue, take: TakeDelivery): boolean {
    const { realmId } = live.queue;
    const owner = this.ownerOf(live);
    if (!owner || live.isBehind || live.hasEphemerals || this.isReading(live)) return false;
    const found = new Found();
    for (const due of live.dueEvents) {
      const logged = this.parts.cache.find(realmId, seqOf(due));
      if (!logged || !isReadable(logged) || this.needsOf(live, owner, logged)) return false;
      found.add(due, logged);
    }
    const progress = from(live, 0 as EventSeq);
    this.offerTo(live, this.parts.features.receiver(owner), found, take, progress);
    settle(live, progress);
    return true;
  }

  /** Serializes reads of a queue, so that each read benefits from the previous one. */
  read(live: LiveQueue, take: TakeDelivery): Promise<void> {
    const before = this.reading.get(live);
    const reading = before
      ? before.then(NOTHING, NOTHING).then(() => this.readOn(live, take))
      : this.readOn(live, take);
    this.reading.set(live, reading);
    const end = () => {
      if (this.reading.get(live) === reading) this.reading.delete(live);
    };
    reading.then(end, end);
    return reading;
  }

  private async readOn(live: LiveQueue, take: TakeDelivery): Promise<void> {
    const owner = live.isBehind ? null : this.ownerOf(live);
    if (owner) await this.readDue(live, owner, take);
    else await this.replay(live, take);
  }

  /** Delivers due events of a caught-up queue. */
  private async readDue(live: LiveQueue, owner: QueueOwner, take: TakeDelivery): Promise<void> {
    const { clock, eventLoop } = this.parts;
    const { dueEvents } = live;
    const progress = from(live, 0 as EventSeq);
    let sliceStart = clock.nowMs();
    let read = 0;
    while (read < dueEvents.length && !progress.isFull && !live.isClosed) {
      if (clock.nowMs() - sliceStart >= SLICE_MS) {
        await eventLoop.yield();
        sliceStart = clock.nowMs();
      }
      // The last step has fewer than `DUE_AT_A_TIME` events, and more may be added during the read.
      const next = dueEvents.slice(read, read + DUE_AT_A_TIME);
      read += next.length;
      const found = await this.loadDue(live, next);
      await this.offerAll(live, owner, found, take, progress);
    }
    settle(live, progress);
    if (!progress.isFull) await this.readEphemerals(live, owner, take);
  }

  private async loadDue(live: LiveQueue, dueEvents: readonly DueEvent[]): Promise<Found> {
    const found = new Found();
    for (const due of dueEvents) {
      const seq = seqOf(due);
      const logged = await this.parts.cache.listAfter(live.queue.realmId, (seq - 1) as EventSeq, seq);
      if (!logged) throw this.parts.expire(live, EVENTS_GONE);
      for (const stored of logged) if (isReadable(stored)) found.add(due, stored);
    }
    return found;
  }

  private async readEphemerals(live: LiveQueue, owner: QueueOwner, take: TakeDelivery): Promise<void> {
    for (const { event } of live.takeEphemerals(this.parts.clock.now())) {
      const what = { type: event.type, seq: null };
      const needs = this.guarded(live, what, () => this.relevantNeeds(live, event, owner));
      const receiver = await this.receiverFor(live, owner, needs, null);
      const position = await this.parts.takePosition(live);
      if (this.guarded(live, what, () => take({ ephemeral: event, position, receiver })) === 'left') return;
    }
  }

  /** Reads the log page by page until the response is full or the queue is caught up. */
  private async replay(live: LiveQueue, take: TakeDelivery): Promise<void> {
    const { uow, realms, features, follower, maxEventsBehind } = this.parts;
    const { queue } = live;
    const progress = from(live, live.unsentFloor(0 as EventSeq));
    for (let round = 1; ; round++) {
      const isOnline = this.ownerOf(live) !== null;
      const { rights, snapshot, prunedUpTo } = await uow.read(queue.realmId, async (repositories) => ({
        rights: await features.loadRights(repositories, queue, isOnline),
        snapshot: realms.get(queue.realmId) ? null : await features.loadSnapshot(repositories, queue.realmId),
        prunedUpTo: await repositories.events.prunedUpTo(queue.realmId),
      }));
      if (!rights) throw this.parts.expire(live, 'its owner may not read it any more');
      if (prunedUpTo > progress.after) throw this.parts.expire(live, EVENTS_GONE);
      if (rights.lastSeq - progress.after > maxEventsBehind) throw this.parts.expire(live, 'it is too far behind');
      await this.scan(live, rights, take, progress);
      if (live.isClosed || progress.isFull || isRewound(live, progress)) break;
      // An owner who is offline again has incomplete rights here.
      const isJoinable = !isOnline || this.ownerOf(live) !== null;
      if (isJoinable && realms.join(live, rights, snapshot, progress.shown)) break;
      if (round >= MAX_ROUNDS && progress.shown.length > 0) break;
      // More events were committed in the meantime.
      if (follower.lastSeqOf(queue.realmId) < rights.lastSeq) await follower.fill(queue.realmId);
      await realms.get(queue.realmId)?.settled();
    }
    settle(live, progress);
  }

  private async scan(live: LiveQueue, rights: QueueOwnerRights, take: TakeDelivery, progress: Progress): Promise<void> {
    const { uow, clock, cache, eventLoop, features } = this.parts;
    const { queue } = live;
    const replay = new LogReplay(uow, features, queue, rights, ({ type }) => this.wants(live, type));
    let sliceStart = clock.nowMs();
    while (progress.after < rights.lastSeq && !live.isClosed) {
      const page = await cache.listAfter(queue.realmId, progress.after, rights.lastSeq);
      if (!page) throw this.parts.expire(live, EVENTS_GONE);
      if (page.some((logged) => isReadable(logged) && this.endsQueue(logged.event, rights))) throw this.parts.end(live);
      const found = this.findDue(live, replay, page, await replay.resultsFor(page));
      await this.offerAll(live, rights, found, take, progress);
      if (progress.isFull) return;
      progress.after = lastOf(page).seq;
      if (clock.nowMs() - sliceStart < SLICE_MS) continue;
      await eventLoop.yield();
      sliceStart = clock.nowMs();
    }
  }

  private endsQueue(event: DomainEvent, rights: QueueOwnerRights): boolean {
    // A crash before the removal of the queues leaves some of them in the storage.
    return event.type === 'restarted' || this.parts.features.isRightsChange(event, rights);
  }

  private findDue(live: LiveQueue, replay: LogReplay, page: readonly LoggedEvent[], results: AudienceResults): Found {
    const found = new Found();
    let at: LoggedEvent | undefined;
    try {
      for (const logged of page) {
        at = logged;
        const due = replay.dueEvent(logged, results);
        if (due && isReadable(logged)) found.add(due, logged);
      }
    } catch (error) {
      // Servers of a newer release can deliver it, so the client should try one of them.
      const isOfUpgrade = error instanceof UnreadableEventDue && error.logged.isNewer;
      if (isOfUpgrade && this.parts.clock.now() - at!.at < UPGRADE_SECONDS) {
        throw new DomainError('STORAGE_UNAVAILABLE', 'Another server has to be asked; try again in a moment.');
      }
      const type = isReadable(at!) ? at.event.type : 'unreadable';
      throw this.parts.fail(live, { type, seq: at!.seq }, error);
    }
    return found;
  }

  /** Uses one look-up for all events. */
  private async offerAll(
    live: LiveQueue,
    owner: QueueOwner,
    found: Found,
    take: TakeDelivery,
    progress: Progress,
  ): Promise<void> {
    const { events } = found;
    const receivers = events.some((stored) => this.needsOf(live, owner, stored))
      ? await Promise.all(
          events.map((stored) => this.receiverFor(live, owner, this.needsOf(live, owner, stored), stored.seq)),
        )
      : this.parts.features.receiver(owner);
    this.offerTo(live, receivers, found, take, progress);
  }

  /** Hands over events until the response is full. `receivers` holds one receiver for all events or one per event. */
  private offerTo(
    live: LiveQueue,
    receivers: Receiver | readonly Receiver[],
    { due, events }: Found,
    take: TakeDelivery,
    progress: Progress,
  ): void {
    for (let index = 0; index < due.length && !live.isClosed; index++) {
      const stored = events[index]!;
      const receiver = isList(receivers) ? receivers[index]! : receivers;
      const what = { type: stored.event.type, seq: stored.seq };
      const isNotSubscriber = isForNonSubscriber(due[index]!);
      const taken = this.guarded(live, what, () => take({ stored, isNotSubscriber, receiver }));
      if (taken === 'left') {
        progress.isFull = true;
        return;
      }
      if (taken === 'shown') progress.shown.push(due[index]!);
      progress.after = stored.seq;
    }
  }

  private receiverFor(
    live: LiveQueue,
    owner: QueueOwner,
    needs: EventNeeds | null,
    seq: EventSeq | null,
  ): Receiver | Promise<Receiver> {
    if (!needs) return this.parts.features.receiver(owner);
    return this.receivers.load(live.queue.realmId, { owner, needs, seq });
  }

  /** Returns null if no look-up is needed for this owner. */
  private needsOf(live: LiveQueue, owner: QueueOwner, { event, seq }: StoredEvent): EventNeeds | null {
    try {
      return this.relevantNeeds(live, event, owner);
    } catch (error) {
      throw this.parts.fail(live, { type: event.type, seq }, error);
    }
  }

  private relevantNeeds({ queue }: LiveQueue, event: AnyEvent, owner: QueueOwner): EventNeeds | null {
    const needs = this.parts.catalogue.needsOf(event, queue.presentation);
    return needs && this.parts.features.isNeeded(needs, owner) ? needs : null;
  }

  /** Returns null if the owner has no caught-up queue. */
  private ownerOf({ queue }: LiveQueue): QueueOwner | null {
    const realm = this.parts.realms.get(queue.realmId);
    const user = realm?.users.get(queue.ownerId);
    return realm && user ? realm.ownerOf(user) : null;
  }

  private wants({ queue }: LiveQueue, type: StoredEvent['event']['type']): boolean {
    return this.parts.catalogue.wants(queue.presentation, type);
  }

  /** Limits the effect of an undeliverable event to one queue. @throws the error returned by `fail` */
  private guarded<T>(live: LiveQueue, what: EventReference, work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw this.parts.fail(live, what, error);
    }
  }
}

const NOTHING = () => {};

const isList = <T>(value: T | readonly T[]): value is readonly T[] => Array.isArray(value);

/** Events that are not presented to the client need no acknowledgement. */
function settle(live: LiveQueue, progress: Progress): void {
  if (isRewound(live, progress)) return;
  const { shown, after } = progress;
  const [first] = shown;
  live.dropBefore(first === undefined ? ((after + 1) as EventSeq) : seqOf(first));
}
