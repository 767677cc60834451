import type { CommitListener, Ports, PublishingUnitOfWork } from '@parley/domain/composition';
import type {
  ClockWatch,
  EventHub,
  EventListener,
  JobHandler,
  LogFollower,
  QueueSweep,
  UnitOfWork,
} from '@parley/domain/kernel';
import type { Authenticator, ExpressAdapter, LoadGauge, LongPoll, PublicRealms, Route } from '@parley/http';
import type { OutgoingProxy, PublicWebClient } from '@parley/node-adapters';
import type { Consumers } from '../facade/consumers.js';
import type { CallExchange } from '../http/quotas.js';
import type { InjectedServices } from '../kernel/resolve.js';
import type { AuditTrail } from '../observation/audit-trail.js';
import type { Activity } from '../workers/activity.js';
import type { JobWorkers } from '../workers/job-workers.js';
import type { Worker } from '../workers/recurring-worker.js';

/** Services of a running server, in addition to its use cases and the ports of the domain. */
export interface ServerServices extends InjectedServices {
  /** Secret from which all keys and tokens derive. */
  readonly secret: string;
  /** Proxies for requests to other servers. */
  readonly outgoingProxy: OutgoingProxy;
  /** Client for web pages that messages link to. */
  readonly pageClient: PublicWebClient;
  /** Called with errors of event and commit listeners. */
  readonly onListenerFailure: (error: unknown) => void;
  /** Commits units and publishes nothing. */
  readonly storage: UnitOfWork;
  readonly publishing: PublishingUnitOfWork;
  /** Records operations in the audit log. */
  readonly auditTrail: AuditTrail;
  readonly activity: Activity;
  readonly clockWatch: ClockWatch;
  readonly follower: LogFollower;
  readonly hub: EventHub;
  readonly queueSweep: QueueSweep;
  readonly callExchange: CallExchange;
  readonly consumers: Consumers;
  readonly load: LoadGauge;
  readonly publicRealms: PublicRealms;
  readonly longPoll: LongPoll;
  readonly routes: readonly Route[];
  readonly express: ExpressAdapter;
  /** The application's own log-in; empty if it has none. */
  readonly hostAuthenticators: readonly Authenticator[];
  /** Tried in this order. */
  readonly authenticators: readonly Authenticator[];
  /** Authenticators for browser sessions, tried in this order. */
  readonly browserAuthenticators: readonly Authenticator[];
  /** Notified, in this order, of every event committed by any process. */
  readonly eventListeners: readonly EventListener[];
  /** Notified, in this order, of commits by this process. */
  readonly commitListeners: readonly CommitListener[];
  readonly jobHandlers: readonly JobHandler[];
  readonly jobWorkers: JobWorkers;
  /** Holder of the leases of this start of the server. */
  readonly serverId: string;
  /** Started in this order and stopped in reverse order. */
  readonly workers: readonly Worker[];
}

export type Get = <Name extends keyof (Ports & ServerServices)>(name: Name) => (Ports & ServerServices)[Name];
