import type { RequestListener } from 'node:http';
import {
  type Clock,
  EventHub,
  LogFollower,
  type MarkdownRenderer,
  type PasswordHasher,
  PromoteFullMembers,
  PublishingUnitOfWork,
  QueueSweep,
  type Randomness,
  type RealmId,
  type ReportProblem,
  type UnitOfWork,
  VerifyApiKey,
} from '@parley/domain';
import {
  type Authenticator,
  BasicAuthenticator,
  createDispatcher,
  createRouter,
  createRoutes,
  type Dispatcher,
  dispatchHotFirst,
  type EmojiNames,
  EVENT_CATALOGUE,
  ipGroup,
  type LoadGauge,
  type Logger,
  LongPoll,
  networkOf,
  RateLimiter,
  RealmPlaces,
  type Route,
  replyToError,
  type TransportLimits,
  unknownPath,
} from '@parley/http';
import express, { type Router } from 'express';
import { ApiKeyCredentials } from './authentication/api-key-credentials.js';
import { HmacApiKeyMint } from './authentication/hmac-api-key-mint.js';
import { type HostAuthenticate, HostAuthenticator } from './authentication/host-authenticator.js';
import { refuseOtherSecret, rehashApiKeys } from './authentication/rehash-api-keys.js';
import { StoredStandings } from './authentication/stored-standings.js';
import { ZxcvbnPasswordStrength } from './authentication/zxcvbn-password-strength.js';
import { compose, type Ports, type Resolve } from './container.js';
import { DailyChannelQuota } from './daily-channel-quota.js';
import { ListedDisposableDomains } from './listed-disposable-domains.js';
import { RealmAddressBook, serverAddressOf } from './realm-address-book.js';
import { SystemEventLoop } from './system-event-loop.js';
import { Housekeeping } from './workers/housekeeping.js';
import type { LoadMonitor } from './workers/load-monitor.js';
import { Promotion } from './workers/promotion.js';

/** A chat engine at work. */
export interface Parley {
  /** For an Express app, under any path: `app.use('/chat', parley.router)`. */
  readonly router: Router;
  /**
   * For a server of Node's own, quicker than through Express: `createServer(parley.handler)`. Paths begin at the root, whatever
   * the public address says.
   */
  readonly handler: RequestListener;
  /** The one instance of a use case, for calling it in process: `parley.useCase(CreateRealm)`. */
  readonly useCase: Resolve;
  /** The organization with this string id; null when there is none. */
  findRealm(stringId: string): Promise<RealmId | null>;
  /** Finishes what is in flight, answers long polls, and closes the database. Idempotent. */
  close(): Promise<void>;
}

/** What differs between a server, an embedding application and a test. */
export interface Assembly {
  /** Beside the API's own. */
  readonly moreRoutes?: readonly Route[];
  readonly unitOfWork: UnitOfWork;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly passwordHasher: PasswordHasher;
  readonly markdownRenderer: MarkdownRenderer;
  readonly emojiNames: () => EmojiNames;
  readonly logger: Logger;
  readonly secret: string;
  /** When the database knows another secret: `rehash` makes every API key anew, `refuse` throws a StartupError. */
  readonly onOtherSecret: 'rehash' | 'refuse';
  /** Called every second: whether what is written is still where others find it. Throws when it is not. */
  readonly verifyStorage?: () => void;
  readonly url: string;
  readonly defaultRealm: string | null;
  readonly allowsWebPublicChannels: boolean;
  readonly hasRateLimits: boolean;
  readonly trustedProxies: number;
  readonly isDev: boolean;
  /** The organization's passwords are as good as published. */
  readonly isDemo?: boolean;
  /** Default: those of `TRANSPORT_LIMITS`. */
  readonly limits?: Partial<TransportLimits>;
  /** What requests are shed by; default: none ever. */
  readonly load?: LoadGauge & Partial<Pick<LoadMonitor, 'watch'>>;
  readonly authenticate?: HostAuthenticate;
  /** Called at last by `close`. */
  readonly release: () => Promise<void>;
}

/** A chat engine, and the ports it was made of. */
export interface Assembled extends Parley {
  readonly ports: Ports;
  readonly routes: readonly Route[];
}

