import { RemoveOldBounces } from '@parley/domain/access';
import { MarkIdleChannels } from '@parley/domain/channels';
import { ReadFileTexts, SweepFiles } from '@parley/domain/files';
import { PromoteFullMembers, RemoveUnusedGroups } from '@parley/domain/groups';
import {
  type Clock,
  type DomainEvent,
  type EventHub,
  type EventListener,
  Leases,
  type NodeState,
  type ReportProblem,
  type StoredEvent,
  type Timers,
  type UnitOfWork,
} from '@parley/domain/kernel';
import { type PeopleDirectory, RemoveExpiredLogIns, SyncDirectory } from '@parley/domain/membership';
import { ExpireMessages, IndexMessages, PurgeArchive } from '@parley/domain/messages';
import { PlanDigests, RefreshPushStatus, RemoveExpiredReplyAddresses } from '@parley/domain/push';
import { PresenceBoard, RemoveExpiredSessions } from '@parley/domain/users';
import { type Logger, warn } from '@parley/http';
import { KEEP_DELETED_DAYS } from '../configuration/settings.js';
import type { Resolve } from '../kernel/injector.js';
import { DiskWatch, diskSpaceOf } from '../observation/disk-space.js';
import { EndedLeases } from '../workers/ended-leases.js';
import { LoadMonitor } from '../workers/load-monitor.js';
import { NotificationWorker } from '../workers/notification-worker.js';
import { periodic, type Recurrence, RecurringWorker, type Worker } from '../workers/recurring-worker.js';
import type { ParleyDependencies } from './parley-dependencies.js';
import type { Get } from './services.js';

/** Interval at which missing database files are detected. */
const VERIFY_MS = 1000;

/**
 * Verifies that written data is still where other processes find it. Separate from other work, which may be blocked
 * by the storage.
 */
export class StorageWatch extends RecurringWorker {
  constructor(verify: () => void, hub: Pick<EventHub, 'close'>, timers: Timers, report: ReportProblem) {
    let isLost = false;
    const look = () => {
      try {
        verify();
      } catch {
        // The storage reports the problem once. Pending polls end and fail the next time.
        if (isLost) return;
        isLost = true;
        hub.close();
      }
    };
    super(periodic('checking the database file', VERIFY_MS, look), timers, report);
  }
}

/** Maximum time of presence that a crash loses. */
const SAVE_MS = 1000;

/** Stores presence at most once a second and at shutdown. */
export class PresenceSaver implements Worker {
  static readonly inject = [PresenceBoard, 'timers', 'report'] as const;

  readonly name = 'storing presence';
  private readonly worker: RecurringWorker;

  constructor(
    private readonly board: Pick<PresenceBoard, 'save'>,
    timers: Timers,
    report: ReportProblem,
  ) {
    this.worker = new RecurringWorker(
      periodic(this.name, SAVE_MS, () => board.save()),
      timers,
      report,
    );
  }

  start(): void {
    this.worker.start();
  }

  async stop(): Promise<void> {
    await this.worker.stop();
    await this.board.save();
  }
}

/** Maximum delay, since the clock may be changed. */
const MAX_SLEEP_MS = 3_600_000;
/** Minimum delay after the start or when more users may be waiting. */
const SOON_MS = 1000;

const changesWhoWaits = (event: DomainEvent): boolean =>
  event.type === 'user.created' ||
  event.type === 'user.role_changed' ||
  (event.type === 'realm.setting_changed' && event.setting === 'waitingPeriodThreshold');

/**
 * Promotes members at the end of their waiting period. Computed instead of scheduled as jobs, since it depends on
 * current users and settings.
 */
export class Promotion implements Worker, EventListener {
  static readonly inject = [PromoteFullMembers, 'clock', 'timers', 'report'] as const;

  readonly name = 'promoting members';
  private readonly worker: RecurringWorker;

  constructor(promote: Pick<PromoteFullMembers, 'execute'>, clock: Clock, timers: Timers, report: ReportProblem) {
    const run = async () => {
      const next = await promote.execute();
      return next === null ? null : Math.min(Math.max(SOON_MS, next * 1000 - clock.nowMs()), MAX_SLEEP_MS);
    };
    const recurrence = { name: this.name, firstDelayMs: SOON_MS, retryDelayMs: MAX_SLEEP_MS, run };
    this.worker = new RecurringWorker(recurrence, timers, report);
  }

