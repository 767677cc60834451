import { type ClockWatch, hasPassed } from './clock-watch.js';
import { publishLastEnded } from './ended-queues.js';
import { DomainError } from './errors.js';
import { MAX_EVENTS_FOR_CONSUMERS } from './event-consumption.js';
import type { EventHub } from './event-hub.js';
import type { LogEnd } from './event-log.js';
import type { EndedQueue, QueuePosition } from './event-queue.js';
import type { EventSeq, RealmId, UnixSeconds } from './ids.js';
import type { LiveQueue } from './live-queue.js';
import type { Clock, ReportProblem } from './ports.js';
import type { Transaction, UnitOfWork } from './unit-of-work.js';
import type { EventLoop } from './yielding.js';

export interface QueueSweepParts {
  readonly uow: UnitOfWork;
  /** Storage with units of work that do not open organizations, for checks that find nothing to do. */
  readonly storage: UnitOfWork;
  readonly clock: Clock;
  /** Default: the clock is steady since the creation of the sweep. */
  readonly clockWatch?: Pick<ClockWatch, 'steadySince'>;
  readonly eventLoop: EventLoop;
  readonly hub: EventHub;
  readonly report: ReportProblem;
}

export interface QueueSweepOptions {
  /** True if other servers serve the same queues only while they take over from this one. */
  readonly isOnlyServer: boolean;
  /** Maximum number of events a queue may lag behind its realm before it ends. */
  readonly maxEventsBehind: number;
  /** Minimum time that events stay in the log even if nothing needs them. */
  readonly keepSeconds: number;
  /** Maximum number of events of a realm kept for lagging consumers. */
  readonly maxEventsForConsumers: number;
  /** Maximum size of the log after a queue's position. */
  readonly maxQueueBytes: number;
  /** Maximum size of a realm's log, regardless of consumers and age. */
  readonly maxLogBytes: number;
}

/** Size limits configured by the operator. */
export type EventLimits = Pick<QueueSweepOptions, 'maxQueueBytes' | 'maxLogBytes'>;

const MIB = 1024 * 1024;
/** Grace period after the idle time of a queue before it is removed, because servers store polls only once a minute. */
export const UNSAVED_SECONDS = 90;

export const DEFAULT_SWEEP_OPTIONS: QueueSweepOptions = {
  isOnlyServer: false,
  maxEventsBehind: 20_000,
  keepSeconds: 600,
  maxEventsForConsumers: MAX_EVENTS_FOR_CONSUMERS,
  maxQueueBytes: 16 * MIB,
  maxLogBytes: 256 * MIB,
};

/** Rows changed per transaction, few enough to keep the event loop responsive. */
const SLICE = 250;
/** Number of realms swept before yielding to the event loop. */
const REALMS_AT_A_TIME = 50;
/** Log growth between two sweeps of a realm, as a share of the queue size limit. */
const GROWTH_SHARE = 0.25;
/** Time without polls after which a queue leaves memory. */
const SLEEP_SECONDS = 300;

/**
 * Stores queue positions, removes idle queues and prunes the log, about once a minute. Reads only positions, in small
 * batches, so that damaged rows and large numbers cannot block it.
 */
export class QueueSweep {
  private readonly startedAt: UnixSeconds;
  /** Log ends at the first sweep. The lag of queues not polled since then is unknown. */
  private readonly firstLastSeqs = new Map<RealmId, EventSeq>();
  /** Log ends at the last sweep. */
  private readonly sweptSeqs = new Map<RealmId, EventSeq>();

  constructor(
    private readonly parts: QueueSweepParts,
    private readonly options: QueueSweepOptions = DEFAULT_SWEEP_OPTIONS,
  ) {
    this.startedAt = parts.clock.now();
  }

  /** Earlier polls count as polls at this time, because nobody could poll, or the clock was another one. */
  private get servedSince(): UnixSeconds {
    return this.parts.clockWatch?.steadySince ?? this.startedAt;
  }

