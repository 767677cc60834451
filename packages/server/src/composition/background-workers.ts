import { RemoveOldBounces } from '@parley/domain/access';
import { MarkIdleChannels } from '@parley/domain/channels';
import { ReadFileTexts, SweepFiles } from '@parley/domain/files';
import { RemoveUnusedGroups } from '@parley/domain/groups';
import { Leases, type NodeState, type StorageGauges, type UnitOfWork } from '@parley/domain/kernel';
import { type PeopleDirectory, RemoveExpiredLogIns, SyncDirectory } from '@parley/domain/log-in';
import { CopyErasuresToLedger, RemoveOldAuditEntries, ReportUnsupportedSchemas } from '@parley/domain/membership';
import { PlanDigests, RefreshPushStatus, RemoveExpiredReplyAddresses } from '@parley/domain/push';
import { RemoveExpiredSessions } from '@parley/domain/users';
import { ExpireMessages, PurgeArchive } from '@parley/domain/writing';
import { warn } from '@parley/http';
import type { LastBackup } from '../backup/last-backup.js';
import { KEEP_AUDIT_DAYS, KEEP_DELETED_DAYS } from '../configuration/settings.js';
import type { Resolve } from '../kernel/resolve.js';
import { directorySync } from '../observation/audit-trail.js';
import { DiskWatch, diskSpaceOf } from '../observation/disk-space.js';
import type { Bucket } from '../observation/metrics.js';
import type { Activity } from '../workers/activity.js';
import { EndedLeases } from '../workers/ended-leases.js';
import { followingClock } from '../workers/following-clock.js';
import { LoadMonitor } from '../workers/load-monitor.js';
import { MessageIndexing } from '../workers/message-indexing.js';
import { NotificationWorker } from '../workers/notification-worker.js';
import { PresenceSaver } from '../workers/presence-saver.js';
import { Promotion } from '../workers/promotion.js';
import { type Recurrence, RecurringWorker, together, type Worker } from '../workers/recurring-worker.js';
import { StorageWatch } from '../workers/storage-watch.js';
import type { Get } from './services.js';

const SECOND_MS = 1000;
/** Interval for reading logs while no bus is connected. */
const UNHEARD_MS = SECOND_MS / 4;
/** Minimum interval of resting work while nobody uses the server. */
const REST_MS = 30 * SECOND_MS;
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
  /** True if the work rests while nobody uses the server. */
  readonly rests?: boolean;
  /** True if the work deletes data because of their age, so that it waits after a large step of the clock. */
  readonly deletes?: boolean;
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

export interface WorkerOptions {
  /** True to reject requests while the event loop lags or memory runs out; default: false. */
  readonly shedsLoad?: boolean;
  /** Called every second while the server is used. Throws if other processes no longer find the written data. */
  readonly verifyStorage?: () => void;
  /**
   * Called every ten seconds by servers that share a database: compares clocks and records that the server is running.
   * Returns the ids of servers that are gone.
   */
  readonly reportPresence?: (state: NodeState) => Promise<readonly string[]>;
  /** Removes what deleted rows leave in the files of the database. Runs every day; default: nothing. */
  readonly eraseDeleted?: (signal: AbortSignal) => Promise<void>;
  /** Remembers the end of the database's history elsewhere, and checks the claim on files. Runs every minute. */
  readonly keepHistory?: () => Promise<void>;
  /** Logs problems of the database server for the operator. Runs at startup and every hour. */
  readonly examineStorage?: () => Promise<void>;
  /** Default: no gauges. */
  readonly storageGauges?: () => StorageGauges;
  /** True if `/readyz` reports the state of the bus; default: false. */
  readonly hasBus?: boolean;
  /** Bucket of the files, which is checked every ten seconds; default: none. */
  readonly bucket?: Bucket;
  /** Folder on a disk that needs free space; default: none. */
  readonly dataFolder?: string;
  /** Reads the result of the last backup by `parley backup`, which works on SQLite only; default: none. */
  readonly readLastBackup?: () => LastBackup | null;
  /** True if other databases use the folder of files, so that nothing in it is removed; default: false. */
  readonly sharesFiles?: boolean;
  /** Days for which deleted messages can be restored; default: 30. */
  readonly keepDeletedDays?: number;
  /** Days for which entries of the audit log are kept; default: 400. */
  readonly keepAuditDays?: number;
}