  start(): void {
    this.worker.start();
  }

  onEvents(events: readonly StoredEvent[]): void {
    if (events.some(({ event }) => changesWhoWaits(event))) this.worker.wakeIn(SOON_MS);
  }

  stop(): Promise<void> {
    return this.worker.stop();
  }
}

/** Indexes messages for search. Runs at once when an organization changes its search languages. */
export class MessageIndexing implements Worker, EventListener {
  static readonly inject = [IndexMessages, 'timers', 'report'] as const;

  readonly name = 'indexing messages for search';
  private readonly worker: RecurringWorker;

  constructor(index: Pick<IndexMessages, 'execute'>, timers: Timers, report: ReportProblem) {
    const run = async () => ((await index.execute()) ? INDEXING_PAUSE_MS : MINUTE_MS);
    this.worker = new RecurringWorker({ name: this.name, firstDelayMs: INDEXING_PAUSE_MS, run }, timers, report);
  }

  start(): void {
    this.worker.start();
  }

  onEvents(events: readonly StoredEvent[]): void {
    const isPending = ({ event }: StoredEvent) =>
      event.type === 'realm.setting_changed' && event.setting === 'searchLanguages';
    if (events.some(isPending)) this.worker.wakeIn(0);
  }

  stop(): Promise<void> {
    return this.worker.stop();
  }
}

const SECOND_MS = 1000;
/** Interval for reading logs while no bus is connected. */
const UNHEARD_MS = SECOND_MS / 4;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const DAY_SECONDS = 86_400;

/** Pause between two units of indexing, which leaves others most of the time. */
const INDEXING_PAUSE_MS = 10;
/** Interval between checks for new files. */
const READING_PAUSE_MS = 5000;
/** Operators can look at jobs that were given up for this long. */
const KEEP_JOBS_SECONDS = 30 * DAY_SECONDS;
const JOBS_AT_A_TIME = 250;

interface RecurringTask {
  readonly name: string;
  readonly everyMs: number;
  /** Delay of the first run after the start; default: `everyMs`. */
  readonly firstMs?: number;
  /** True if every server runs it; by default only one server of the database, which holds a lease. */
  readonly isOwn?: boolean;
  readonly run: () => Promise<unknown>;
}

/** Grace period after a due run before another server takes over the work. */
const LEASE_MARGIN_SECONDS = 30;
const EVENT_QUEUES = 'event queues';
const EVENT_QUEUES_SECONDS = 30;

/** Lets other servers take over immediately when this one stops. Stopped last, after the work has ended. */
class LeaseRelease implements Worker {
  readonly name = 'holding leases';
  constructor(private readonly release: () => Promise<void>) {}
  start(): void {}
  stop(): Promise<void> {
    return this.release();
  }
}

/** Creates workers that repeat a step. */
interface Schedule {
  readonly leases: Leases;
  recurring(recurrence: Recurrence): Worker;
  every(task: RecurringTask): Worker;
}

function scheduleOf(get: Get): Schedule {
  const leases = new Leases(get('storage'), get('clock'), get('serverId'));
  const recurring = (recurrence: Recurrence) => new RecurringWorker(recurrence, get('timers'), get('report'));
  const every = ({ name, everyMs, firstMs = everyMs, isOwn = false, run }: RecurringTask) =>
    recurring({
      name,
      firstDelayMs: firstMs,
      retryDelayMs: everyMs,
      run: async () => {
        const waitSeconds = isOwn ? 0 : await leases.take(name, everyMs / SECOND_MS + LEASE_MARGIN_SECONDS);
        if (waitSeconds > 0) return Math.min(waitSeconds * SECOND_MS, everyMs);
        await run();
        return everyMs;
      },
    });
  return { leases, recurring, every };
}

/** Background work of a running server, in the order of its start. */
export function workersOf(parts: ParleyDependencies, get: Get, resolve: Resolve): readonly Worker[] {
  const schedule = scheduleOf(get);
  return [
    new LeaseRelease(() => resolve(EndedLeases).release([get('serverId')])),
    ...inactivityWorkers(schedule, resolve),
    ...eventWorkers(schedule, get),
    ...serverWorkers(schedule, parts, get, resolve),
    resolve(PresenceSaver),
    resolve(Promotion),
    ...expiryWorkers(schedule, parts, resolve),
    ...directoryWorkers(schedule, parts, get, resolve),
    ...expiredAddressWorkers(schedule, resolve),
    get('jobWorkers'),
    ...followUpWorkers(schedule, get, resolve),
    resolve(NotificationWorker),
    get('consumers'),
  ];
}

