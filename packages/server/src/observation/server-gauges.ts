import type { EventHub, LogFollower } from '@parley/domain/kernel';
import type { Dispatcher } from '@parley/http';
import type { StorageGauges } from '@parley/sqlite';
import type { JobWorkers } from '../workers/job-workers.js';

/** How things stand at the moment. */
export interface ServerGauges {
  /** Requests that are not answered yet, long polls among them. */
  readonly requestsInFlight: number;
  /** What they hold in memory. */
  readonly bodiesBytes: number;
  /** Of answers that are not read yet. */
  readonly answersBytes: number;
  /** Event queues that this process has in memory. */
  readonly queues: number;
  /** Of these, those whose client waits for events. */
  readonly waitingPolls: number;
  /** Events that are committed, by whichever process, and not delivered yet. */
  readonly undeliveredEvents: number;
  /** By kind of job, for how long the one that is due longest has waited, in seconds; 0: none is due. */
  readonly jobLagSeconds: ReadonlyMap<string, number>;
  /** Null: the storage has none. */
  readonly storage: StorageGauges | null;
}

export interface GaugeSources {
  readonly dispatcher: Dispatcher;
  readonly hub: EventHub;
  readonly follower: LogFollower;
  readonly jobs: JobWorkers;
  readonly storage: (() => StorageGauges) | undefined;
}

/** Costs a few reads; for somebody who asks now and then. */
export async function readGauges({ dispatcher, hub, follower, jobs, storage }: GaugeSources): Promise<ServerGauges> {
  const queues = hub.knownQueues;
  return {
    requestsInFlight: dispatcher.inFlight,
    bodiesBytes: dispatcher.bytesInFlight.bodies,
    answersBytes: dispatcher.bytesInFlight.answers,
    queues: queues.length,
    waitingPolls: queues.filter(({ isWaitedFor }) => isWaitedFor).length,
    undeliveredEvents: await follower.countUndelivered(),
    jobLagSeconds: await jobs.lagSeconds(),
    storage: storage?.() ?? null,
  };
}
