import { DELIVERY_FEATURES } from '@parley/domain/composition';
import {
  type Bus,
  DEFAULT_SWEEP_OPTIONS,
  EventHub,
  type EventHubParts,
  LocalBus,
  LogFollower,
  QueueSweep,
} from '@parley/domain/kernel';
import { PresenceBoard, VerifyApiKey, VerifySession } from '@parley/domain/users';
import { EVENT_CATALOGUE } from '@parley/http';
import { HmacQueueIds, keepProcessAlive } from '@parley/node-adapters';
import { Consumers } from '../../facade/consumers.js';
import { FacadeEvents } from '../../facade/events.js';
import { Addresses } from '../../facade/references.js';
import { LimitReset } from '../../http/quotas.js';
import { Activity } from '../../workers/activity.js';
import { MessageIndexing } from '../../workers/message-indexing.js';
import { NotificationWorker } from '../../workers/notification-worker.js';
import { Promotion } from '../../workers/promotion.js';
import { Adapter } from '../adapter.js';
import type { WorkerOptions } from '../background-workers.js';
import type { NodeOptions } from './node.js';
import type { StorageOptions } from './storage.js';

export interface BusOptions
  extends Pick<StorageOptions, 'eventLimits'>,
    Pick<WorkerOptions, 'reportPresence'>,
    Pick<NodeOptions, 'timers'> {
  /** Bus to other servers of the database; default: none. */
  readonly bus?: Bus;
  readonly history?: DatabaseContinuity;
}

interface DatabaseContinuity {
  /** Identifies the database, but not a copy for trying things. */
  readonly database: string;
  /** See `EventHubParts`. */
  readonly continue: NonNullable<EventHubParts['continueHistory']>;
}

/** Bus to other servers, and delivery of the events that any of them commits. */
export const bus = ({ bus: connected, history, eventLimits, reportPresence, timers }: BusOptions) =>
  new Adapter({
    bus: () => connected ?? new LocalBus().connect(),
    onListenerFailure:
      ({ get }) =>
      (err) =>
        get('report')('following events failed', { err }),
    activity: ({ get }) =>
      new Activity(get('timers'), () => get('hub').liveQueues.length > 0 || get('follower').followsAll),
    follower: ({ get }) =>
      new LogFollower({
        uow: get('storage'),
        bus: get('bus'),
        clock: get('clock'),
        timers: get('timers'),
        onListenerFailure: get('onListenerFailure'),
      }),
    followedLog: ({ get }) => get('follower'),
    hub: ({ get }) =>
      new EventHub({
        uow: get('unitOfWork'),
        follower: get('follower'),
        bus: get('bus'),
        clock: get('clock'),
        eventLoop: get('eventLoop'),
        catalogue: EVENT_CATALOGUE,
        features: DELIVERY_FEATURES,
        report: get('report'),
        queueIds: get('queueIds'),
        ...(history && { continueHistory: history.continue }),
      }),
    queueIds: ({ get }) => new HmacQueueIds(get('secret'), history?.database ?? '', get('randomness')),
    ephemeralEvents: ({ get }) => get('hub'),
    servedQueues: ({ get }) => get('hub'),
    queueSweep: ({ get }) => {
      const parts = {
        uow: get('unitOfWork'),
        storage: get('storage'),
        clock: get('clock'),
        clockWatch: get('clockWatch'),
        eventLoop: get('eventLoop'),
        hub: get('hub'),
        report: get('report'),
      };
      const isOnlyServer = reportPresence === undefined;
      return new QueueSweep(parts, { ...DEFAULT_SWEEP_OPTIONS, ...eventLimits, isOnlyServer });
    },
    consumers: ({ get, resolve }) =>
      new Consumers({
        uow: get('unitOfWork'),
        timers: get('timers'),
        report: get('report'),
        resolve,
        // Simulated processes end without stopping their consumers.
        keepAlive: timers ? () => () => {} : keepProcessAlive,
      }),
    // API keys and sessions are forgotten before clients get the event.
    eventListeners: ({ get, resolve }) => [
      resolve(VerifyApiKey),
      resolve(VerifySession),
      resolve(PresenceBoard),
      get('hub'),
      resolve(LimitReset),
      resolve(Promotion),
      resolve(MessageIndexing),
      resolve(Addresses),
      resolve(FacadeEvents),
      resolve(NotificationWorker),
      get('consumers'),
    ],
  });
