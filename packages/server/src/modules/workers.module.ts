import { RemoveExpiredSessions } from '@parley/domain/authentication';
import { EventHub } from '@parley/domain/events';
import { SweepFiles } from '@parley/domain/files';
import { PromoteFullMembers } from '@parley/domain/groups';
import { ExpireMessages, IndexMessages, PurgeArchive } from '@parley/domain/messages';
import { PresenceBoard } from '@parley/domain/presence';
import type { UnitOfWork } from '@parley/domain/shared';
import { noLoad } from '@parley/http';
import { ContainerModule } from 'inversify';
import { KEEP_DELETED_DAYS } from '../configuration/settings.js';
import type { ParleyParts } from '../parley-parts.js';
import { all, provide, provideAs, provideFrom, provideValue } from '../provide.js';
import { LISTS, PARTS, TOKENS } from '../tokens.js';
import { JobWorkers } from '../workers/job-workers.js';
import { LoadMonitor } from '../workers/load-monitor.js';
import { PresenceSaver } from '../workers/presence-saver.js';
import { Promotion } from '../workers/promotion.js';
import { periodic, RecurringWorker } from '../workers/recurring-worker.js';
import { StorageWatch } from '../workers/storage-watch.js';

/** Between two units, which leaves others most of the time. */
const INDEXING_PAUSE_MS = 10;
const LOOK_FOR_UNINDEXED_MS = 60_000;
const FORGET_JOBS_MS = 3_600_000;
/** How long an operator may look at jobs that were given up. */
const KEEP_JOBS_SECONDS = 30 * 86_400;
const JOBS_AT_A_TIME = 250;

/** A message is gone within a day of its time (channels §4.4), and looking costs next to nothing. */
const EXPIRE_MS = 3_600_000;
const EXPIRE_FIRST_MS = 60_000;

/** Files stay for a week at least, and bytes that belong to nothing for an hour. */
const SWEEP_FILES_MS = 6 * 3_600_000;
const SWEEP_FILES_FIRST_MS = 600_000;

/** Expired sessions let nobody in, so removing them can wait. */
const EXPIRE_SESSIONS_MS = 3_600_000;

const { clock, unitOfWork } = TOKENS;
const { report, timers } = PARTS;

/** What goes on in the background and belongs to no feature. */
export const workersModule = ({ shedsLoad, logger, verifyStorage, keepDeletedDays = KEEP_DELETED_DAYS }: ParleyParts) =>
  new ContainerModule(({ bind }) => {
    if (shedsLoad) {
      provideFrom(bind, LoadMonitor, (time) => new LoadMonitor(logger, time), timers);
      provideAs(bind, LISTS.worker, LoadMonitor);
      provideAs(bind, PARTS.load, LoadMonitor);
    } else provideValue(bind, PARTS.load, noLoad);

    if (verifyStorage) {
      provideFrom(
        bind,
        LISTS.worker,
        (hub, time, reportProblem) => new StorageWatch(verifyStorage, hub, time, reportProblem),
        EventHub,
        timers,
        report,
      );
    }

    provide(bind, PresenceSaver, PresenceBoard, timers, report);
    provideAs(bind, LISTS.worker, PresenceSaver);

    provide(bind, Promotion, PromoteFullMembers, clock, timers, report);
    provideAs(bind, LISTS.eventListener, Promotion);
    provideAs(bind, LISTS.worker, Promotion);

    provideFrom(
      bind,
      JobWorkers,
      (handlers, uow, time, systemTimers, reportProblem) =>
        new JobWorkers(handlers, { uow, clock: time, timers: systemTimers, report: reportProblem }),
      all(LISTS.jobHandler),
      unitOfWork,
      clock,
      timers,
      report,
    );
    provideFrom(
      bind,
      LISTS.worker,
      (expire, purge, systemTimers, reportProblem) =>
        new RecurringWorker(
          {
            ...periodic('deleting messages whose time is over', EXPIRE_MS, async () => {
              await expire.execute();
              await purge.execute({ keepSeconds: keepDeletedDays * 86_400 });
            }),
            firstDelayMs: EXPIRE_FIRST_MS,
          },
          systemTimers,
          reportProblem,
        ),
      ExpireMessages,
      PurgeArchive,
      timers,
      report,
    );
    provideFrom(
      bind,
      LISTS.worker,
      (sweep, systemTimers, reportProblem) =>
        new RecurringWorker(
          {
            ...periodic('removing files that nobody needs', SWEEP_FILES_MS, async () => {
              await sweep.execute({ keepDetachedSeconds: keepDeletedDays * 86_400 });
            }),
            firstDelayMs: SWEEP_FILES_FIRST_MS,
          },
          systemTimers,
          reportProblem,
        ),
      SweepFiles,
      timers,
      report,
    );
    provideFrom(
      bind,
      LISTS.worker,
      (sessions, systemTimers, reportProblem) =>
        new RecurringWorker(
          periodic('removing expired sessions', EXPIRE_SESSIONS_MS, () => sessions.execute()),
          systemTimers,
          reportProblem,
        ),
      RemoveExpiredSessions,
      timers,
      report,
    );
    provideAs(bind, LISTS.commitListener, JobWorkers);
    provideAs(bind, LISTS.worker, JobWorkers);
    provideFrom(
      bind,
      LISTS.worker,
      (index, systemTimers, reportProblem) =>
        new RecurringWorker(
          {
            name: 'indexing messages for search',
            firstDelayMs: INDEXING_PAUSE_MS,
            run: async () => ((await index.execute()) ? INDEXING_PAUSE_MS : LOOK_FOR_UNINDEXED_MS),
          },
          systemTimers,
          reportProblem,
        ),
      IndexMessages,
      timers,
      report,
    );
    provideFrom(
      bind,
      LISTS.worker,
      (uow, time, systemTimers, reportProblem) =>
        new RecurringWorker(
          periodic('forgetting jobs that were given up', FORGET_JOBS_MS, () =>
            forgetJobs(uow, time.now() - KEEP_JOBS_SECONDS),
          ),
          systemTimers,
          reportProblem,
        ),
      unitOfWork,
      clock,
      timers,
      report,
    );
  });

async function forgetJobs(uow: UnitOfWork, before: number): Promise<void> {
  while ((await uow.write((tx) => tx.jobs.removeSetAside(before, JOBS_AT_A_TIME))) === JOBS_AT_A_TIME);
}
