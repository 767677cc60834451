import type { Injectable } from '@parley/domain/composition';
import { WorkQueue } from '@parley/domain/kernel';
import type { RoleLookup, Route } from '../declarations/route.js';
import { type FileSink, type LoadGauge, noLoad, TRANSPORT_LIMITS, type TransportLimits } from '../limits/budgets.js';
import type { RateLimiter } from '../limits/counters.js';
import type { RealmDirectory } from '../security/authenticate.js';
import { BrowserChecks, type BrowserChecksOptions } from '../security/csrf.js';
import { type ProxyTrust, TrustedProxies } from '../security/proxies.js';
import { RequestBodies } from '../transport/bodies.js';
import { RequestsInFlight } from '../transport/pipelining.js';
import { ResponseWriter } from '../transport/writer.js';
import { type ErrorReplies, tooMuchAtOnce } from '../wire/reply.js';
import { CallerProof, type CallerProofOptions, CallLimits } from './caller.js';
import {
  type AuditReader,
  type AuditRecorder,
  type Logger,
  RequestLog,
  type RequestObserver,
  type RequestTracer,
  silentLogger,
} from './request-log.js';

export interface AdapterOptions extends CallerProofOptions, BrowserChecksOptions {
  readonly routes: readonly Route[];
  readonly errorReplies: ErrorReplies;
  /** Returns the instance of a use case; called once per use case, on first use. */
  readonly resolve: <C extends Injectable>(useCase: C) => InstanceType<C>;
  readonly realms: RealmDirectory;
  /** True if paths may begin with an organization name (`/shop/api/v1/…`); false by default. */
  readonly realmsByPath?: boolean;
  readonly roleLookup: RoleLookup;
  /** Default: audit lines name no changes. */
  readonly audits?: AuditReader;
  /** Default: operations have no rows in the audit log. */
  readonly auditRecorder?: AuditRecorder;
  /** Destination of streamed files; by default, streaming routes receive no files. */
  readonly files?: FileSink;
  readonly limiter: RateLimiter;
  readonly logger?: Logger;
  /** Notified of every response. */
  readonly observers?: readonly RequestObserver[];
  readonly tracer?: RequestTracer;
  /** Proxies with trusted `X-Forwarded-*` headers; none by default. */
  readonly trustedProxies?: ProxyTrust;
  readonly limits?: Partial<TransportLimits>;
  /** Load level used for shedding; by default no request is shed. */
  readonly load?: LoadGauge;
}

/** Maximum concurrent reads per client: response data is in memory before its bytes are charged. */
const READS_PER_CLIENT = 4;
const MAX_WAITING_PER_CLIENT = 1000;

/** Parts that the checks of all requests share. */
export class Services {
  readonly requests = new RequestsInFlight();
  readonly reads = new WorkQueue({
    concurrencyPerClient: READS_PER_CLIENT,
    maxWaitingPerClient: MAX_WAITING_PER_CLIENT,
    refusal: tooMuchAtOnce,
  });
  readonly bodies: RequestBodies;
  readonly responses: ResponseWriter;
  readonly load: LoadGauge;
  readonly logger: Logger;
  readonly log: RequestLog;
  readonly proxies: TrustedProxies;
  readonly callLimits: CallLimits;
  readonly browsers: BrowserChecks;
  readonly callers: CallerProof;
  readonly observers: readonly RequestObserver[];

  constructor(readonly options: AdapterOptions) {
    const limits = { ...TRANSPORT_LIMITS, ...options.limits };
    this.bodies = new RequestBodies(limits, options.files ?? null);
    this.responses = new ResponseWriter(limits);
    this.load = options.load ?? noLoad;
    this.logger = options.logger ?? silentLogger;
    this.log = new RequestLog(this.logger);
    this.observers = options.observers ?? [];
    this.browsers = new BrowserChecks(options);
    this.proxies = new TrustedProxies(options.trustedProxies, this.browsers.publicUrl.hostname);
    this.callLimits = new CallLimits(options.limiter, this.proxies.exist, this.logger);
    this.callers = new CallerProof(options, this.callLimits);
  }
}
