import { DELIVERY_FEATURES, type Injectable, PublishingUnitOfWork } from '@parley/domain/composition';
import { BlobReceiver } from '@parley/domain/files';
import { DEFAULT_SWEEP_OPTIONS, EventHub, LogFollower, QueueSweep } from '@parley/domain/kernel';
import { PresenceBoard, VerifyApiKey, VerifyFrameToken, VerifySession } from '@parley/domain/users';
import {
  BasicAuthenticator,
  createExpressAdapter,
  createRoutes,
  ERROR_REPLIES,
  EVENT_CATALOGUE,
  EVENT_WRITER,
  KeyParameterAuthenticator,
  LongPoll,
  NamedKeyAuthenticator,
  noLoad,
  PublicRealms,
  RateLimiter,
  SessionAuthenticator,
  SessionCookies,
  silentLogger,
} from '@parley/http';
import { keepProcessAlive } from '@parley/node-adapters';
import { RunRequestedImports } from '@parley/transfer/imports';
import { Consumers } from '../facade/consumers.js';
import { FacadeEvents } from '../facade/events.js';
import { HostAuthenticator } from '../facade/host-authentication.js';
import { ApiKeyCredentials, FrameTokenAuthenticator, StoredRoles, StoredSessions } from '../http/authentication.js';
import { CallExchange, LimitReset } from '../http/quotas.js';
import type { Makers, Resolve } from '../kernel/injector.js';
import { RealmResolver } from '../kernel/realm-resolver.js';
import { StoredAuditStates } from '../observation/audited-objects.js';
import { newServerId } from '../workers/ended-leases.js';
import { JobWorkers, jobHandlersOf } from '../workers/job-workers.js';
import { LoadMonitor } from '../workers/load-monitor.js';
import { NotificationWorker } from '../workers/notification-worker.js';
import { MessageIndexing, Promotion, workersOf } from './background-workers.js';
import type { ParleyDependencies } from './parley-dependencies.js';
import type { Get, ServerServices } from './services.js';

type ResolveAny = Resolve & (<C extends Injectable>(type: C) => InstanceType<C>);

export function serviceMakers(options: ParleyDependencies, get: Get, resolve: ResolveAny): Makers<ServerServices> {
  const { authenticate, clock, logger, frameAncestors = [] } = options;
  const credentials = () => new ApiKeyCredentials(resolve(VerifyApiKey), resolve(RealmResolver));
  let ofHost: HostAuthenticator | undefined;
  const hostAuthenticators = () => {
    if (!authenticate) return [];
    ofHost ??= new HostAuthenticator(authenticate, get('unitOfWork'), resolve(RealmResolver), logger);
    return [ofHost];
  };
  return {
    options: () => options,
    logger: () => logger,
    storage: () => options.unitOfWork,
    // One-off commands run too briefly to cache realms.
    openRealm: () => (options.isOneOff ? () => null : (realmId) => get('follower').open(realmId)),
    ...eventParts(options, get, resolve),

    load: () => (options.shedsLoad ? resolve(LoadMonitor) : noLoad),
    limiter: () => new RateLimiter({ clock, isOn: options.hasRateLimits, rules: options.rateLimitRules ?? {} }),
    callExchange: () => new CallExchange(get('storage'), get('limiter'), clock),
    publicRealms: () => new PublicRealms(get('unitOfWork'), get('realmUrls')),
    longPoll: () => new LongPoll(EVENT_WRITER, get('hub'), get('publicRealms'), get('randomness')),
    authenticators: () => {
      const basic = new BasicAuthenticator(credentials());
      // The application may itself use Basic authentication, but not with API keys.
      const ofHost = authenticate ? [new NamedKeyAuthenticator(basic), ...hostAuthenticators()] : [];
      const ofFrames =
        frameAncestors.length > 0
          ? [new FrameTokenAuthenticator(resolve(VerifyFrameToken), resolve(RealmResolver))]
          : [];
      return [...ofHost, ...ofFrames, basic];
    },
    browserAuthenticators: () => [
      ...hostAuthenticators(),
      new SessionAuthenticator(new StoredSessions(resolve(VerifySession), resolve(RealmResolver))),
    ],
    routes: () => routesOf(options, get, resolve),
    express: () => expressOf(options, get, resolve, credentials),

    // API keys and sessions are forgotten before clients get the event.
    eventListeners: () => [
      resolve(VerifyApiKey),
      resolve(VerifySession),
      resolve(PresenceBoard),
      get('hub'),
      resolve(LimitReset),
      resolve(Promotion),
      resolve(MessageIndexing),
      resolve(FacadeEvents),
      resolve(NotificationWorker),
      get('consumers'),
    ],
    commitListeners: () => [get('follower'), get('jobWorkers')],
    jobHandlers: () => [
      ...(options.moreJobHandlers ?? []),
      // Other servers of the database may run imports.
      ...(options.importRunner ? [resolve(RunRequestedImports)] : []),
      ...jobHandlersOf(resolve),
    ],
    jobWorkers: () =>
      new JobWorkers(get('jobHandlers'), {
        uow: get('unitOfWork'),
        clock,
        timers: get('timers'),
        report: get('report'),
        holder: get('serverId'),
      }),
    serverId: () => options.serverId ?? newServerId(),
    workers: () => workersOf(options, get, resolve),
  };
}