/** Channels and groups that are no longer used. */
function inactivityWorkers({ every }: Schedule, resolve: Resolve): readonly Worker[] {
  return [
    every({
      name: 'marking idle channels',
      everyMs: DAY_MS,
      // A server that restarts every day does it too.
      firstMs: 10 * MINUTE_MS,
      run: () => resolve(MarkIdleChannels).execute(),
    }),
    every({
      name: 'removing unused groups',
      everyMs: HOUR_MS,
      run: () => resolve(RemoveUnusedGroups).execute(),
    }),
  ];
}

/** Event log and event queues. */
function eventWorkers({ leases, recurring, every }: Schedule, get: Get): readonly Worker[] {
  const sweepsQueues = async () => (await leases.take(EVENT_QUEUES, EVENT_QUEUES_SECONDS)) === 0;
  return [
    recurring({
      name: 'reading events of other processes',
      firstDelayMs: UNHEARD_MS,
      retryDelayMs: UNHEARD_MS,
      run: async () => {
        await get('follower').catchUp();
        return get('bus').state === 'connected' ? SECOND_MS : UNHEARD_MS;
      },
    }),
    every({
      name: 'removing expired event queues',
      everyMs: MINUTE_MS,
      isOwn: true,
      run: async () => {
        const sweep = get('queueSweep');
        return (await sweepsQueues()) ? sweep.run() : sweep.savePositions();
      },
    }),
    every({
      name: 'limiting the event log',
      everyMs: 2 * SECOND_MS,
      firstMs: 2 * SECOND_MS,
      isOwn: true,
      run: async () => {
        if (!(await sweepsQueues())) return;
        await get('queueSweep').removeExpired();
        await get('queueSweep').runIfGrown();
      },
    }),
  ];
}

/** State for operators who look at all servers. */
async function stateOf({ hasBus, storageGauges }: ParleyDependencies, get: Get): Promise<NodeState> {
  return {
    undelivered: await get('follower').countUndelivered(),
    bus: hasBus ? get('bus').state : null,
    usesReplica: storageGauges?.().replica?.isUsed ?? null,
  };
}

/** Limits, load and storage of the server itself. */
function serverWorkers(
  { every, recurring }: Schedule,
  parts: ParleyDependencies,
  get: Get,
  resolve: Resolve,
): readonly Worker[] {
  const { shedsLoad, verifyStorage, reportPresence, examineStorage, bucket, dataFolder, logger } = parts;
  return [
    every({
      name: 'exchanging rate limit counts',
      everyMs: SECOND_MS,
      firstMs: 0,
      isOwn: true,
      run: () => get('callExchange').run(),
    }),
    recurring({
      name: 'ending leases of stopped servers',
      firstDelayMs: 0,
      run: async () => {
        await resolve(EndedLeases).releaseLocal();
        return null;
      },
    }),
    ...(reportPresence
      ? [
          every({
            name: 'reporting to the database',
            everyMs: 10 * SECOND_MS,
            firstMs: SECOND_MS,
            isOwn: true,
            run: async () => resolve(EndedLeases).release(await reportPresence(await stateOf(parts, get))),
          }),
        ]
      : []),
    // The bucket logs its failures itself.
    ...(bucket
      ? [
          every({
            name: 'checking the bucket',
            everyMs: 10 * SECOND_MS,
            isOwn: true,
            run: () => bucket.check().catch(() => {}),
          }),
        ]
      : []),
    every({
      name: 'removing rate limit counts',
      everyMs: HOUR_MS,
      run: () => get('callExchange').removeExpired(),
    }),
    ...(dataFolder !== undefined
      ? [
          every({
            name: 'watching the disk',
            everyMs: MINUTE_MS,
            firstMs: 0,
            isOwn: true,
            run: new DiskWatch(logger, () => diskSpaceOf(dataFolder)).run,
          }),
        ]
      : []),
    ...(shedsLoad ? [resolve(LoadMonitor)] : []),
    ...(verifyStorage ? [new StorageWatch(verifyStorage, get('hub'), get('timers'), get('report'))] : []),
    ...(examineStorage
      ? [
          every({
            name: 'examining the database server',
            everyMs: HOUR_MS,
            firstMs: 0,
            isOwn: true,
            run: examineStorage,
          }),
        ]
      : []),
  ];
}

