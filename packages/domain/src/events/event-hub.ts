import type { GroupEdge } from '../groups/group-closure.js';
import type { Clock } from '../shared/clock.js';
import { DomainError, invalidInput } from '../shared/errors.js';
import type { EventSeq, MessageId, RealmId, UnixSeconds, UserId } from '../shared/ids.js';
import type { Repositories, UnitOfWork } from '../shared/unit-of-work.js';
import type { Role } from '../users/role.js';
import type { DomainEvent } from './event.js';
import type { StoredEvent } from './event-log.js';
import { type EventQueue, POSITIONS_PER_SEQ, type QueuePosition } from './event-queue.js';
import { type Delivery, LiveQueue } from './live-queue.js';
import { type Holders, holdersAskedIn, isInAudience, LiveRealm, type Owner } from './live-realm.js';
import type { LogFollower } from './log-follower.js';
import type { EventListener } from './publishing-unit-of-work.js';
import { isInNarrow } from './queue-narrow.js';

/** The API's names of what an event becomes, by which queues choose what they want. */
export type EventTypeNames = Readonly<Record<DomainEvent['type'], readonly string[]>>;

export interface EventHubOptions {
  /** A queue that many events behind its realm is given up. */
  readonly maxEventsBehind: number;
  /** Events stay in the log that long at least, whether or not anybody still needs them. */
  readonly keepSeconds: number;
}

export const DEFAULT_HUB_OPTIONS: EventHubOptions = { maxEventsBehind: 20_000, keepSeconds: 600 };

const PAGE = 1000;

/** What a queue is put together from when somebody polls it for the first time: one consistent read. */
interface Opening {
  readonly queue: EventQueue;
  readonly headSeq: EventSeq;
  readonly owner: Owner;
  readonly edges: readonly GroupEdge[];
  /** The last position the client has confirmed. */
  readonly acked: number;
  /** What the queue missed since, and is due to it. */
  readonly missed: readonly Delivery[];
}

/**
 * Brings events to the queues that are polled. A queue comes to life with its first poll: what it missed is read from the
 * log, and from there on events reach it as they are committed. Queues nobody polls cost nothing but their row.
 */
export class EventHub implements EventListener {
  private readonly realms = new Map<RealmId, LiveRealm>();
  private readonly queues = new Map<string, LiveQueue>();
  /** By owner and id. */
  private readonly opening = new Map<string, Promise<LiveQueue>>();
  private readonly startedAt: UnixSeconds;
  /** Where logs ended when they were first swept: how far behind somebody is that nobody has heard of since, is not known. */
  private readonly firstHeads = new Map<RealmId, EventSeq>();

  constructor(
    private readonly uow: UnitOfWork,
    private readonly follower: LogFollower,
    private readonly clock: Clock,
    private readonly typeNames: EventTypeNames,
    private readonly options: EventHubOptions = DEFAULT_HUB_OPTIONS,
  ) {
    this.startedAt = clock.now();
  }

  onEvents(events: readonly StoredEvent[]): void {
    for (const event of events) this.realms.get(event.realmId)?.take(event);
  }

  /**
   * The queue, alive. `cursor` is the last position that its client has processed, as far as he says: what is stored of it may
   * be a minute old. @throws DomainError EVENT_QUEUE_NOT_FOUND when it is unknown, expired or another user's.
   */
  async open(realmId: RealmId, ownerId: UserId, id: string, cursor = -1): Promise<LiveQueue> {
    const known = this.queues.get(id);
    if (known?.isBehind) this.forget(known);
    else if (known && !known.isClosed) {
      if (known.queue.realmId !== realmId || known.queue.ownerId !== ownerId) throw queueNotFound(id);
      return known;
    }
    const key = `${realmId}:${ownerId}:${id}`;
    const running = this.opening.get(key);
    if (running) {
      // What ended in vain with another cursor may succeed with this one.
      return running.catch(() => this.open(realmId, ownerId, id, cursor));
    }
    const started = this.bringToLife(realmId, ownerId, id, cursor).finally(() => this.opening.delete(key));
    this.opening.set(key, started);
    return started;
  }