/** Event log, and what reads it. */
function eventParts(options: ParleyDependencies, get: Get, resolve: ResolveAny) {
  const { clock } = options;
  const onListenerFailure = (err: unknown) => get('report')('following events failed', { err });
  return {
    publishing: () =>
      new PublishingUnitOfWork(get('storage'), onListenerFailure, {
        maxLogBytes: options.eventLimits?.maxLogBytes,
        open: get('openRealm'),
      }),
    follower: () =>
      new LogFollower({ uow: get('storage'), bus: get('bus'), clock, timers: get('timers'), onListenerFailure }),
    hub: () =>
      new EventHub({
        uow: get('unitOfWork'),
        follower: get('follower'),
        bus: get('bus'),
        clock,
        eventLoop: get('eventLoop'),
        catalogue: EVENT_CATALOGUE,
        features: DELIVERY_FEATURES,
        report: get('report'),
      }),
    queueSweep: () =>
      new QueueSweep(
        {
          uow: get('unitOfWork'),
          clock,
          eventLoop: get('eventLoop'),
          hub: get('hub'),
          report: get('report'),
        },
        {
          ...DEFAULT_SWEEP_OPTIONS,
          ...options.eventLimits,
          isOnlyServer: options.reportPresence === undefined,
        },
      ),
    consumers: () =>
      new Consumers({
        uow: get('unitOfWork'),
        timers: get('timers'),
        report: get('report'),
        resolve,
        keepAlive: keepProcessAlive,
      }),
  } satisfies Partial<Makers<ServerServices>>;
}

function routesOf(options: ParleyDependencies, get: Get, resolve: ResolveAny): ServerServices['routes'] {
  const { clock, frameAncestors = [] } = options;
  return [
    ...createRoutes({
      realmUrls: get('realmUrls'),
      hub: get('hub'),
      longPoll: get('longPoll'),
      publicRealms: get('publicRealms'),
      presence: resolve(PresenceBoard),
      sessionCookies: new SessionCookies(options.url),
      webAssets: options.webAssets ?? null,
      frameAncestors,
      clock,
      unicodeEmoji: options.unicodeEmoji,
      serverInfo: {
        startedAt: clock.now(),
        isDevelopment: options.isDev,
        webPublicEnabled: options.allowsWebPublicChannels,
        fileLimits: get('fileLimits'),
        hasBigBlueButton: Boolean(options.bigBlueButton),
        giphyApiKey: options.giphyApiKey ?? '',
        sendsPushes: options.push !== null,
        directoryRealms: new Set(get('peopleDirectories').map(({ realm }) => realm)),
        logInKinds: new Set(get('logInProviders').map(({ method }) => method.kind)),
        demo: options.demo ?? null,
      },
    }),
    ...(options.moreRoutes ?? []),
  ];
}

function expressOf(
  options: ParleyDependencies,
  get: Get,
  resolve: ResolveAny,
  credentials: () => ApiKeyCredentials,
): ServerServices['express'] {
  const { authenticate, clock, logger } = options;
  return createExpressAdapter({
    routes: get('routes'),
    errorReplies: ERROR_REPLIES,
    resolve,
    authenticators: get('authenticators'),
    browserAuthenticators: get('browserAuthenticators'),
    isHostAuthenticated: authenticate !== undefined,
    ...(options.trustedOrigins && { trustedOrigins: options.trustedOrigins }),
    publicUrl: options.url,
    keyParameter: new KeyParameterAuthenticator(credentials()),
    files: resolve(BlobReceiver),
    realms: resolve(RealmResolver),
    roleLookup: new StoredRoles(get('unitOfWork')),
    ...(logger !== silentLogger && { audits: new StoredAuditStates(get('unitOfWork')) }),
    limiter: get('limiter'),
    clock,
    load: get('load'),
    logger,
    ...(options.metrics && { observers: [options.metrics] }),
    ...(options.tracer && { tracer: options.tracer }),
    trustedProxies: options.trustedProxies,
    ...(options.limits && { limits: options.limits }),
    realmsByPath: options.realmAddresses === 'path',
    hasKnownPasswords: Boolean(options.demo),
  });
}
