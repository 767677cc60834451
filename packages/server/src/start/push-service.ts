import type { Server } from 'node:http';
import { noBus } from '@parley/domain/kernel';
import { OutgoingProxy, SealedBoxes, SystemClock, SystemTimers } from '@parley/node-adapters';
import { createPushService, type PushServiceOptions } from '@parley/push-service';
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

const DAY_MS = 86_400_000;

/** Creates a push service with its recurring work and gauges. */
export function composePushServer(options: PushServiceOptions) {
  const service = createPushService(options);
  const { adapter, notifications } = service;
  const sweep = new RecurringWorker(
    { ...periodic('removing stale registrations', DAY_MS, () => service.removeStale()), firstDelayMs: 0 },
    new SystemTimers(),
    (message, fields) => options.logger.error(fields, message),
  );
  sweep.start();
  return {
    handler: service.handler,
    /** A push service has no events and no jobs. */
    gauges: async (): Promise<ServerGauges> => ({
      requestsInFlight: adapter.inFlight,
      bodiesBytes: adapter.bytesInFlight.bodies,
      answersBytes: adapter.bytesInFlight.responses,
      ...{ queues: 0, waitingPolls: 0, undeliveredEvents: 0, jobLagSeconds: new Map(), bus: noBus },
      storage: null,
      bucket: null,
      cluster: null,
      disk: null,
      lastBackup: null,
      notifications,
    }),
    async close(): Promise<void> {
      await sweep.stop();
      await service.close();
    },
  };
}

/** Runs a push service instead of a chat. @throws StartupError, DatabaseRefused */
export async function startPushServer(
  configuration: Configuration,
  say: (line: string) => void,
): Promise<RunningServer> {
  const { push, outgoingProxy, hasRateLimits, rateLimitRules, trustedProxies, metricsAddress } = configuration;
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
    ...{
      account: push,
      path: database.path,
      url,
      clock: new SystemClock(),
      logger,
      proxy: new OutgoingProxy(outgoingProxy),
    },
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
