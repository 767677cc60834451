import { randomUUID } from 'node:crypto';
import { RemoveOldBounces } from '@parley/domain/access';
import { MarkIdleChannels } from '@parley/domain/channels';
import { SweepFiles } from '@parley/domain/files';
import { PromoteFullMembers, RemoveUnusedGroups } from '@parley/domain/groups';
import {
  type Clock,
  type DomainEvent,
  type EventHub,
  type EventListener,
  Leases,
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
import { LoadMonitor } from '../workers/load-monitor.js';
import { NotificationWorker } from '../workers/notification-worker.js';
import { periodic, type Recurrence, RecurringWorker, type Worker } from '../workers/recurring-worker.js';
import type { ParleyDependencies } from './parley-dependencies.js';
import type { Get } from './services.js';

/** Interval for detecting missing database files. */
const VERIFY_MS = 1000;

/** Verifies that other processes still find the written data. Separate from other work, which the storage may block. */
export class StorageWatch extends RecurringWorker {
  constructor(verify: () => void, hub: Pick<EventHub, 'close'>, timers: Timers, report: ReportProblem) {
    let isLost = false;
    const look = () => {
      try {
        verify();
      } catch {
        // The storage logs the problem once. Pending polls end, and later ones fail.
        if (isLost) return;
        isLost = true;
        hub.close();
      }
    };
    super(periodic('checking the database file', VERIFY_MS, look), timers, report);
  }
}

/** Maximum loss of presence in a crash. */
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

/** Maximum delay, since the system clock may be changed. */
const MAX_SLEEP_MS = 3_600_000;
/** Minimum delay after startup or while more users may be due. */
const SOON_MS = 1000;

const changesWhoWaits = (event: DomainEvent): boolean =>
  event.type === 'user.created' ||
  event.type === 'user.role_changed' ||
  (event.type === 'realm.setting_changed' && event.setting === 'waitingPeriodThreshold');

/**
 * Promotes members at the end of their waiting period. Computes due times instead of scheduling jobs, since they depend
 * on current users and settings.
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

const SECOND_MS = 1000;
/** Log polling interval while no bus reports commits of other servers. */
const UNHEARD_MS = SECOND_MS / 4;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const DAY_SECONDS = 86_400;

/** Pause between two indexing units, which leaves most of the time to other work. */
const INDEXING_PAUSE_MS = 10;
/** Time for which operators can inspect failed jobs. */
const KEEP_JOBS_SECONDS = 30 * DAY_SECONDS;
const JOBS_AT_A_TIME = 250;

interface RecurringTask {
  readonly name: string;
  readonly everyMs: number;
  /** Delay of the first run after startup; default: `everyMs`. */
  readonly firstMs?: number;
  /** True if every server does the work; by default only one server per database does, under a lease. */
  readonly isOwn?: boolean;
  readonly run: () => Promise<unknown>;
}

/** Grace period for a due run before another server takes over. */
const LEASE_MARGIN_SECONDS = 30;
const EVENT_QUEUES = 'event queues';
const EVENT_QUEUES_SECONDS = 30;

/** Releases the leases at shutdown, so that another server takes over at once. */
class LeaseRelease implements Worker {
  readonly name = 'holding leases';
  constructor(private readonly leases: Leases) {}
  start(): void {}
  stop(): Promise<void> {
    return this.leases.release();
  }
}

/** Background work of a running server, in start order. */
export function workersOf(
  {
    shedsLoad,
    verifyStorage,
    reportPresence,
    examineStorage,
    keepDeletedDays = KEEP_DELETED_DAYS,
    directories = [],
  }: ParleyDependencies,
  get: Get,
  resolve: Resolve,
): readonly Worker[] {
  const timers = get('timers');
  const report = get('report');
  const keepDeletedSeconds = keepDeletedDays * DAY_SECONDS;
  const recurring = (recurrence: Recurrence) => new RecurringWorker(recurrence, timers, report);
  const leases = new Leases(get('storage'), get('clock'), randomUUID());
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
  const sweepsQueues = async () => (await leases.take(EVENT_QUEUES, EVENT_QUEUES_SECONDS)) === 0;
  return [
    new LeaseRelease(leases),
    every({
      name: 'marking idle channels',
      everyMs: DAY_MS,
      // A short delay, so that servers restarted daily run it too.
      firstMs: 10 * MINUTE_MS,
      run: () => resolve(MarkIdleChannels).execute(),
    }),
    every({
      name: 'removing unused groups',
      everyMs: HOUR_MS,
      run: () => resolve(RemoveUnusedGroups).execute(),
    }),
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
        if (await sweepsQueues()) await get('queueSweep').runIfGrown();
      },
    }),
    every({
      name: 'exchanging counts of calls',
      everyMs: SECOND_MS,
      firstMs: 0,
      isOwn: true,
      run: () => get('callExchange').run(),
    }),
    ...(reportPresence
      ? [every({ name: 'reporting to the database', everyMs: 10 * SECOND_MS, isOwn: true, run: reportPresence })]
      : []),
    every({
      name: 'removing counts of calls',
      everyMs: HOUR_MS,
      run: () => get('callExchange').removeExpired(),
    }),
    ...(shedsLoad ? [resolve(LoadMonitor)] : []),
    ...(verifyStorage ? [new StorageWatch(verifyStorage, get('hub'), timers, report)] : []),
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
    resolve(PresenceSaver),
    resolve(Promotion),
    every({
      name: 'deleting expired messages',
      everyMs: HOUR_MS,
      firstMs: MINUTE_MS,
      // Expired messages are removed within a day (channels §4.4).
      run: async () => {
        await resolve(ExpireMessages).execute();
        await resolve(PurgeArchive).execute({ keepSeconds: keepDeletedSeconds });
      },
    }),
    every({
      name: 'removing unused files',
      // Unused files are kept for at least a week, orphaned bytes for an hour.
      everyMs: 6 * HOUR_MS,
      firstMs: 10 * MINUTE_MS,
      run: () => resolve(SweepFiles).execute({ keepDetachedSeconds: keepDeletedSeconds }),
    }),
    every({
      name: 'removing expired sessions',
      everyMs: HOUR_MS,
      run: () => resolve(RemoveExpiredSessions).execute(),
    }),
    ...directories
      .filter(({ syncMinutes }) => syncMinutes > 0)
      .map((directory) =>
        every({
          name: `synchronizing the directory ${directory.name}`,
          everyMs: directory.syncMinutes * MINUTE_MS,
          firstMs: MINUTE_MS,
          run: () => syncDirectory(directory, resolve, get('logger')),
        }),
      ),
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
    get('jobWorkers'),
    recurring({
      name: 'indexing messages for search',
      firstDelayMs: INDEXING_PAUSE_MS,
      run: async () => ((await resolve(IndexMessages).execute()) ? INDEXING_PAUSE_MS : MINUTE_MS),
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
    resolve(NotificationWorker),
    get('consumers'),
  ];
}

/** Writes an audit line, even for a run without changes if an operator has to act. */
async function syncDirectory(directory: PeopleDirectory, resolve: Resolve, logger: Logger): Promise<void> {
  const { stopped, people, counts, problems } = await resolve(SyncDirectory).execute({ directory, isDryRun: false });
  const fields = { audit: 'administration', program: `LDAP: ${directory.name}`, people, ...counts, stopped };
  if (stopped !== null) logger.error(fields, 'the synchronization of a directory stopped');
  else warn(logger, { ...fields, problems: problems.slice(0, 10) }, 'synchronized a directory');
}

async function forgetJobs(uow: UnitOfWork, before: number): Promise<void> {
  while ((await uow.writeAcross((tx) => tx.jobs.removeSetAside(before, JOBS_AT_A_TIME))) === JOBS_AT_A_TIME);
}
