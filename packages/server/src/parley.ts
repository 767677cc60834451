import type { RequestListener } from 'node:http';
import type { PasswordHasher } from '@parley/domain/authentication';
import { PublishingUnitOfWork } from '@parley/domain/composition';
import type { LoadUnicodeEmoji } from '@parley/domain/emoji';
import { EventHub, LogFollower, QueueSweep } from '@parley/domain/events';
import type { ExportLimits } from '@parley/domain/exports';
import type { BlobStore, FileLimits, PartialBlobStore } from '@parley/domain/files';
import type { ImageProcessor } from '@parley/domain/images';
import type { JobHandler } from '@parley/domain/jobs';
import type { Mailer } from '@parley/domain/mail';
import type { MarkdownRenderer } from '@parley/domain/messages';
import type { Clock, Randomness, Timers, UnitOfWork } from '@parley/domain/shared';
import {
  createRouter,
  type Dispatcher,
  dispatchHotFirst,
  type Logger,
  LongPoll,
  type Middleware,
  type ProxyTrust,
  type RateLimitRules,
  type RequestTracer,
  type Route,
  replyToError,
  type TransportLimits,
  type TrustedOrigins,
  unknownPath,
} from '@parley/http';
import type { StorageGauges } from '@parley/sqlite';
import express from 'express';
import type { HostAuthenticate } from './authentication/host-authenticate.js';
import { assertSameSecret, rehashApiKeys } from './authentication/rehash-api-keys.js';
import type { BigBlueButtonAccount } from './calls/big-blue-button-account.js';
import { type Ports, ServerContainer } from './container.js';
import { facadeOf } from './facade/facade.js';
import { mounted } from './facade/mounted.js';
import type { Parley } from './facade/parley.js';
import { Readiness } from './observation/readiness.js';
import { readinessChecks } from './observation/readiness-checks.js';
import { readGauges } from './observation/server-gauges.js';
import type { ServerMetrics } from './observation/server-metrics.js';
import type { PushServiceAccount } from './push/push-service-account.js';
import { type RealmAddresses, RealmResolver } from './realm-resolver.js';
import { LISTS, PARTS } from './tokens.js';
import { JobWorkers } from './workers/job-workers.js';
import { LoadMonitor } from './workers/load-monitor.js';

/** What differs between a server, an embedding application and a test. */
export interface ParleyParts {
  /** Beside the API's own. */
  readonly moreRoutes?: readonly Route[];
  /** Beside those of the features. */
  readonly moreJobHandlers?: readonly JobHandler[];
  readonly unitOfWork: UnitOfWork;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly passwordHasher: PasswordHasher;
  readonly markdownRenderer: MarkdownRenderer;
  readonly mailer: Mailer;
  /** Whether letters are delivered, and not only put into a folder; default: true. */
  readonly sendsMail?: boolean;
  /** Of invitations that say nothing about it; default: ten days. */
  readonly invitationValidityMinutes?: number;
  readonly unicodeEmoji: LoadUnicodeEmoji;
  readonly logger: Logger;
  readonly secret: string;
  /** What other services sign tokens with, by the string id of the organization; default: none. */
  readonly jwtSecrets?: ReadonlyMap<string, string>;
  /** When the database knows another secret: `rehash` makes every API key anew, `refuse` throws a StartupError. */
  readonly onOtherSecret: 'rehash' | 'refuse';
  /** Called every second: whether what is written is still where others find it. Throws when it is not. */
  readonly verifyStorage?: () => void;
  /** What carries notifications to phones; null: nothing does. */
  readonly push: PushServiceAccount | null;
  /** Where meetings are held; default: nowhere. */
  readonly bigBlueButton?: BigBlueButtonAccount | null;
  readonly url: string;
  readonly defaultRealm: string | null;
  /** How organizations beside the one at `url` are told apart; default: by host name. */
  readonly realmAddresses?: RealmAddresses;
  readonly allowsWebPublicChannels: boolean;
  /** Whether guests who may not know everybody are told of those alone whom they know when they are there; default: false. */
  readonly limitsPresence?: boolean;
  /** An address with `%s` in it, of a gateway that takes mail for channels. */
  readonly mailGatewayPattern?: string | null;
  readonly hasRateLimits: boolean;
  /** Quotas instead of the default ones. */
  readonly rateLimitRules?: RateLimitRules;
  readonly trustedProxies: ProxyTrust;
  readonly isDev: boolean;
  /** The organization's passwords are as good as published. */
  readonly isDemo?: boolean;
  /** Default: those of `TRANSPORT_LIMITS`. */
  readonly limits?: Partial<TransportLimits>;
  /** Whether requests are refused while the event loop lags or memory runs out; default: never. */
  readonly shedsLoad?: boolean;
  /** Told of every answer; default: none are kept. */
  readonly metrics?: ServerMetrics;
  readonly tracer?: RequestTracer;
  /** A folder whose disk has to have room; default: none. */
  readonly dataFolder?: string;
  /** Default: the storage has none. */
  readonly storageGauges?: () => StorageGauges;
  readonly authenticate?: HostAuthenticate;
  /** Beside our own, origins whose pages may act for those whom `authenticate` let in; default: none. */
  readonly trustedOrigins?: TrustedOrigins;
  /** For so many days deleted messages can be put back; default: 30. */
  readonly keepDeletedDays?: number;
  /** Where the bytes of files are. */
  readonly blobs: BlobStore;
  /** Where the bytes of unfinished uploads are. */
  readonly partialBlobs: PartialBlobStore;
  readonly images: ImageProcessor;
  /** Of files that an export needs while it is made; default: in the system's folder of temporary files. */
  readonly exportsFolder?: string;
  /** Instead of the usual bounds of exports that administrators may ask for. */
  readonly exportLimits?: Partial<ExportLimits>;
  /** Where letters come from, and questions of administrators go; null: the operator told none. */
  readonly mailFrom?: string | null;
  /** Default: 100 MiB a file, and no quota. */
  readonly fileLimits?: FileLimits;
  /** Neither workers nor deliveries begin: for a command that calls a few use cases and ends. Default: they do. */
  readonly isOneOff?: boolean;
  /** Called at last by `close`. */
  readonly release: () => Promise<void>;
}

