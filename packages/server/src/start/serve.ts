import { createHash } from 'node:crypto';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MissingLibrary } from '@parley/domain/kernel';
import type { ComposedParley } from '../composition/parley.js';
import type { Configuration, ListenAddress } from '../configuration/configuration.js';
import type { Environment } from '../configuration/env-file.js';
import { SETTINGS } from '../configuration/settings.js';
import { ImportProcess } from '../exports/import-process.js';
import { createHttpServer } from '../http/http-server.js';
import { StartupError } from '../kernel/startup-error.js';
import { ServerMetrics } from '../observation/metrics.js';
import { withProbes } from '../observation/probe.js';
import { notReady, operatorListener, type ReadinessReport, withHealth } from '../observation/readiness.js';
import { parleyVersion } from '../version.js';
import type { Worker } from '../workers/recurring-worker.js';
import { collectGarbage } from './collect-garbage.js';
import { filesFolderOf } from './files-location.js';
import { listenForEmail, type RunningSmtp } from './incoming-smtp.js';
import { createLogger } from './logger.js';
import { openParley } from './open-parley.js';
import { findSecret } from './secret.js';

export interface RunningServer {
  /** Public URL of the server. */
  readonly url: string;
  /** Rejects with a StartupError if another version changes the schema. */
  readonly unusable?: Promise<never>;
  /** Finishes pending requests, then closes everything. Idempotent. */
  stop(): Promise<void>;
}

/** Delay that spares the first requests, yet ends before the heap grows and makes the collection long. */
const MEMORY_RELEASE_MS = 1000;

/**
 * Listens before opening the database, so that neither a port in use nor a rejected database leaves anything behind.
 * Requests that arrive in between wait. `say` receives lines for the operator.
 * @throws StartupError, DatabaseRefused
 */
export async function startServer(
  configuration: Configuration,
  acceptsNewSecret: boolean,
  say: (line: string) => void,
  environment: Environment = process.env,
): Promise<RunningServer> {
  const { promise: opened, resolve: open } = withResolvers<RequestListener>();
  const logger = createLogger(configuration.logLevel);
  let serving: ComposedParley | null = null;
  let isDraining = false;
  const ready = async () => (isDraining ? notReady('draining') : ((await serving?.ready()) ?? notReady('starting')));
  const waiting: RequestListener = (request, response) => void opened.then((handler) => handler(request, response));
  const server = createHttpServer(withHealth(ready, waiting), { ...configuration, logger });
  await listen(server, configuration);
  const metrics =
    configuration.metricsAddress && (await ServerMetrics.create({ version: parleyVersion(), ofProcess: true }));
  const url = configuration.url ?? listeningUrl(server, configuration.host);
  let operator: Server | null = null;
  let onUnknownSchema!: () => void;
  const unusable = new Promise<never>((_, reject) => {
    onUnknownSchema = () =>
      reject(new StartupError('Another version of Parley has changed the schema; start that one.'));
  });
  // Raced below; a failure before that must not count as unhandled.
  unusable.catch(() => {});
  const importRunner = importsBy(configuration, url, environment);
  try {
    const listening = metrics ? await listenForOperator(configuration.metricsAddress!, ready, metrics) : null;
    operator = listening;
    await importRunner.removeLeftovers().catch((err) => logger.warn({ err }, 'files of interrupted imports remain'));
    const parley = await openParley(
      { ...configuration, url },
      {
        logger,
        acceptsNewSecret,
        hasHost: false,
        importRunner: configuration.allowsOwnerImports ? importRunner : null,
        onUnknownSchema,
        ...(metrics && { metrics }),
        ...(configuration.logLevel === 'debug' && { onCommit: (commit) => logger.debug(commit, 'commit') }),
      },
    );
    const { isDemo, isDemoActive: forVisitors } = configuration;
    const isNewDemo =
      isDemo && (await (await import('../demo/create-demo.js')).createDemo(parley.ports, { forVisitors }));
    const mail = await startMailServer(configuration, parley, logger);
    const probed = withProbes(findSecret(configuration)!, configuration.trustedProxies, parley.handler);
    // Later requests bypass the waiting handler.
    server.removeAllListeners('request').on('request', withHealth(ready, probed));
    serving = parley;
    open(parley.handler);
    // Written before the URL is printed, since scripts that wait for it read the files.
    const announcement = isDemo ? await describeDemo(parley, configuration, url, isNewDemo) : [];
    say(`Parley is at ${url}`);
    logger.info({ version: parleyVersion(), node: process.versions.node, url, pid: process.pid }, 'started');
    for (const line of announcement) say(line);
    const activity = isDemo && forVisitors ? await startDemoActivity(parley, isNewDemo) : null;
    const release = setTimeout(() => void collectGarbage(), MEMORY_RELEASE_MS).unref();

    let stopping: Promise<void> | undefined;
    return {
      url,
      unusable,
      stop: () => {
        if (!isDraining) logger.info({ drainSeconds: configuration.drainSeconds }, 'stopping');
        isDraining = true;
        clearTimeout(release);
        // Gives proxies time to route requests elsewhere.
        stopping ??= sleep(configuration.drainSeconds * 1000)
          .then(() => activity?.stop())
          .then(() => mail?.close())
          .then(() => closeGently(server, () => parley.close()))
          .then(() => closeNow(operator))
          .then(() => logger.info({}, 'stopped'))
          .then(() => logger.close());
        return stopping;
      },
    };
  } catch (error) {
    closeNow(operator);
    closeNow(server);
    await logger.close();
    throw error;
  }
}

