import type { RequestListener } from 'node:http';
import type { Clock } from '@parley/domain/kernel';
import { PushServer } from '@parley/domain/push';
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
  unknownPath,
} from '@parley/http';
import { type DirectPush, phoneSenderOf, SealedBoxes, SystemClock, SystemTimers } from '@parley/node-adapters';
import { SqlitePushServerStore } from '@parley/sqlite';
import { type Configuration, sqliteOf } from './configuration/configuration.js';
import { createHttpServer } from './http-server.js';
import { createLogger } from './logger.js';
import { notReady, withHealth } from './observation/readiness.js';
import { makeFolderOf } from './open-parley.js';
import { closeGently, listen, listeningUrl, type RunningServer } from './serve.js';
import { UsageError } from './startup-error.js';
import { periodic, RecurringWorker } from './workers/recurring-worker.js';

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
}

const MIB = 1024 * 1024;
const DRAIN_MS = 5000;
const DAY_MS = 86_400_000;

/** Push service for other servers (organization §17), behind the same transport as the chat. */
export function composePushServer(parts: PushServerParts) {
  const { account, clock, logger, trustedProxies } = parts;
  const store = new SqlitePushServerStore(parts.path);
  const sender = phoneSenderOf(account, { clock, report: (message, fields) => logger.error(fields, message) });
  const server = new PushServer(store, new SealedBoxes(account.keys), sender, clock);
  const dispatcher = createDispatcher({
    routes: pushServerRoutes(server),
    errorReplies: ERROR_REPLIES,
    contractPathOf: () => undefined,
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
  const { push, hasRateLimits, rateLimitRules, trustedProxies } = configuration;
  if (!push || !('keys' in push)) {
    throw new UsageError(
      'A push service needs PARLEY_PUSH_KEYS, and APNs (PARLEY_APNS_KEY) or PARLEY_FCM_CREDENTIALS.',
    );
  }
  const database = sqliteOf(configuration, 'A push service');
  const logger = createLogger(configuration.logLevel);
  makeFolderOf(database);
  const url = configuration.url ?? `http://localhost:${configuration.port}`;
  const parts = { account: push, path: database.path, url, clock: new SystemClock(), logger };
  const service = composePushServer({ ...parts, hasRateLimits, rateLimitRules, trustedProxies });
  let isDraining = false;
  const ready = async () => (isDraining ? notReady('draining') : { isReady: true, checks: {} });
  const server = createHttpServer(withHealth(ready, service.handler), { ...configuration, logger });
  try {
    await listen(server, configuration);
  } catch (error) {
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
      stopping ??= closeGently(server, () => service.close()).then(() => logger.close());
      return stopping;
    },
  };
}