/** Creates workers that repeat a step. */
interface Schedule {
  readonly leases: Leases;
  /** @param rests true if the work rests while nobody uses the server; the next use resumes it */
  recurring(recurrence: Recurrence, rests?: boolean): Worker;
  every(task: RecurringTask): Worker;
}

function scheduleOf(get: Get): Schedule {
  const leases = new Leases(get('storage'), get('clock'), get('serverId'));
  const timers = get('timers');
  const activity: Activity = get('activity');
  const recurring = (recurrence: Recurrence, rests = false) => {
    const run = async () => {
      const delay = await recurrence.run();
      return delay && together(timers, rests && activity.isQuiet ? Math.max(delay, REST_MS) : delay);
    };
    const worker = new RecurringWorker({ ...recurrence, run }, timers, get('report'));
    if (rests) activity.onResume(() => worker.wakeIn(recurrence.firstDelayMs));
    return worker;
  };
  const every = ({
    name,
    everyMs,
    firstMs = everyMs,
    isOwn = false,
    rests = false,
    deletes = false,
    run,
  }: RecurringTask) => {
    const recurrence = {
      name,
      firstDelayMs: firstMs,
      retryDelayMs: everyMs,
      run: async () => {
        const settlesInMs = deletes ? get('clockWatch').deletionsWaitSeconds * SECOND_MS : 0;
        if (settlesInMs > 0) return Math.min(settlesInMs, everyMs);
        const waitSeconds = isOwn ? 0 : await leases.take(name, everyMs / SECOND_MS + LEASE_MARGIN_SECONDS);
        if (waitSeconds > 0) return Math.min(waitSeconds * SECOND_MS, everyMs);
        await run();
        return everyMs;
      },
    };
    return recurring(recurrence, rests);
  };
  return { leases, recurring, every };
}

/** Background work of a running server, in the order of its start. */
export function workersOf(options: WorkerOptions, get: Get, resolve: Resolve): readonly Worker[] {
  const schedule = scheduleOf(get);
  return [
    new LeaseRelease(() => resolve(EndedLeases).release([get('serverId')])),
    ...inactivityWorkers(schedule, resolve),
    ...eventWorkers(schedule, get),
    ...serverWorkers(schedule, options, get, resolve),
    ...databaseWorkers(schedule, options, get),
    resolve(PresenceSaver),
    resolve(Promotion),
    ...expiryWorkers(schedule, options, get, resolve),
    ...erasureWorkers(schedule, options, resolve),
    ...directoryWorkers(schedule, get, resolve),
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
    recurring(
      {
        name: 'reading events of other processes',
        firstDelayMs: UNHEARD_MS,
        retryDelayMs: UNHEARD_MS,
        run: async () => {
          await get('follower').catchUp();
          return get('bus').state === 'connected' ? SECOND_MS : UNHEARD_MS;
        },
      },
      true,
    ),
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
      isOwn: true,
      rests: true,
      run: async () => {
        if (!(await sweepsQueues())) return;
        await get('queueSweep').removeExpired();
        await get('queueSweep').runIfGrown();
      },
    }),
  ];
}

/** State for operators who look at all servers. */
async function stateOf({ hasBus, storageGauges }: WorkerOptions, get: Get): Promise<NodeState> {
  return {
    undelivered: await get('follower').countUndelivered(),
    bus: hasBus ? get('bus').state : null,
    usesReplica: storageGauges?.().replica?.isUsed ?? null,
  };
}

