import { DELIVERY_FEATURES, PublishingUnitOfWork } from '@parley/domain/composition';
import { EventHub, LogFollower, QueueSweep } from '@parley/domain/events';
import type { ReportProblem } from '@parley/domain/shared';
import { EVENT_CATALOGUE } from '@parley/http';
import { ContainerModule } from 'inversify';
import { provideAs, provideFrom } from '../provide.js';
import { LISTS, PARTS, TOKENS } from '../tokens.js';
import { periodic, RecurringWorker } from '../workers/recurring-worker.js';

/** How soon events of other processes reach our clients at the latest. */
const CATCH_UP_MS = 1000;
const SWEEP_MS = 60_000;

const { clock, ephemeralEvents, eventLoop, servedQueues, unitOfWork } = TOKENS;
const { report, storage, timers } = PARTS;

const reportFailedListener = (reportProblem: ReportProblem) => (err: unknown) =>
  reportProblem('following events failed', { err });

/** From commits to event queues. */
export const deliveryModule = new ContainerModule(({ bind }) => {
  provideFrom(
    bind,
    PublishingUnitOfWork,
    (inner, reportProblem) => new PublishingUnitOfWork(inner, reportFailedListener(reportProblem)),
    storage,
    report,
  );
  provideAs(bind, unitOfWork, PublishingUnitOfWork);
  provideFrom(
    bind,
    LogFollower,
    (uow, reportProblem) => new LogFollower(uow, reportFailedListener(reportProblem)),
    unitOfWork,
    report,
  );
  provideAs(bind, LISTS.commitListener, LogFollower);

  provideFrom(
    bind,
    EventHub,
    (uow, follower, time, loop, reportProblem) =>
      new EventHub({
        uow,
        follower,
        clock: time,
        eventLoop: loop,
        catalogue: EVENT_CATALOGUE,
        features: DELIVERY_FEATURES,
        report: reportProblem,
      }),
    unitOfWork,
    LogFollower,
    clock,
    eventLoop,
    report,
  );
  provideAs(bind, servedQueues, EventHub);
  provideAs(bind, ephemeralEvents, EventHub);
  provideAs(bind, LISTS.eventListener, EventHub);
  provideFrom(
    bind,
    QueueSweep,
    (uow, time, loop, hub, reportProblem) =>
      new QueueSweep({ uow, clock: time, eventLoop: loop, hub, report: reportProblem }),
    unitOfWork,
    clock,
    eventLoop,
    EventHub,
    report,
  );

  provideFrom(
    bind,
    LISTS.worker,
    (follower, time, reportProblem) =>
      new RecurringWorker(
        periodic('reading what other processes wrote', CATCH_UP_MS, () => follower.catchUp()),
        time,
        reportProblem,
      ),
    LogFollower,
    timers,
    report,
  );
  provideFrom(
    bind,
    LISTS.worker,
    (sweep, time, reportProblem) =>
      new RecurringWorker(
        periodic('tidying event queues', SWEEP_MS, () => sweep.run()),
        time,
        reportProblem,
      ),
    QueueSweep,
    timers,
    report,
  );
});