  /** Runs all parts and reports the failure of each without stopping the others. */
  async run(): Promise<void> {
    await this.savePositions();
    await this.attempt('giving up idle event queues', {}, () => this.removeIdle());
    const logEnds = await this.parts.uow.readAcross(({ events }) => events.listLastSeqs());
    let looked = 0;
    for (const logEnd of logEnds) {
      await this.attempt('shortening the log', { realmId: logEnd.realmId }, () => this.sweepRealm(logEnd));
      if (++looked % REALMS_AT_A_TIME === 0) await this.parts.eventLoop.yield();
    }
  }

  /** Sweeps realms with a log that has grown a lot since their last sweep. Cheap enough to run every few seconds. */
  async runIfGrown(): Promise<void> {
    const { uow } = this.parts;
    const maxGrowth = this.options.maxQueueBytes * GROWTH_SHARE;
    for (const logEnd of await uow.readAcross(({ events }) => events.listLastSeqs())) {
      const { realmId, seq } = logEnd;
      if (!this.firstLastSeqs.has(realmId)) this.firstLastSeqs.set(realmId, seq);
      const swept = this.sweptSeqs.get(realmId) ?? seq;
      this.sweptSeqs.set(realmId, swept);
      if (seq === swept || (await this.seqBeyond(realmId, maxGrowth)) <= swept) continue;
      await this.savePositions();
      await this.attempt('shortening the log', { realmId }, () => this.sweepRealm(logEnd));
    }
  }

  private seqBeyond(realmId: RealmId, bytes: number): Promise<number> {
    return this.parts.storage.read(realmId, ({ events }) => events.seqBeyond(realmId, bytes));
  }

  /** Stores positions of all queues in memory; the process may exit afterwards. */
  async savePositions(): Promise<void> {
    const byRealm = new Map<RealmId, LiveQueue[]>();
    for (const live of this.parts.hub.liveQueues) {
      const others = byRealm.get(live.queue.realmId);
      if (others) others.push(live);
      else byRealm.set(live.queue.realmId, [live]);
    }
    for (const [realmId, queues] of byRealm) {
      // Rows with adjacent ids share pages, so each transaction writes few of them.
      queues.sort((a, b) => (a.queue.id < b.queue.id ? -1 : 1));
      for (let start = 0; start < queues.length; start += SLICE) {
        await this.attempt('storing positions of event queues', { realmId }, () =>
          this.saveSlice(realmId, queues.slice(start, start + SLICE)),
        );
      }
    }
  }

  private async saveSlice(realmId: RealmId, queues: readonly LiveQueue[]): Promise<void> {
    const { uow, hub, clock } = this.parts;
    const failed = queues.filter((live) => live.failure).map(({ queue }) => queue.id);
    const moved = queues.flatMap((live): readonly [LiveQueue, QueuePosition][] => {
      const position = live.isClosed ? null : hub.unsavedPositionOf(live);
      return position ? [[live, position]] : [];
    });
    if (failed.length > 0 || moved.length > 0) {
      const positions = moved.map(([, position]) => position);
      const gone = await uow.write(
        realmId,
        async (tx) => {
          if (failed.length > 0) await tx.queues.remove(realmId, failed);
          return positions.length > 0 ? tx.queues.savePositions(realmId, positions) : [];
        },
        { shared: { kind: 'queues' } },
      );
      // Another server removed these queues, and its message was lost.
      hub.closeRemoved(gone);
    }
    for (const [live, position] of moved) live.markSaved(position);
    hub.forgetRemoved(failed.map((id) => ({ realmId, id })));
    const now = clock.now();
    for (const live of queues) if (hasPassed(live.lastPolledAt, SLEEP_SECONDS, now)) hub.deactivateQueue(live);
  }