function importsBy(configuration: Configuration, url: string, environment: Environment): ImportProcess {
  const folder = join(filesFolderOf(configuration), 'imports');
  // Servers of several PostgreSQL databases may share the machine's temporary folder.
  const database = createHash('sha256').update(JSON.stringify(configuration.database)).digest('hex').slice(0, 16);
  return new ImportProcess(folder, database, { ...environment, [SETTINGS.url.variable]: url });
}

/** Returns null if the server receives no email by SMTP. */
async function startMailServer(
  { incomingMail: { smtp, maxBytes } }: Configuration,
  parley: ComposedParley,
  logger: ReturnType<typeof createLogger>,
): Promise<RunningSmtp | null> {
  if (!smtp) return null;
  try {
    return await listenForEmail(smtp, parley, { maxBytes, logger });
  } catch (error) {
    if (error instanceof MissingLibrary) throw error;
    throw new StartupError(describeListenError(error as NodeJS.ErrnoException, smtp, '--smtp-in'));
  }
}

export async function listenForOperator(
  address: ListenAddress,
  ready: () => Promise<ReadinessReport>,
  metrics: ServerMetrics,
): Promise<Server> {
  const server = createServer(operatorListener(ready, metrics));
  await listen(server, address, '--metrics');
  return server;
}

export function closeNow(server: Server | null): void {
  server?.closeAllConnections();
  server?.close();
}

/**
 * Maximum number of connections queued while the event loop is busy. The system may impose a lower limit
 * (`net.core.somaxconn`), which rejects clients that reconnect at the same time.
 */
const BACKLOG = 4096;

export async function listen(server: Server, { host, port }: ListenAddress, option = '--port'): Promise<void> {
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ host, port, backlog: BACKLOG }, () => {
        server.off('error', reject);
        resolve();
      });
    });
  } catch (error) {
    throw new StartupError(describeListenError(error as NodeJS.ErrnoException, { host, port }, option));
  }
}

function describeListenError(
  { code, message }: NodeJS.ErrnoException,
  { host, port }: ListenAddress,
  option: string,
): string {
  switch (code) {
    case 'EADDRINUSE':
      return `Port ${port} of ${host} is in use by another program; choose another one with ${option}.`;
    case 'EACCES':
      return `No permission to use port ${port}; choose a port above 1023 with ${option}.`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `${host} is not an address of this machine; choose another one with --host.`;
    default:
      return `Cannot listen on port ${port} of ${host}: ${message}`;
  }
}

export function listeningUrl(server: Server, host: string): string {
  const { port } = server.address() as AddressInfo;
  const isAnywhere = host === '0.0.0.0' || host === '::';
  const isHere = host === '127.0.0.1' || host === '::1' || host === 'localhost';
  const name = isHere || isAnywhere ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  return port === 80 ? `http://${name}` : `http://${name}:${port}`;
}

/** Writes the demo users' credentials next to the database and returns lines for the operator. */
async function describeDemo(
  { ports }: ComposedParley,
  { database }: Configuration,
  url: string,
  isNew: boolean,
): Promise<readonly string[]> {
  const { listDemoAccess, writeZuliprcFiles } = await import('../demo/create-demo.js');
  const access = await listDemoAccess(ports);
  const hamlet = access.find(({ name }) => name === 'hamlet');
  const lines = [`Demo organization${isNew ? ', just created' : ''}; passwords are pw-ADDRESS`];
  const directory = resolve(database.kind === 'sqlite' ? dirname(database.path) : '.', 'zuliprc');
  writeZuliprcFiles(directory, url, access);
  lines.push(`zuliprc files: ${join(directory, `{${access.map(({ name }) => name).join(',')}}`)}`);
  if (hamlet) {
    const newest = `${url}/api/v1/messages?anchor=newest&num_before=5&num_after=0`;
    lines.push(`Try: curl -u '${hamlet.email}:${hamlet.apiKey}' '${newest}'`);
  }
  return lines;
}

async function startDemoActivity(parley: ComposedParley, isNew: boolean): Promise<Worker> {
  const { DemoActivity } = await import('../demo/activity.js');
  const worker = new DemoActivity(parley, isNew).worker();
  worker.start();
  return worker;
}

/** Maximum time for connections to receive their final responses. */
const FAREWELL_MS = 5000;

/** Stops accepting connections, awaits `close`, and closes remaining connections. */
export async function closeGently(server: Server, close: () => Promise<void>): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  await close();
  const impatience = setTimeout(() => server.closeAllConnections(), FAREWELL_MS);
  await closed;
  clearTimeout(impatience);
}

function withResolvers<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve!: (value: T) => void;
  const promise = new Promise<T>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
