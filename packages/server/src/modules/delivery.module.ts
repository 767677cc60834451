import { EventHub, LogFollower, PublishingUnitOfWork, type ReportProblem } from '@parley/domain';
import { EVENT_TYPE_NAMES } from '@parley/http';
import { ContainerModule } from 'inversify';
import { provide, provideAs, provideFrom } from '../provide.js';
import { LISTS, PARTS, TOKENS } from '../tokens.js';
import { periodic, RecurringWorker } from '../workers/recurring-worker.js';

/** How soon events of other processes reach our clients at the latest. */
const CATCH_UP_MS = 1000;
const SWEEP_MS = 60_000;

const { clock, unitOfWork } = TOKENS;
const { report, storage, timers } = PARTS;

const reportFailedListener = (tell: ReportProblem) => (err: unknown) => tell('following events failed', { err });

/** From commits to event queues. */
export const deliveryModule = new ContainerModule(({ bind }) => {
  provideFrom(
    bind,
    PublishingUnitOfWork,
    (inner, time, tell) => new PublishingUnitOfWork(inner, time, reportFailedListener(tell)),
    storage,
    clock,
    report,
  );
  provideAs(bind, unitOfWork, PublishingUnitOfWork);
  provide(bind, LogFollower, unitOfWork);
  provideAs(bind, LISTS.commitListener, LogFollower);
  provideFrom(
    bind,
    EventHub,
    (uow, follower, time) => new EventHub(uow, follower, time, EVENT_TYPE_NAMES),
    unitOfWork,
    LogFollower,
    clock,
  );
  provideAs(bind, LISTS.eventListener, EventHub);

  provideFrom(
    bind,
    LISTS.worker,
    (follower, time, tell) =>
      new RecurringWorker(
        periodic('reading what other processes wrote', CATCH_UP_MS, () => follower.catchUp()),
        time,
        tell,
      ),
    LogFollower,
    timers,
    report,
  );
  provideFrom(
    bind,
    LISTS.worker,
    (hub, time, tell) =>
      new RecurringWorker(
        periodic('tidying event queues', SWEEP_MS, () => hub.sweep()),
        time,
        tell,
      ),
    EventHub,
    timers,
    report,
  );
});
