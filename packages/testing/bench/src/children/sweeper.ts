import { randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep, setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { DELIVERY_FEATURES } from '@parley/domain/composition';
import {
  type Clock,
  DEFAULT_SWEEP_OPTIONS,
  type DomainEvent,
  EventHub,
  type EventSeq,
  LocalBus,
  LogFollower,
  QueueSweep,
  type RealmId,
  type UnixSeconds,
  type UserId,
} from '@parley/domain/kernel';
import { htmlMessages } from '@parley/markdown';
import { openSqliteStorage } from '@parley/sqlite';
import { ProcessUsage } from '@parley/testkit/process-usage';
import { answerCalls } from './answer-calls.js';

export interface AbandonCall {
  readonly database: string;
  readonly realmId: RealmId;
  readonly ownerIds: readonly UserId[];
  readonly queues: number;
  readonly events: number;
}

export interface SweepCall {
  readonly database: string;
  readonly realmId: RealmId;
}

export interface SweepResult {
  readonly seconds: number;
  readonly worstStallMs: number;
  /** Excludes time the thread waited, for example for disk syncs. */
  readonly worstWorkMs: number;
}

const ROWS_A_UNIT = 1000;
const IDLE_SECONDS = 600;
/** Interval of event loop checks, a lower bound of the measured delay. */
const RESOLUTION_MS = 1;

/** Manual clock. */
class SetClock implements Clock {
  ahead = 0;
  now(): UnixSeconds {
    return (Math.floor(Date.now() / 1000) + this.ahead) as UnixSeconds;
  }
  nowMs(): number {
    return Date.now() + this.ahead * 1000;
  }
}

answerCalls({ abandon, sweep });

/** Creates queues that are never polled and an event log that is never read. */
async function abandon({ database, realmId, ownerIds, queues, events }: AbandonCall): Promise<void> {
  const clock = new SetClock();
  const storage = openSqliteStorage({ path: database, clock, words: htmlMessages });
  const filter = { allPublicChannels: false, narrow: [] };
  const presentation = { eventTypes: ['message', 'subscription', 'realm_user'] };
  for (let from = 0; from < queues; from += ROWS_A_UNIT) {
    await storage.uow.write(realmId, async (tx) => {
      for (let n = from; n < Math.min(from + ROWS_A_UNIT, queues); n++) {
        await tx.queues.add({
          id: randomUUID(),
          realmId,
          ownerId: ownerIds[n % ownerIds.length]!,
          filter,
          presentation,
          startSeq: 1 as EventSeq,
          acked: -1,
          floorSeq: 1 as EventSeq,
          lastPolledAt: clock.now(),
          idleTimeoutSeconds: IDLE_SECONDS,
        });
      }
    });
  }
  const event: DomainEvent = { type: 'blank' };
  for (let from = 0; from < events; from += ROWS_A_UNIT) {
    await storage.uow.write(realmId, async (tx) => {
      for (let n = from; n < Math.min(from + ROWS_A_UNIT, events); n++) {
        await tx.events.append(realmId, { event, audience: { kind: 'nobody' } });
      }
    });
  }
  await storage.close();
}

/** Runs the server's periodic cleanup once they have expired. */
async function sweep({ database, realmId }: SweepCall): Promise<SweepResult> {
  const clock = new SetClock();
  const { uow, close } = openSqliteStorage({ path: database, clock, words: htmlMessages });
  const problems: string[] = [];
  const report = (message: string) => problems.push(message);
  const eventLoop = { yield: () => yieldToEventLoop() };
  const catalogue = { wants: () => false, needsOf: () => null, isWhole: () => true };
  const bus = new LocalBus().connect();
  // There is no other server that could leave gaps.
  const timers = { elapsedMs: () => 0, after: () => () => {} };
  const onListenerFailure = () => report('following events failed');
  const follower = new LogFollower({ uow, bus, clock, timers, onListenerFailure });
  const hub = new EventHub({ uow, follower, bus, clock, eventLoop, catalogue, features: DELIVERY_FEATURES, report });
  // Events have no consumers here.
  const options = { ...DEFAULT_SWEEP_OPTIONS, maxEventsForConsumers: 0 };
  const sweep = new QueueSweep({ uow, storage: uow, clock, eventLoop, hub, report }, options);
  const lastSeq = await uow.read(realmId, ({ events }) => events.lastSeq(realmId));
  clock.ahead = 2 * IDLE_SECONDS;
  const usage = new ProcessUsage(RESOLUTION_MS);
  const startedAt = performance.now();
  await sweep.run();
  const seconds = (performance.now() - startedAt) / 1000;
  await sleep(2 * RESOLUTION_MS);
  const isDone = await uow.read(
    realmId,
    async ({ queues, events }) =>
      (await queues.lowestFloor(realmId)) === null &&
      // The ends of the queues are newer events.
      (await events.prunedUpTo(realmId)) >= lastSeq,
  );
  await close();
  if (!isDone || problems.length > 0) throw new Error(`The sweep is incomplete. ${problems.join()}`);
  return { seconds, worstStallMs: Math.max(0, usage.stallMs), worstWorkMs: usage.workMs };
}
