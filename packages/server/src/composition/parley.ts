import type { RequestListener } from 'node:http';
import type { Injectable, Ports, Resolve as UseCases } from '@parley/domain/composition';
import type { Timers } from '@parley/domain/kernel';
import {
  ERROR_REPLIES,
  type ExpressAdapter,
  type Logger,
  notFoundPage,
  type Route,
  serveInTurns,
  unknownPath,
} from '@parley/http';
import { type FacadeParts, facadeOf, mounted, type Parley } from '../facade/facade.js';
import { assertSameSecret, rehashApiKeys } from '../http/authentication.js';
import { webHandler } from '../http/web-handler.js';
import { unknownClass } from '../kernel/injector.js';
import { RealmResolver } from '../kernel/realm-resolver.js';
import { readGauges } from '../observation/metrics.js';
import { Readiness, readinessChecks } from '../observation/readiness.js';
import { LoadMonitor } from '../workers/load-monitor.js';
import type { Worker } from '../workers/recurring-worker.js';
import { createContainer } from './container.js';
import type { ParleyDependencies } from './parley-dependencies.js';
import type { Get } from './services.js';

/** Chat engine with its ports. */
export interface ComposedParley extends Parley {
  readonly ports: Ports;
  readonly routes: readonly Route[];
  /** Background workers that run until they are stopped or the server closes. */
  readonly workers: readonly Worker[];
  /** Parts of the running server, for tests. */
  readonly part: Get;
}

export async function composeParley(options: ParleyDependencies): Promise<ComposedParley> {
  const container = createContainer(options);
  const { get, resolve } = container;
  const { logger } = options;
  const ports = container.ports();
  const { unitOfWork, apiKeyMint } = ports;
  if (options.onOtherSecret === 'rehash' && !options.isOneOff) {
    const users = await rehashApiKeys(unitOfWork, apiKeyMint);
    if (users > 0) logger.error({ users }, 'the secret has changed: all API keys are new');
  } else if (options.onOtherSecret === 'refuse') await assertSameSecret(unitOfWork, apiKeyMint);
  await resolve(RealmResolver).refresh();

  const follower = get('follower');
  if (!options.isOneOff) {
    for (const listener of get('commitListeners')) get('publishing').subscribe(listener);
    for (const listener of get('eventListeners')) follower.subscribe(listener);
  }

  const express = get('express');
  if (options.shedsLoad && !options.isOneOff) {
    resolve(LoadMonitor).watch(() => ({ requests: express.inFlight, ...express.bytesInFlight }));
  }
  const workers = options.isOneOff ? [] : get('workers');
  for (const worker of workers) worker.start();

  const { bucket = null, dataFolder = null } = options;
  const gauges = () =>
    readGauges({
      express,
      follower,
      bus: get('bus'),
      hub: get('hub'),
      jobs: get('jobWorkers'),
      notifications: get('notificationMeter'),
      storage: options.storageGauges,
      ...{ bucket, dataFolder, readLastBackup: options.readLastBackup },
      cluster: options.clusterGauges ?? null,
    });
  const readiness = new Readiness(
    readinessChecks(ports, gauges, { bucket, dataFolder, hasBus: options.hasBus ?? false }),
  );
  options.metrics?.watch(gauges);

  const handler = standaloneHandler(express, `${new URL(options.url).pathname.replace(/\/$/, '')}/`);
  const mount = (prefix = new URL(options.url).pathname) => mounted(handler, prefix);
  let closing: Promise<void> | undefined;
  /** Runs every step even if one fails: the storage must be closed even on a full disk. */
  async function close(): Promise<void> {
    readiness.end();
    options.metrics?.watch(null);
    const attempt = (what: string, work: () => void | Promise<void>) => attemptTo(logger, what, work);
    for (const worker of [...workers].reverse()) await attempt(`stopping: ${worker.name}`, () => worker.stop());
    // Losing queue positions is harmless, since clients report them again with their next polls.
    await attempt('storing positions of event queues', () => get('queueSweep').savePositions());
    await attempt('answering the last requests', () =>
      endRequests(express, get('timers'), () => {
        get('longPoll').close();
        get('hub').close();
      }),
    );
    await attempt('closing the storage', () => options.release());
  }

  return {
    ...facadeOf(resolve, facadePartsOf(get)),
    router: express.router,
    handler,
    mount,
    fetch: webHandler(mount()),
    useCase: useCasesOf(get('routes'), resolve as (type: Injectable) => unknown),
    findRealm: (stringId) => resolve(RealmResolver).findByStringId(stringId),
    ports,
    routes: get('routes'),
    workers,
    part: get,
    ready: () => readiness.report(),
    metrics: async () => {
      if (options.metrics) return options.metrics.text();
      throw new Error('Metrics are disabled; pass `metrics: true` to createParley.');
    },
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

const facadePartsOf = (get: Get): FacadeParts => ({
  consumers: get('consumers'),
  follower: {
    // Wakes the reader of other processes' events on a quiet server.
    followAll() {
      get('activity').record();
      get('follower').followAll();
    },
  },
  uow: get('unitOfWork'),
  urls: get('realmUrls'),
  audits: get('auditTrail'),
});

/** Rejects use cases from another copy of the package, which would share neither services nor errors with this one. */
function useCasesOf(routes: readonly Route[], resolve: (type: Injectable) => unknown): UseCases {
  const own = new Map(routes.map(({ useCase }) => [useCase?.name, useCase]));
  return (type) => {
    const namesake = own.get(type.name);
    if (namesake !== undefined && namesake !== type) throw unknownClass(type);
    return resolve(type) as never;
  };
}

const WAKE_AGAIN_MS = 50;
/** Maximum time for pending requests to finish. */
const PATIENCE_MS = 10_000;

/** Responds to pending polls immediately, including polls that begin in the process. */
async function endRequests(express: ExpressAdapter, timers: Timers, wakeAll: () => void): Promise<void> {
  const drained = express.drain(PATIENCE_MS);
  wakeAll();
  const cancel = timers.every(WAKE_AGAIN_MS, wakeAll);
  await drained;
  cancel();
}

async function attemptTo(logger: Logger, what: string, work: () => void | Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    logger.error({ err: error }, `${what} failed`);
  }
}

/**
 * Gives the router to Node's own server: an Express application would replace the prototypes of every request and
 * response (ADR 73). Unknown paths get a page in browsers, and otherwise an error in the API's format. `start` is the
 * path of the start page.
 */
function standaloneHandler({ router, respond }: ExpressAdapter, start: string): RequestListener {
  return serveInTurns(router, (request, response) => {
    const isBrowser = request.method === 'GET' && (request.headers.accept ?? '').includes('text/html');
    if (!isBrowser) respond(request, response, ERROR_REPLIES.replyTo(unknownPath()).reply);
    else respond(request, response, notFoundPage(request.headers['accept-language'], start));
  });
}