  /**
   * Removes expired queues in the memory of the only server, unless another one has stored a later poll. Cheap enough to
   * run every few seconds.
   */
  async removeExpired(): Promise<void> {
    if (!this.options.isOnlyServer) return;
    const { hub, clock, uow } = this.parts;
    const { servedSince } = this;
    const now = clock.now();
    for (const { queue, lastPolledAt, isWaitedFor, isClosed } of hub.liveQueues) {
      const idleSeconds = now - Math.max(lastPolledAt, servedSince);
      if (isWaitedFor || isClosed || idleSeconds < queue.idleTimeoutSeconds) continue;
      const { realmId, ownerId, id } = queue;
      await this.attempt('giving up an idle event queue', { realmId }, async () => {
        const stored = await uow.read(realmId, ({ queues }) => queues.find(realmId, id));
        if (!stored || 'reason' in stored || stored.lastPolledAt > lastPolledAt) return;
        await hub.remove(realmId, ownerId, id).catch((error) => {
          // Its client, or another sweep, has removed the queue since the read.
          if (!(error instanceof DomainError && error.code === 'UNKNOWN_EVENT_QUEUE')) throw error;
        });
      });
    }
  }

  private async removeIdle(): Promise<void> {
    const before = this.parts.clock.now() - UNSAVED_SECONDS;
    await this.removeAll((tx) => tx.queues.removeIdle({ before, servedSince: this.servedSince }, SLICE));
  }

  private async sweepRealm({ realmId, seq, prunedUpTo }: LogEnd): Promise<void> {
    const { storage, clock } = this.parts;
    const { maxEventsBehind, keepSeconds, maxEventsForConsumers, maxQueueBytes, maxLogBytes } = this.options;
    this.sweptSeqs.set(realmId, seq);
    const firstLastSeq = this.firstLastSeqs.get(realmId) ?? seq;
    this.firstLastSeqs.set(realmId, firstLastSeq);
    if (seq - firstLastSeq > maxEventsBehind) {
      await this.removeAll((tx) => tx.queues.removeBehind(realmId, seq - maxEventsBehind, SLICE));
    }
    if (prunedUpTo >= seq) return;
    const beyondQueue = await this.seqBeyond(realmId, maxQueueBytes);
    if (beyondQueue > firstLastSeq) {
      await this.removeAll((tx) => tx.queues.removeBehind(realmId, beyondQueue, SLICE));
    }
    const beyondLog = await this.seqBeyond(realmId, maxLogBytes);
    if (beyondLog > 0) {
      await this.removeAll((tx) => tx.queues.removeBehind(realmId, beyondLog, SLICE));
      await this.prune(realmId, beyondLog as EventSeq, Number.MAX_SAFE_INTEGER);
    }
    const { queue, consumer } = await storage.read(realmId, async ({ queues, consumers }) => ({
      queue: (await queues.lowestFloor(realmId)) ?? seq,
      consumer: (await consumers.lowestPosition(realmId)) ?? seq,
    }));
    const needed = Math.min(queue, Math.max(consumer, seq - maxEventsForConsumers));
    const upTo = Math.min(needed, seq) as EventSeq;
    if (upTo <= prunedUpTo) return;
    await this.prune(realmId, upTo, clock.now() - keepSeconds);
  }

  private async prune(realmId: RealmId, upTo: EventSeq, before: UnixSeconds): Promise<void> {
    while ((await this.parts.storage.write(realmId, (tx) => tx.events.prune(realmId, upTo, before, SLICE))) === SLICE);
  }

  private async removeAll(remove: (tx: Transaction) => Promise<readonly EndedQueue[]>): Promise<void> {
    const { uow, hub } = this.parts;
    for (;;) {
      const removed = await uow.writeAcross(async (tx) => {
        const ended = await remove(tx);
        await publishLastEnded(tx, ended, hub.wantsMessages);
        return ended;
      });
      hub.forgetRemoved(removed);
      if (removed.length < SLICE) return;
    }
  }

  private async attempt(what: string, fields: Readonly<Record<string, unknown>>, work: () => Promise<void>) {
    try {
      await work();
    } catch (err) {
      this.parts.report(`${what} failed`, { ...fields, err });
    }
  }
}