/** A chat engine, and the ports it was made of. */
export interface ComposedParley extends Parley {
  readonly ports: Ports;
  readonly routes: readonly Route[];
}

export async function composeParley(options: ParleyParts): Promise<ComposedParley> {
  const container = new ServerContainer(options);
  const { resolve } = container;
  const { logger } = options;
  const ports = container.ports();
  const { unitOfWork, apiKeyMint } = ports;
  if (options.onOtherSecret === 'rehash') {
    const users = await rehashApiKeys(unitOfWork, apiKeyMint);
    if (users > 0) logger.error({ users }, 'the secret is another one than last time: all API keys are new');
  } else await assertSameSecret(unitOfWork, apiKeyMint);
  await resolve(RealmResolver).refresh();

  const follower = resolve(LogFollower);
  if (!options.isOneOff) {
    for (const listener of container.list(LISTS.commitListener)) resolve(PublishingUnitOfWork).subscribe(listener);
    for (const listener of container.list(LISTS.eventListener)) follower.subscribe(listener);
    await follower.start();
  }

  const dispatcher = container.get(PARTS.dispatcher);
  if (options.shedsLoad && !options.isOneOff) {
    resolve(LoadMonitor).watch(() => ({ requests: dispatcher.inFlight, ...dispatcher.bytesInFlight }));
  }
  const router = createRouter(dispatcher);
  const workers = options.isOneOff ? [] : container.list(LISTS.worker);
  for (const worker of workers) worker.start();

  const gauges = () =>
    readGauges({
      dispatcher,
      follower,
      hub: resolve(EventHub),
      jobs: resolve(JobWorkers),
      storage: options.storageGauges,
    });
  const readiness = new Readiness(readinessChecks(ports, gauges, options.dataFolder ?? null));
  options.metrics?.watch(gauges);

  const handler = dispatchHotFirst(dispatcher, applicationOf(router));
  let closing: Promise<void> | undefined;
  /** To the end, whatever fails on the way: on a full disk too, the storage has to be closed. */
  async function close(): Promise<void> {
    readiness.end();
    options.metrics?.watch(null);
    const attempt = (what: string, work: () => void | Promise<void>) => attemptTo(logger, what, work);
    for (const worker of [...workers].reverse()) await attempt(`ending ${worker.name}`, () => worker.stop());
    // Where queues stand may be lost: their clients' next polls say it again.
    await attempt('storing where event queues stand', () => resolve(QueueSweep).savePositions());
    await attempt('answering the last requests', () =>
      endRequests(dispatcher, container.get(PARTS.timers), () => {
        resolve(LongPoll).close();
        resolve(EventHub).close();
      }),
    );
    await attempt('closing the storage', () => options.release());
  }

  return {
    ...facadeOf(resolve, unitOfWork, ports.realmUrls),
    router,
    handler,
    mount: (prefix = new URL(options.url).pathname) => mounted(handler, prefix),
    useCase: resolve,
    findRealm: (stringId) => resolve(RealmResolver).findByStringId(stringId),
    ports,
    routes: container.get(PARTS.routes),
    ready: () => readiness.report(),
    metrics: async () => {
      if (options.metrics) return options.metrics.text();
      throw new Error('No metrics are kept: createParley has to be told `metrics: true`.');
    },
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

const WAKE_AGAIN_MS = 50;
/** How long whoever has begun to ask may take to be answered. */
const PATIENCE_MS = 10_000;

/** Those who wait for events are answered at once; so are polls that began while the others ended. */
async function endRequests(dispatcher: Dispatcher, timers: Timers, wakeAll: () => void): Promise<void> {
  const drained = dispatcher.drain(PATIENCE_MS);
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

/** Nothing but the router; whatever it does not know is answered as its own unknown paths are. */
function applicationOf(router: Middleware): RequestListener {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.use(router);
  app.use((request, response) => {
    const { reply } = replyToError(unknownPath());
    response.writeHead(reply.status, {
      'Content-Type': 'application/json',
      // Nobody waits for the rest of what nobody reads.
      ...(!request.complete && { Connection: 'close' }),
    });
    response.end(reply.body);
  });
  return app;
}