export async function assemble(parts: Assembly): Promise<Assembled> {
  const { clock, randomness, logger } = parts;
  const report: ReportProblem = (message, fields) => logger.error(fields, message);
  const onListenerFailure = (err: unknown) => report('following events failed', { err });
  const unitOfWork = new PublishingUnitOfWork(parts.unitOfWork, clock, onListenerFailure);
  const apiKeyMint = new HmacApiKeyMint(parts.secret);
  if (parts.onOtherSecret === 'rehash') {
    const users = await rehashApiKeys(unitOfWork, apiKeyMint);
    if (users > 0) logger.error({ users }, 'the secret is another one than last time: all API keys are new');
  } else await refuseOtherSecret(unitOfWork, apiKeyMint);
  const addressBook = new RealmAddressBook(unitOfWork, clock, parts);
  await addressBook.refresh();

  const eventLoop = new SystemEventLoop();
  const follower = new LogFollower(unitOfWork, onListenerFailure);
  const hub = new EventHub({ uow: unitOfWork, follower, clock, eventLoop, catalogue: EVENT_CATALOGUE, report });
  const sweep = new QueueSweep({ uow: unitOfWork, clock, eventLoop, hub, report });

  const limiter = new RateLimiter({ clock, isOn: parts.hasRateLimits });
  const ports: Ports = {
    unitOfWork,
    clock,
    randomness,
    apiKeyMint,
    passwordHasher: parts.passwordHasher,
    passwordStrength: new ZxcvbnPasswordStrength(),
    disposableDomains: new ListedDisposableDomains(),
    loginAttempts: {
      attempt: (key, ip) => limiter.attempt('authenticate_by_username', key, sourceOf(ip)),
      withdraw: (key, ip) => limiter.withdraw('authenticate_by_username', key, sourceOf(ip)),
      forget: (key, ip) => limiter.forget('authenticate_by_username', key, sourceOf(ip)),
    },
    markdownRenderer: parts.markdownRenderer,
    realmAddresses: addressBook,
    serverAddress: serverAddressOf(parts),
    channelOptions: { webPublicEnabled: parts.allowsWebPublicChannels },
    channelQuota: new DailyChannelQuota(limiter, clock),
    developmentMode: { isOn: parts.isDev },
    servedQueues: hub,
  };
  const useCase = compose(ports);

  unitOfWork.subscribe(follower);
  // Keys are forgotten before clients hear why.
  follower.subscribe(useCase(VerifyApiKey));
  follower.subscribe(hub);
  await follower.start();
  const longPoll = new LongPoll(hub, new RealmPlaces(unitOfWork, addressBook), randomness, report);
  const housekeeping = new Housekeeping(follower, sweep, logger, releasingPolls(parts.verifyStorage, hub));
  const promotion = new Promotion(useCase(PromoteFullMembers), clock, logger);
  follower.subscribe(promotion);

  const facts = {
    startedAt: clock.now(),
    isDevelopment: parts.isDev,
    webPublicEnabled: parts.allowsWebPublicChannels,
  };
  const routes = [
    ...createRoutes({ addresses: addressBook, hub, longPoll, facts, clock, emojiNames: parts.emojiNames }),
    ...(parts.moreRoutes ?? []),
  ];
  const dispatcher = createDispatcher({
    routes,
    resolve: useCase,
    authenticators: authenticatorsOf(parts, ports, addressBook, useCase),
    realms: addressBook,
    gatekeeper: new StoredStandings(unitOfWork),
    limiter,
    clock,
    logger,
    trustedProxies: parts.trustedProxies,
    limits: parts.limits,
    load: parts.load,
    publicHost: new URL(parts.url).hostname,
    hasKnownPasswords: parts.isDemo,
  });
  parts.load?.watch?.(() => ({ requests: dispatcher.inFlight, ...dispatcher.bytesInFlight }));
  const router = createRouter(dispatcher);

  let closing: Promise<void> | undefined;
  /** To the end, whatever fails on the way: on a full disk too, the storage has to be closed. */
  async function close(): Promise<void> {
    const attempt = (what: string, work: () => void | Promise<void>) => attemptTo(logger, what, work);
    await attempt('ending housekeeping', () => housekeeping.stop());
    await attempt('ending promotion', () => promotion.stop());
    // Where queues stand may be lost: their clients' next polls say it again.
    await attempt('storing where event queues stand', () => sweep.savePositions());
    await attempt('answering the last requests', () =>
      endRequests(dispatcher, () => {
        longPoll.close();
        hub.close();
      }),
    );
    await attempt('closing the storage', () => parts.release());
  }

  return {
    router,
    handler: dispatchHotFirst(dispatcher, applicationOf(router)),
    useCase,
    findRealm: (stringId) => addressBook.findByStringId(stringId),
    ports,
    routes,
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

/** Of one network there may be thousands of addresses. */
const sourceOf = (ip: string | undefined): string | undefined =>
  ip === undefined ? undefined : (networkOf(ip) ?? ipGroup(ip));

/** The host application's log-in comes before API keys. */
function authenticatorsOf(
  { authenticate }: Assembly,
  { unitOfWork }: Ports,
  addressBook: RealmAddressBook,
  useCase: Resolve,
): readonly Authenticator[] {
  const basic = new BasicAuthenticator(new ApiKeyCredentials(useCase(VerifyApiKey), addressBook));
  return authenticate ? [new HostAuthenticator(authenticate, unitOfWork, addressBook), basic] : [basic];
}

const WAKE_AGAIN_MS = 50;
/** How long whoever has begun to ask may take to be answered. */
const PATIENCE_MS = 10_000;

/** Those who wait for events are answered at once; so are polls that began while the others ended. */
async function endRequests(dispatcher: Dispatcher, wakeAll: () => void): Promise<void> {
  const drained = dispatcher.drain(PATIENCE_MS);
  wakeAll();
  const timer = setInterval(wakeAll, WAKE_AGAIN_MS);
  await drained;
  clearInterval(timer);
}

/** Whoever waits for events of a storage that is lost is let go, and refused the next time. */
function releasingPolls(verify: () => void = () => {}, hub: EventHub): () => void {
  let isLost = false;
  return () => {
    try {
      verify();
    } catch (error) {
      if (!isLost) hub.close();
      isLost = true;
      throw error;
    }
  };
}

async function attemptTo(logger: Logger, what: string, work: () => void | Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    logger.error({ err: error }, `${what} failed`);
  }
}

/** Nothing but the router; whatever it does not know is answered as its own unknown paths are. */
function applicationOf(router: Router): RequestListener {
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
