import type { RequestListener, Server } from 'node:http';
import { type Clock, noBus } from '@parley/domain/kernel';
import { NotificationMeter, type PhoneSender, PushServer } from '@parley/domain/push';
import {
  createDispatcher,
  createRouter,
  ERROR_REPLIES,
  type Logger,
  type ProxyTrust,
  pushServerRoutes,
  RateLimiter,
  type RateLimitRules,
  RemoteServerAuthenticator,
  type RequestObserver,
  unknownPath,
} from '@parley/http';
import { type DirectPush, phoneSenderOf, SealedBoxes, SystemClock, SystemTimers } from '@parley/node-adapters';
import { SqlitePushServerStore } from '@parley/sqlite';
import { type Configuration, sqliteOf } from '../configuration/configuration.js';
import { createHttpServer } from '../http/http-server.js';
import { UsageError } from '../kernel/startup-error.js';
import { type ServerGauges, ServerMetrics } from '../observation/metrics.js';
import { notReady, withHealth } from '../observation/readiness.js';
import { parleyVersion } from '../version.js';
import { periodic, RecurringWorker } from '../workers/recurring-worker.js';
import { createLogger } from './logger.js';
import { makeFolderOf } from './open-parley.js';
import { closeGently, closeNow, listen, listenForOperator, listeningUrl, type RunningServer } from './serve.js';

export interface PushServerParts {
  readonly account: DirectPush;
  /** Path of the database file. */
  readonly path: string;
  readonly url: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly hasRateLimits: boolean;
  readonly rateLimitRules: RateLimitRules;
  readonly trustedProxies: ProxyTrust;
  readonly observers?: readonly RequestObserver[];
}

/** Counts notifications by maker. */
const metered = (sender: PhoneSender, meter: NotificationMeter, clock: Clock): PhoneSender => ({
  async send(to, push) {
    const startedAt = clock.nowMs();
    const result = await sender.send(to, push);
    if (result.outcome === 'sent') meter.sent(to.kind, (clock.nowMs() - startedAt) / 1000);
    else if (result.outcome === 'unreached') meter.failed(to.kind);
    else meter.dropped(to.kind, 'refused');
    return result;
  },
});

const MIB = 1024 * 1024;
const DRAIN_MS = 5000;
const DAY_MS = 86_400_000;

/** Push service for other servers (organization §17), behind the same transport as the chat. */
export function composePushServer(parts: PushServerParts) {
  const { account, clock, logger, trustedProxies, observers = [] } = parts;
  const store = new SqlitePushServerStore(parts.path);
  const sender = phoneSenderOf(account, { clock, report: (message, fields) => logger.error(fields, message) });
  const notifications = new NotificationMeter();
  const server = new PushServer(store, new SealedBoxes(account.keys), metered(sender, notifications, clock), clock);
  const dispatcher = createDispatcher({
    routes: pushServerRoutes(server),
    errorReplies: ERROR_REPLIES,
    // The routes of a push service have no use cases.
    resolve: () => {
      throw new Error('A push service has no use cases');
    },
    authenticators: [new RemoteServerAuthenticator(store)],
    publicUrl: parts.url,
    realms: { findRealm: async () => null },
    roleLookup: { roleOf: async () => ({ role: 'member', isBot: false, synchronizesDrafts: false }) },
    limiter: new RateLimiter({ clock, isOn: parts.hasRateLimits, rules: parts.rateLimitRules }),
    clock,
    logger,
    trustedProxies,
    limits: { bodyBytes: MIB },
    observers,
  });
  const router = createRouter(dispatcher);
  const { reply } = ERROR_REPLIES.replyTo(unknownPath());
  const handler: RequestListener = (request, response) =>
    router(request, response, () => {
      response.writeHead(reply.status, { 'Content-Type': 'application/json' });
      response.end(reply.body);
    });
  const sweep = new RecurringWorker(
    { ...periodic('removing stale registrations', DAY_MS, () => server.removeStale()), firstDelayMs: 0 },
    new SystemTimers(),
    (message, fields) => logger.error(fields, message),
  );
  sweep.start();
  return {
    handler,
    /** A push service has no events and no jobs. */
    gauges: async (): Promise<ServerGauges> => ({
      requestsInFlight: dispatcher.inFlight,
      bodiesBytes: dispatcher.bytesInFlight.bodies,
      answersBytes: dispatcher.bytesInFlight.responses,
      ...{ queues: 0, waitingPolls: 0, undeliveredEvents: 0, jobLagSeconds: new Map(), bus: noBus, storage: null },
      notifications,
    }),
    async close(): Promise<void> {
      await sweep.stop();
      await dispatcher.drain(DRAIN_MS);
      store.close();
    },
  };
}

/** Runs a push service instead of a chat. @throws StartupError, DatabaseRefused */
export async function startPushServer(
  configuration: Configuration,
  say: (line: string) => void,
): Promise<RunningServer> {
  const { push, hasRateLimits, rateLimitRules, trustedProxies, metricsAddress } = configuration;
  if (!push || !('keys' in push)) {
    throw new UsageError(
      'A push service needs PARLEY_PUSH_KEYS, and APNs (PARLEY_APNS_KEY) or PARLEY_FCM_CREDENTIALS.',
    );
  }
  const database = sqliteOf(configuration, 'A push service');
  const logger = createLogger(configuration.logLevel);
  makeFolderOf(database);
  const url = configuration.url ?? `http://localhost:${configuration.port}`;
  const metrics = metricsAddress && (await ServerMetrics.create({ version: parleyVersion(), ofProcess: true }));
  const service = composePushServer({
    ...{ account: push, path: database.path, url, clock: new SystemClock(), logger },
    ...{ hasRateLimits, rateLimitRules, trustedProxies },
    ...(metrics && { observers: [metrics] }),
  });
  let isDraining = false;
  const ready = async () => (isDraining ? notReady('draining') : { isReady: true, checks: {} });
  const server = createHttpServer(withHealth(ready, service.handler), { ...configuration, logger });
  let operator: Server | null = null;
  try {
    await listen(server, configuration);
    if (metrics) operator = await listenForOperator(metricsAddress, ready, metrics);
    metrics?.watch(service.gauges);
  } catch (error) {
    closeNow(server);
    await service.close();
    throw error;
  }
  const publicUrl = configuration.url ?? listeningUrl(server, configuration.host);
  say(`The push service is at ${publicUrl}`);
  for (const key of new SealedBoxes(push.keys).publicKeys) say(`Public key for apps: ${key}`);
  let stopping: Promise<void> | undefined;
  return {
    url: publicUrl,
    stop: () => {
      isDraining = true;
      stopping ??= closeGently(server, () => service.close())
        .then(() => closeNow(operator))
        .then(() => logger.close());
      return stopping;
    },
  };
}