/** Limits, load and disk of the server itself. */
function serverWorkers(
  { every, recurring }: Schedule,
  options: WorkerOptions,
  get: Get,
  resolve: Resolve,
): readonly Worker[] {
  const { shedsLoad, reportPresence, bucket, dataFolder } = options;
  return [
    recurring(followingClock(get('clockWatch'), get('unitOfWork'), get('clock'))),
    every({
      name: 'exchanging rate limit counts',
      everyMs: SECOND_MS,
      firstMs: 0,
      isOwn: true,
      rests: true,
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
    ...ifGiven(reportPresence, (reportPresence) =>
      every({
        name: 'reporting to the database',
        everyMs: 10 * SECOND_MS,
        firstMs: SECOND_MS,
        isOwn: true,
        run: async () => resolve(EndedLeases).release(await reportPresence(await stateOf(options, get))),
      }),
    ),
    // The bucket logs its failures itself.
    ...ifGiven(bucket, (bucket) =>
      every({
        name: 'checking the bucket',
        everyMs: 10 * SECOND_MS,
        isOwn: true,
        run: () => bucket.check().catch(() => {}),
      }),
    ),
    every({
      name: 'removing rate limit counts',
      everyMs: HOUR_MS,
      run: () => get('callExchange').removeExpired(),
    }),
    ...ifGiven(dataFolder, (dataFolder) =>
      every({
        name: 'watching the disk',
        everyMs: MINUTE_MS,
        firstMs: 0,
        isOwn: true,
        run: new DiskWatch(get('logger'), () => diskSpaceOf(dataFolder)).run,
      }),
    ),
    ...(shedsLoad ? [resolve(LoadMonitor)] : []),
  ];
}

/** Returns a worker if the server has the part that it needs. */
const ifGiven = <Part>(part: Part | null | undefined, workerFor: (part: Part) => Worker): readonly Worker[] =>
  part === null || part === undefined ? [] : [workerFor(part)];

function databaseWorkers(
  { every }: Schedule,
  { verifyStorage, examineStorage, keepHistory }: WorkerOptions,
  get: Get,
): readonly Worker[] {
  return [
    // Separate from other work, which may be blocked by the storage.
    ...ifGiven(verifyStorage, (verifyStorage) =>
      every({
        name: 'checking the database file',
        everyMs: SECOND_MS,
        isOwn: true,
        rests: true,
        run: new StorageWatch(verifyStorage, get('hub')).run,
      }),
    ),
    ...ifGiven(keepHistory, (run) =>
      every({ name: 'remembering the history of the database', everyMs: MINUTE_MS, isOwn: true, rests: true, run }),
    ),
    ...ifGiven(examineStorage, (run) =>
      every({ name: 'examining the database server', everyMs: HOUR_MS, firstMs: 0, isOwn: true, run }),
    ),
  ];
}

/** Deletes expired messages, files, sessions and audit entries. */
function expiryWorkers(
  { every }: Schedule,
  { keepDeletedDays = KEEP_DELETED_DAYS, keepAuditDays = KEEP_AUDIT_DAYS, sharesFiles = false }: WorkerOptions,
  get: Get,
  resolve: Resolve,
): readonly Worker[] {
  const keepDeletedSeconds = keepDeletedDays * DAY_SECONDS;
  return [
    every({
      name: 'deleting expired messages',
      deletes: true,
      everyMs: HOUR_MS,
      firstMs: MINUTE_MS,
      // A message is gone within a day of its time (channels §4.4).
      run: async () => {
        await resolve(ExpireMessages).execute();
        await resolve(PurgeArchive).execute({ keepSeconds: keepDeletedSeconds });
      },
    }),
    ...(sharesFiles
      ? []
      : [
          every({
            name: 'removing unused files',
            deletes: true,
            // Files are kept for at least a week, orphaned bytes for an hour.
            everyMs: 6 * HOUR_MS,
            firstMs: 10 * MINUTE_MS,
            run: async () => {
              const removed = await resolve(SweepFiles).execute({ keepDetachedSeconds: keepDeletedSeconds });
              if (Object.values(removed).some((count) => count > 0))
                get('logger').info(removed, 'removed unused files');
            },
          }),
        ]),
    every({
      name: 'removing old entries of the audit log',
      deletes: true,
      everyMs: HOUR_MS,
      run: () => resolve(RemoveOldAuditEntries).execute({ keepSeconds: keepAuditDays * DAY_SECONDS }),
    }),
    every({
      name: 'checking schemas of data',
      everyMs: DAY_MS,
      firstMs: 0,
      isOwn: true,
      run: () => resolve(ReportUnsupportedSchemas).execute(),
    }),
    every({
      name: 'removing expired sessions',
      deletes: true,
      everyMs: HOUR_MS,
      run: () => resolve(RemoveExpiredSessions).execute(),
    }),
  ];
}

/** Erases the bytes of deleted rows, and keeps the ledger of erasures. */
function erasureWorkers(schedule: Schedule, { eraseDeleted }: WorkerOptions, resolve: Resolve): readonly Worker[] {
  const ledger = schedule.every({
    name: 'copying erasures to the ledger',
    everyMs: HOUR_MS,
    firstMs: 0,
    isOwn: true,
    rests: true,
    run: () => resolve(CopyErasuresToLedger).execute(),
  });
  return [ledger, ...(eraseDeleted ? [byteErasure(schedule, eraseDeleted)] : [])];
}

/** Stopping the server does not wait for a large index. */
function byteErasure({ every }: Schedule, eraseDeleted: (signal: AbortSignal) => Promise<void>): Worker {
  const stopping = new AbortController();
  const worker = every({
    name: 'erasing deleted data',
    everyMs: DAY_MS,
    // A server that restarts every day does it too, after it has purged messages.
    firstMs: 10 * MINUTE_MS,
    run: () => eraseDeleted(stopping.signal),
  });
  return {
    name: worker.name,
    start: () => worker.start(),
    stop: () => {
      stopping.abort();
      return worker.stop();
    },
  };
}

function directoryWorkers({ every }: Schedule, get: Get, resolve: Resolve): readonly Worker[] {
  return get('peopleDirectories')
    .filter(({ syncMinutes }) => syncMinutes > 0)
    .map((directory) =>
      every({
        name: `synchronizing the directory ${directory.name}`,
        everyMs: directory.syncMinutes * MINUTE_MS,
        firstMs: MINUTE_MS,
        run: () => syncDirectory(directory, resolve, get),
      }),
    );
}

/** Addresses for replies, bounces and started log-ins. */
function expiredAddressWorkers({ every }: Schedule, resolve: Resolve): readonly Worker[] {
  return [
    every({
      name: 'removing expired addresses',
      deletes: true,
      everyMs: HOUR_MS,
      run: async () => {
        await resolve(RemoveExpiredReplyAddresses).execute();
        await resolve(RemoveOldBounces).execute();
      },
    }),
    every({
      name: 'removing expired log-ins',
      deletes: true,
      everyMs: MINUTE_MS,
      run: () => resolve(RemoveExpiredLogIns).execute(),
    }),
  ];
}

/** Work that follows messages and jobs: search index, failed jobs, push service and digests. */
function followUpWorkers({ recurring, every }: Schedule, get: Get, resolve: Resolve): readonly Worker[] {
  return [
    resolve(MessageIndexing),
    recurring(
      {
        name: 'reading files for search',
        firstDelayMs: READING_PAUSE_MS,
        run: async () => ((await resolve(ReadFileTexts).execute()) ? INDEXING_PAUSE_MS : READING_PAUSE_MS),
      },
      true,
    ),
    every({
      name: 'removing failed jobs',
      deletes: true,
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
async function syncDirectory(directory: PeopleDirectory, resolve: Resolve, get: Get): Promise<void> {
  const logger = get('logger');
  const { stopped, people, counts, problems } = await get('auditTrail').run(directorySync(directory.name), () =>
    resolve(SyncDirectory).execute({ directory, isDryRun: false }),
  );
  const fields = { audit: 'administration', program: `LDAP: ${directory.name}`, people, ...counts, stopped };
  if (stopped !== null) logger.error(fields, 'the synchronization of a directory stopped');
  else warn(logger, { ...fields, problems: problems.slice(0, 10) }, 'synchronized a directory');
}

async function forgetJobs(uow: UnitOfWork, before: number): Promise<void> {
  while ((await uow.writeAcross((tx) => tx.jobs.removeSetAside(before, JOBS_AT_A_TIME))) === JOBS_AT_A_TIME);
}
