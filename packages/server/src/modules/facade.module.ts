import { FindHostUsers } from '@parley/domain/host-users';
import { ContainerModule } from 'inversify';
import { Addresses } from '../facade/addresses.js';
import { Consumers } from '../facade/consumers.js';
import { EventPresenter, LiveEvents } from '../facade/events.js';
import { HostHooks } from '../facade/message-hooks.js';
import { provide, provideAs, provideFrom } from '../provide.js';
import { RealmResolver } from '../realm-resolver.js';
import { keepProcessAlive } from '../system-timers.js';
import { LISTS, PARTS, TOKENS } from '../tokens.js';

const { unitOfWork, messageHooks } = TOKENS;
const { report, resolve, timers } = PARTS;

/** What the host application calls, and what calls it. */
export const facadeModule = new ContainerModule(({ bind }) => {
  provide(bind, Addresses, RealmResolver, FindHostUsers);
  provide(bind, HostHooks, FindHostUsers, RealmResolver, timers);
  provideAs(bind, messageHooks, HostHooks);
  provide(bind, EventPresenter, RealmResolver, Addresses);
  provide(bind, LiveEvents, EventPresenter, report);
  provideAs(bind, LISTS.eventListener, LiveEvents);
  provideFrom(
    bind,
    Consumers,
    (uow, time, reportProblem, resolver) =>
      new Consumers({ uow, timers: time, report: reportProblem, resolve: resolver, keepAlive: keepProcessAlive }),
    unitOfWork,
    timers,
    report,
    resolve,
  );
  provideAs(bind, LISTS.eventListener, Consumers);
  provideAs(bind, LISTS.worker, Consumers);
});