  /** Of the queue's owner, as of the last event given out. */
  roleOf({ queue }: LiveQueue): Role {
    return this.realms.get(queue.realmId)?.owners.get(queue.ownerId)?.role ?? 'guest';
  }

  /**
   * The client has processed everything up to `position`; -1: nothing yet.
   * @throws DomainError INVALID_INPUT for a position that was given up or never given (events §6.2 rows 4–5).
   */
  async acknowledge(live: LiveQueue, position: number): Promise<void> {
    if (position < live.acked) throw invalidInput(`An event newer than ${position} has already been pruned!`);
    if (position !== -1) {
      const { realmId, startSeq } = live.queue;
      const isBeyond = () => position >= (this.follower.headOf(realmId) + 1) * POSITIONS_PER_SEQ;
      // Another node may have given out what this one has not read yet.
      if (isBeyond()) await this.follower.fill(realmId);
      if (position < startSeq * POSITIONS_PER_SEQ || isBeyond()) {
        throw invalidInput(`Event ${position} was not in this queue`);
      }
      live.dropBefore(Math.floor(position / POSITIONS_PER_SEQ));
    }
    live.acked = position;
    live.lastPolledAt = this.clock.now();
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
      const seq = await this.uow.write((tx) =>
        tx.events.append(live.queue.realmId, { event: { type: 'blank' }, audience: { kind: 'nobody' } }),
      );
      live.lastGiven = Math.max(live.lastGiven, seq * POSITIONS_PER_SEQ);
    }
  }

  /** Ends a queue; whoever waits for it is answered first. @throws DomainError EVENT_QUEUE_NOT_FOUND */
  async remove(realmId: RealmId, ownerId: UserId, id: string): Promise<void> {
    await this.uow.write(async (tx) => {
      const queue = await tx.queues.find(realmId, id);
      if (!queue || queue.ownerId !== ownerId) throw queueNotFound(id);
      await tx.queues.remove(realmId, [id]);
    });
    const live = this.queues.get(id);
    if (!live) return;
    live.close();
    this.forget(live);
  }

  /**
   * Housekeeping, about once a minute: stores where queues stand, gives up those nobody polls, and shortens the log to
   * what somebody may still need.
   */
  async sweep(): Promise<void> {
    const now = this.clock.now();
    const rows = await this.uow.read(({ queues }) => queues.listAll());
    const expired = rows.filter((row) => this.isExpired(row, now));
    const gone = new Set(expired.map((row) => row.id));
    for (const { id } of expired) {
      const live = this.queues.get(id);
      if (live) {
        live.close();
        this.forget(live);
      }
    }

    const floors = new Map<RealmId, number>();
    for (const row of rows) {
      if (gone.has(row.id)) continue;
      const live = this.queues.get(row.id);
      const floor = live ? this.floorOf(live) : row.floorSeq;
      floors.set(row.realmId, Math.min(floors.get(row.realmId) ?? Number.POSITIVE_INFINITY, floor));
    }
    for (const { realmId, seq } of await this.uow.read(({ events }) => events.listHeads())) {
      const positions = this.takePositions(realmId);
      const removed = expired.filter((row) => row.realmId === realmId).map((row) => row.id);
      const upTo = Math.min(floors.get(realmId) ?? seq, seq) as EventSeq;
      await this.uow.write(async (tx) => {
        if (removed.length > 0) await tx.queues.remove(realmId, removed);
        if (positions.length > 0) await tx.queues.savePositions(realmId, positions);
        await tx.events.prune(realmId, upTo, now - this.options.keepSeconds);
      });
    }
  }

  /** Wakes everybody who waits, so that the process can end, and stores where queues stand. */
  async close(): Promise<void> {
    for (const live of this.queues.values()) live.close();
    for (const realmId of this.realms.keys()) {
      const positions = this.takePositions(realmId);
      if (positions.length > 0) await this.uow.write((tx) => tx.queues.savePositions(realmId, positions));
    }
    this.queues.clear();
    this.realms.clear();
  }

  private takePositions(realmId: RealmId): QueuePosition[] {
    const positions: QueuePosition[] = [];
    for (const owner of this.realms.get(realmId)?.owners.values() ?? []) {
      for (const live of owner.queues) {
        const position = live.takePosition(this.follower.headOf(realmId));
        if (position) positions.push(position);
      }
    }
    return positions;
  }

  private isExpired(row: EventQueue, now: UnixSeconds): boolean {
    const live = this.queues.get(row.id);
    const floor = live ? this.floorOf(live) : Math.max(row.floorSeq, this.firstHeadOf(row.realmId));
    if (this.follower.headOf(row.realmId) - floor > this.options.maxEventsBehind) return true;
    if (live) return !live.isWaitedFor && now - live.lastPolledAt >= row.idleTimeoutSeconds;
    // How long nobody polled while there was no server to poll does not count.
    return now - Math.max(row.lastPolledAt, this.startedAt) >= row.idleTimeoutSeconds;
  }

  private firstHeadOf(realmId: RealmId): EventSeq {
    const known = this.firstHeads.get(realmId);
    if (known !== undefined) return known;
    const head = this.follower.headOf(realmId);
    this.firstHeads.set(realmId, head);
    return head;
  }

  private floorOf(live: LiveQueue): EventSeq {
    return live.floor(this.follower.headOf(live.queue.realmId));
  }

  private forget(live: LiveQueue): void {
    const { id, realmId } = live.queue;
    this.queues.delete(id);
    const realm = this.realms.get(realmId);
    realm?.removeQueue(live);
    if (realm?.owners.size === 0) this.realms.delete(realmId);
  }

  private async bringToLife(realmId: RealmId, ownerId: UserId, id: string, cursor: number): Promise<LiveQueue> {
    for (;;) {
      const opening = await this.uow.read((repositories) => this.read(repositories, realmId, ownerId, id, cursor));
      if (!opening) throw queueNotFound(id);
      // The picture is put in only where it is as new as what has been given out: else an event would be lost or doubled.
      if (this.follower.headOf(realmId) < opening.headSeq) await this.follower.fill(realmId);
      const realm = this.realms.get(realmId);
      if (realm && !realm.isIdle) await realm.settled();
      if (this.follower.headOf(realmId) !== opening.headSeq || (realm && !realm.isIdle)) continue;
      return this.install(opening, realm);
    }
  }

  private install(opening: Opening, present: LiveRealm | undefined): LiveQueue {
    const { queue, acked, missed } = opening;
    const realm = present ?? this.addRealm(queue.realmId, opening.edges);
    let owner = realm.owners.get(queue.ownerId);
    if (!owner) {
      owner = opening.owner;
      realm.add(owner);
    }
    const live = new LiveQueue(queue, this.clock.now());
    live.load(missed, acked);
    realm.addQueue(owner, live);
    this.queues.set(queue.id, live);
    return live;
  }

  private addRealm(realmId: RealmId, edges: readonly GroupEdge[]): LiveRealm {
    const realm = new LiveRealm(
      realmId,
      edges,
      (live, event) => this.wants(live.queue, event),
      (id, among) => this.findHolders(realmId, id, among),
    );
    this.realms.set(realmId, realm);
    return realm;
  }

  private wants({ filter: { types } }: EventQueue, event: DomainEvent): boolean {
    const names = this.typeNames[event.type];
    return names.length > 0 && (types === null || names.some((name) => types.includes(name)));
  }

  private async findHolders(realmId: RealmId, id: MessageId, among: readonly UserId[]): Promise<ReadonlySet<UserId>> {
    return new Set(await this.uow.read(({ personal }) => personal.filterHolders(realmId, id, among)));
  }

  /** Null: there is no such queue of this user, or the log no longer holds what it missed. */
  private async read(
    repositories: Repositories,
    realmId: RealmId,
    ownerId: UserId,
    id: string,
    cursor: number,
  ): Promise<Opening | null> {
    const { queues, events, users, actors, channels, groups, personal } = repositories;
    const queue = await queues.find(realmId, id);
    const user = queue && queue.ownerId === ownerId ? await users.find(realmId, ownerId) : null;
    if (!queue || !user?.isActive) return null;
    const headSeq = await events.headSeq(realmId);
    const cursorSeq = Math.floor(cursor / POSITIONS_PER_SEQ);
    // A position that was never given out is refused later, and must not cost the queue what it missed.
    const isGiven = cursor >= queue.acked && cursorSeq >= queue.startSeq && cursorSeq <= headSeq;
    const missed: StoredEvent[] = [];
    // One row may be several events, of which the client has had the first ones.
    const confirmed = isGiven ? Math.max(queue.floorSeq, cursorSeq - 1) : queue.floorSeq;
    if ((await events.prunedUpTo(realmId)) > confirmed) return null;
    for (let after = confirmed as EventSeq; ; after = missed.at(-1)!.seq) {
      const page = await events.listAfter(realmId, after, PAGE);
      missed.push(...page);
      if (missed.length > this.options.maxEventsBehind) return null;
      if (page.length < PAGE) break;
    }
    const owner: Owner = {
      userId: ownerId,
      role: user.role,
      isActive: true,
      channels: new Set(await channels.listSubscribedIds(realmId, ownerId)),
      directGroups: new Set(await groups.listDirectIds(realmId, ownerId)),
      queues: new Set(),
    };
    const edges = await groups.listEdges(realmId);
    const { groups: closure } = await actors.get({ realmId, userId: ownerId });
    const spans = await personal.listSubscribedSpans({ realmId, userId: ownerId });
    const holders = await this.readHolders(repositories, realmId, ownerId, missed);
    const isReceiver = ({ seq, audience }: StoredEvent) =>
      isInAudience(audience, {
        userId: ownerId,
        role: owner.role,
        // Content is judged by the time he followed; everything else by what he may today (architecture §4).
        follows: (channelId) =>
          spans.some((span) => span.channelId === channelId && span.fromSeq <= seq && (span.toSeq ?? seq + 1) > seq),
        isInGroup: (groupId) => closure.has(groupId),
        holds: (messageId) => holders.get(messageId)?.has(ownerId) ?? false,
        hasQueue: (queueId) => queueId === id,
      });
    return {
      queue,
      headSeq,
      owner,
      edges,
      acked: isGiven ? cursor : queue.acked,
      missed: missed.flatMap((stored) => this.deliveryOf(queue, owner, stored, isReceiver(stored)) ?? []),
    };
  }

  private deliveryOf(queue: EventQueue, owner: Owner, stored: StoredEvent, isReceiver: boolean): Delivery | null {
    const { event } = stored;
    if (!this.wants(queue, event)) return null;
    if (event.type !== 'message.sent') return isReceiver ? { stored, isBystander: false } : null;
    const { narrow, allPublicChannels } = queue.filter;
    const isWide = (allPublicChannels || narrow.length > 0) && owner.role !== 'guest' && event.isPublic;
    const isDue = (isReceiver || isWide) && isInNarrow(narrow, event, owner.userId);
    return isDue ? { stored, isBystander: !isReceiver } : null;
  }

  private async readHolders(
    { personal }: Repositories,
    realmId: RealmId,
    ownerId: UserId,
    missed: readonly StoredEvent[],
  ): Promise<Holders> {
    const holders = new Map<MessageId, ReadonlySet<UserId>>();
    for (const id of new Set(missed.flatMap(({ audience }) => holdersAskedIn(audience)))) {
      holders.set(id, new Set(await personal.filterHolders(realmId, id, [ownerId])));
    }
    return holders;
  }
}

export const queueNotFound = (queueId: string): DomainError =>
  new DomainError('EVENT_QUEUE_NOT_FOUND', `Bad event queue ID: ${queueId}`, { queueId });