/** Messages, files and sessions at the end of their time. */
function expiryWorkers(
  { every }: Schedule,
  { keepDeletedDays = KEEP_DELETED_DAYS }: ParleyDependencies,
  resolve: Resolve,
): readonly Worker[] {
  const keepDeletedSeconds = keepDeletedDays * DAY_SECONDS;
  return [
    every({
      name: 'deleting expired messages',
      everyMs: HOUR_MS,
      firstMs: MINUTE_MS,
      // A message is gone within a day of its time (channels §4.4).
      run: async () => {
        await resolve(ExpireMessages).execute();
        await resolve(PurgeArchive).execute({ keepSeconds: keepDeletedSeconds });
      },
    }),
    every({
      name: 'removing unused files',
      // Files are kept for at least a week, orphaned bytes for an hour.
      everyMs: 6 * HOUR_MS,
      firstMs: 10 * MINUTE_MS,
      run: () => resolve(SweepFiles).execute({ keepDetachedSeconds: keepDeletedSeconds }),
    }),
    every({
      name: 'removing expired sessions',
      everyMs: HOUR_MS,
      run: () => resolve(RemoveExpiredSessions).execute(),
    }),
  ];
}

function directoryWorkers(
  { every }: Schedule,
  { directories = [] }: ParleyDependencies,
  get: Get,
  resolve: Resolve,
): readonly Worker[] {
  return directories
    .filter(({ syncMinutes }) => syncMinutes > 0)
    .map((directory) =>
      every({
        name: `synchronizing the directory ${directory.name}`,
        everyMs: directory.syncMinutes * MINUTE_MS,
        firstMs: MINUTE_MS,
        run: () => syncDirectory(directory, resolve, get('logger')),
      }),
    );
}

/** Addresses for replies, bounces and started log-ins. */
function expiredAddressWorkers({ every }: Schedule, resolve: Resolve): readonly Worker[] {
  return [
    every({
      name: 'removing expired addresses',
      everyMs: HOUR_MS,
      run: async () => {
        await resolve(RemoveExpiredReplyAddresses).execute();
        await resolve(RemoveOldBounces).execute();
      },
    }),
    every({
      name: 'removing expired log-ins',
      everyMs: MINUTE_MS,
      run: () => resolve(RemoveExpiredLogIns).execute(),
    }),
  ];
}

/** Work that follows messages and jobs: search index, failed jobs, push service and digests. */
function followUpWorkers({ recurring, every }: Schedule, get: Get, resolve: Resolve): readonly Worker[] {
  return [
    resolve(MessageIndexing),
    recurring({
      name: 'reading files for search',
      firstDelayMs: READING_PAUSE_MS,
      run: async () => ((await resolve(ReadFileTexts).execute()) ? INDEXING_PAUSE_MS : READING_PAUSE_MS),
    }),
    every({
      name: 'removing failed jobs',
      everyMs: HOUR_MS,
      run: () => forgetJobs(get('unitOfWork'), get('clock').now() - KEEP_JOBS_SECONDS),
    }),
    every({
      name: 'asking the push service which organizations it serves',
      everyMs: HOUR_MS,
      firstMs: 0,
      run: () => resolve(RefreshPushStatus).execute(),
    }),
    every({
      name: 'planning digests',
      everyMs: HOUR_MS,
      firstMs: MINUTE_MS,
      run: () => resolve(PlanDigests).execute(),
    }),
  ];
}

/** Logs an audit line, even if nothing was changed but the reason needs the operator's attention. */
async function syncDirectory(directory: PeopleDirectory, resolve: Resolve, logger: Logger): Promise<void> {
  const { stopped, people, counts, problems } = await resolve(SyncDirectory).execute({ directory, isDryRun: false });
  const fields = { audit: 'administration', program: `LDAP: ${directory.name}`, people, ...counts, stopped };
  if (stopped !== null) logger.error(fields, 'the synchronization of a directory stopped');
  else warn(logger, { ...fields, problems: problems.slice(0, 10) }, 'synchronized a directory');
}

async function forgetJobs(uow: UnitOfWork, before: number): Promise<void> {
  while ((await uow.writeAcross((tx) => tx.jobs.removeSetAside(before, JOBS_AT_A_TIME))) === JOBS_AT_A_TIME);
}
