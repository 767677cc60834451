import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { S3BlobStore } from '@parley/blobs';
import type { Installation, NatsBus } from '@parley/bus-nats';
import type { Mailer, PasswordHasher } from '@parley/domain/access';
import type { BlobStore } from '@parley/domain/files';
import { type Clock, type NodeState, noBus, type Randomness, type StorageGauges } from '@parley/domain/kernel';
import type { MarkdownRenderer } from '@parley/domain/markdown';
import { bounceAddress } from '@parley/domain/push';
import { ipGroup, type Logger, warn } from '@parley/http';
import { ImageProcess } from '@parley/images';
import { htmlMessages, unicodeEmoji, ZulipMarkdownRenderer } from '@parley/markdown';
import {
  bounceKeyOf,
  FileOutbox,
  HashQueue,
  loadWebPush,
  type MailSender,
  mailFingerprint,
  OutgoingProxy,
  ScryptPasswordHasher,
  SmtpMailer,
  SystemClock,
  SystemRandomness,
  SystemTimers,
} from '@parley/node-adapters';
import type { StateListener } from '@parley/postgres';
import { administerDatabase, openSqliteStorage } from '@parley/sqlite';
import type { Commit } from '@parley/storage';
import { ledgerPathFor } from '../backup/erasure-ledger.js';
import { readLastBackup } from '../backup/last-backup.js';
import { RESTORING, refuseUnfinishedRestore } from '../backup/restore-backup.js';
import { type ComposedParley, composeParley } from '../composition/parley.js';
import type { ParleyDependencies } from '../composition/parley-dependencies.js';
import { isQuietServer } from '../composition/quiet.js';
import type { Configuration, DatabaseLocation, IncomingMail, SqliteLocation } from '../configuration/configuration.js';
import { DEMO } from '../demo/organization.js';
import type { Storage } from '../facade/parley-config.js';
import { StartupError, systemReasonOf } from '../kernel/startup-error.js';
import { logInDirectories, logInServices } from '../log-in/providers.js';
import { openTelemetryTracer } from '../observation/open-telemetry.js';
import { findingsOn } from '../observation/postgres-findings.js';
import { parleyVersion } from '../version.js';
import { hasEnded, newServerId } from '../workers/ended-leases.js';
import { DatabaseClock } from './database-clock.js';
import {
  blobStoreOf,
  databaseNameOf,
  FILES_MARK,
  filesFolderOf,
  isNewDatabase,
  partialBlobStoreOf,
} from './files-location.js';
import { type DatabaseIdentity, refuseUsedFiles } from './files-mark.js';
import { historyParts, type OwnDatabase, openHistory } from './history-marks.js';
import { noteOpenFile } from './open-files.js';
import { findSecret, makeSecret, requireSameSecret } from './secret.js';
import { webAssetsOf } from './web-files.js';

type RuntimeConfig = Omit<
  Configuration,
  'host' | 'port' | 'logLevel' | 'url' | 'database' | 'metricsAddress' | 'drainSeconds'
> & {
  readonly url: string;
  /** Null if `ports.storage` replaces it. */
  readonly database: DatabaseLocation | null;
};

/** Replacements for configured or built-in ports. */
export interface HostPorts {
  readonly storage?: Storage | undefined;
  readonly blobs?: BlobStore | undefined;
  readonly mailer?: Mailer | undefined;
  readonly clock?: Clock | undefined;
  readonly randomness?: Randomness | undefined;
  readonly passwordHasher?: PasswordHasher | undefined;
  readonly renderer?: MarkdownRenderer | undefined;
}

export interface HostOptions
  extends Pick<
    ParleyDependencies,
    | 'logger'
    | 'authenticate'
    | 'hasHost'
    | 'logInProviders'
    | 'trustedOrigins'
    | 'isOneOff'
    | 'metrics'
    | 'importRunner'
    | 'erasureLedgerPath'
  > {
  readonly onCommit?: (commit: Commit) => void;
  /** Called after another version has migrated the schema beyond this version. */
  readonly onUnknownSchema?: () => void;
  readonly ports?: HostPorts;
  readonly acceptsNewSecret: boolean;
  /** Takes the location of files over from another database. */
  readonly adoptsFiles?: boolean;
}

/** Opens a server; leaves no file behind on failure. @throws StartupError, DatabaseRefused, MissingLibrary */
export async function openParley(
  configuration: RuntimeConfig,
  { acceptsNewSecret, adoptsFiles = false, onCommit: report, onUnknownSchema, ports = {}, ...hostOptions }: HostOptions,
): Promise<ComposedParley> {
  const logInProviders = [
    ...(hostOptions.logInProviders ?? []),
    ...(await logInServices(configuration, new OutgoingProxy(configuration.outgoingProxy))),
  ];
  if (configuration.webPush) await loadWebPush();
  const directories = await logInDirectories(configuration);
  const ownClock = ports.clock ? null : databaseClockOf(configuration, hostOptions);
  const clock = ownClock ?? ports.clock ?? new SystemClock();
  const blobStores = blobStoresOf(configuration, ports, hostOptions.logger);
  const onCommit = commitListener(hostOptions.metrics, report);
  requireShareable(configuration);
  const { storage, secret, installation, isCopy, own, examine } = await openStorage(configuration, ports, {
    ...{ acceptsNewSecret, adoptsFiles, clock, logger: hostOptions.logger },
    isOneOff: hostOptions.isOneOff ?? false,
    ...(onCommit && { onCommit }),
    ...(onUnknownSchema && { onUnknownSchema }),
  });
  const forgetFile = noteOpenFile(configuration, hostOptions);
  const images = new ImageProcess({ report: (problem) => warn(hostOptions.logger, {}, problem) });
  // An injected renderer is closed by its owner.
  const ownRenderer = ports.renderer ? null : new ZulipMarkdownRenderer();
  let bus: NatsBus | null = null;
  const release = async () => {
    try {
      images.close();
      await bus?.close();
      await ownRenderer?.close();
    } finally {
      await storage.close();
      forgetFile();
    }
  };
  try {
    const serverId = newServerId();
    const reportPresence = async (state?: NodeState) => {
      if (ownClock) await ownClock.compare(() => storage.currentTimeMs!());
      return hostOptions.isOneOff ? [] : storage.reportPresence!(parleyVersion(), serverId, state);
    };
    // A server that another one excludes leaves no mark.
    if (installation) await reportPresence();
    const history = await openHistory(own, configuration, blobStores.blobs, { ...hostOptions, ports, adoptsFiles });
    const ownSecret = secret();
    // One-off commands need no bus: servers see their events when they read the log.
    if (installation && !hostOptions.isOneOff) bus = await openBus(configuration, installation, hostOptions.logger);
    const isQuiet = isQuietServer(configuration, isCopy, hostOptions);
    return await composeParley({
      ...configuration,
      ...{ isQuiet, serverId, secret: ownSecret },
      onOtherSecret: acceptsNewSecret ? 'rehash' : 'refuse',
      verifyStorage: () => storage.verify?.(),
      ...(examine && !hostOptions.isOneOff && { examineStorage: examine }),
      unitOfWork: storage.uow,
      clock,
      isClockWatched: ports.clock === undefined,
      randomness: ports.randomness ?? new SystemRandomness(),
      passwordHasher: ports.passwordHasher ?? new HashQueue(new ScryptPasswordHasher(), { groupOf: ipGroup }),
      markdownRenderer: ports.renderer ?? ownRenderer!,
      unicodeEmoji,
      mailer: ports.mailer ?? mailerOf(configuration, clock, ownSecret),
      sendsMail: configuration.smtpUrl !== null || ports.mailer !== undefined,
      ...placesOf(configuration),
      ...(installation && { reportPresence, ...clusterParts(storage, serverId, bus) }),
      ...blobStores,
      ...(!hostOptions.isOneOff && { tracer: await openTelemetryTracer(parleyVersion()) }),
      ...(storage.eraseDeleted && { eraseDeleted: (signal) => storage.eraseDeleted!(signal) }),
      ...(storage.gauges && { storageGauges: () => storage.gauges!() }),
      ...{ images, webAssets: webAssetsOf(configuration, blobStores.blobs, hostOptions) },
      ...(configuration.isDemo && { demo: DEMO }),
      ...hostOptions,
      logInProviders,
      directories,
      sharesFiles: history.sharesFiles,
      ...historyParts(history.marks, isQuiet ? 'a copy' : (own?.id ?? ''), release),
    });
  } catch (error) {
    await release();
    throw error;
  }
}

/** Paths on this machine. */
function placesOf({ database, files }: RuntimeConfig) {
  if (database?.kind === 'postgres' && files?.kind === 'folder') return { dataFolder: files.path };
  if (database?.kind !== 'sqlite') return {};
  const path = resolve(database.path);
  return {
    dataFolder: dirname(path),
    erasureLedgerPath: ledgerPathFor(path),
    readLastBackup: () => readLastBackup(path),
  };
}

/** Parts of a server that shares its database. */
const clusterParts = ({ clusterGauges }: Storage, serverId: string, bus: NatsBus | null) => ({
  clusterGauges: () => clusterGauges!(serverId),
  bus: bus ?? noBus,
  hasBus: bus !== null,
});

/** Clock that follows the database, which several servers use; null if only one does. */
const databaseClockOf = ({ database }: RuntimeConfig, { logger }: Pick<HostOptions, 'logger'>) =>
  database?.kind === 'postgres' ? new DatabaseClock(new SystemClock(), new SystemTimers(), logger) : null;

function commitListener(
  metrics: HostOptions['metrics'],
  report: HostOptions['onCommit'],
): ((commit: Commit) => void) | undefined {
  if (!metrics) return report;
  return (commit) => {
    metrics.committed(commit);
    report?.(commit);
  };
}

/** Null for a file that `parley restore` is filling. */
const ownFile = (path: string, isNew: boolean, installation: DatabaseIdentity): OwnDatabase | null =>
  path.endsWith(RESTORING)
    ? null
    : { id: installation.id, path, isNew, history: administerDatabase(path), identify: async () => installation };

interface OpenStorage {
  readonly storage: Storage & { gauges?(): StorageGauges; eraseDeleted?(signal: AbortSignal): Promise<void> };
  readonly secret: () => string;
  /** Null if other servers cannot use the database. */
  readonly installation: Installation | null;
  /** True for a copy for trying things. */
  readonly isCopy: boolean;
  /** Database that Parley opens itself; null for a storage of the host. */
  readonly own: OwnDatabase | null;
  /** Logs problems of the database server for the operator. */
  readonly examine?: () => Promise<void>;
}

/** Rejects a bus or a replica if the database cannot be shared. @throws StartupError */
function requireShareable({ busLocation, database, databaseReplica }: RuntimeConfig): void {
  if (database?.kind === 'postgres') return;
  if (busLocation)
    throw new StartupError('PARLEY_BUS (bus) connects servers of a database on PostgreSQL; leave it out.');
  if (databaseReplica !== null)
    throw new StartupError(
      'PARLEY_DATABASE_REPLICA (databaseReplica) requires a database on PostgreSQL; leave it out.',
    );
}

/** Returns null if no bus is configured. @throws StartupError, MissingLibrary */
async function openBus(
  { busLocation }: Pick<RuntimeConfig, 'busLocation'>,
  installation: Installation,
  logger: Logger,
): Promise<NatsBus | null> {
  if (!busLocation) return null;
  const { openNatsBus } = await import('@parley/bus-nats');
  let wasAway = false;
  try {
    return await openNatsBus({
      ...busLocation,
      installation,
      release: parleyVersion(),
      onState(state, reason) {
        if (state === 'unavailable') {
          warn(logger, { err: reason }, 'the bus is unavailable: events of other servers are read from the database');
        } else if (wasAway) warn(logger, {}, 'the bus is available again');
        wasAway = state === 'unavailable';
      },
    });
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === undefined
      ? error
      : new StartupError(`Cannot use the bus: ${(error as Error).message}.`);
  }
}

/** Opens the storage. `secret` is called after opening, because it creates a missing file. */
async function openStorage(
  configuration: RuntimeConfig,
  ports: HostPorts,
  {
    acceptsNewSecret,
    adoptsFiles = false,
    clock,
    isOneOff,
    logger,
    onCommit,
    onUnknownSchema,
  }: Pick<HostOptions, 'acceptsNewSecret' | 'adoptsFiles' | 'isOneOff' | 'logger' | 'onCommit' | 'onUnknownSchema'> & {
    readonly clock: Clock;
  },
): Promise<OpenStorage> {
  const { database } = configuration;
  if (database === null)
    return {
      storage: ports.storage!,
      secret: () => configuration.secret!,
      installation: null,
      isCopy: false,
      own: null,
    };
  const secret = findSecret({ ...configuration, database });
  const options = {
    clock,
    words: htmlMessages,
    admit: ({ secretFingerprint, pendingSteps = 0 }: AdmittedDatabase) => {
      // A database without a fingerprint was never used: its creation was interrupted.
      if (isOneOff && pendingSteps > 0 && secretFingerprint !== null) throw olderSchema();
      if (!acceptsNewSecret) requireSameSecret({ ...configuration, database }, secret, secretFingerprint);
    },
    report: (problem: string) => logger.error({}, problem),
    ...(onCommit && { onCommit }),
  };
  if (database.kind === 'postgres') {
    requirePlaces(configuration, ports);
    const { examinePostgres, openPostgresStorage, SESSIONS_PER_SERVER } = await import('@parley/postgres');
    const storage = await openPostgresStorage({
      url: database.url,
      ...options,
      ...(isOneOff && { isOneOff }),
      ...nodeFilesOf(configuration, ports),
      onState: stateLogger(logger),
      ...(configuration.databaseReplica !== null &&
        !isOneOff && { replica: replicaOf(configuration.databaseReplica, logger) }),
      onUnknownSchema(reason) {
        logger.error({ reason }, 'another version has changed the schema: this server accepts no more requests');
        onUnknownSchema?.();
      },
    });
    const examine = async () => {
      for (const { level, subject, text } of findingsOn(await examinePostgres(database.url), SESSIONS_PER_SERVER))
        if (LOGGED_SUBJECTS.has(subject) && level !== 'good') warn(logger, { subject }, `database server: ${text}`);
    };
    const { installation } = storage;
    return {
      storage,
      secret: () => secret!,
      installation,
      isCopy: installation.isCopy,
      own: { id: installation.id, path: null, isNew: false, ...storage },
      examine,
    };
  }
  const isNew = isNewDatabase(configuration);
  if (isNew) refuseUnfinishedRestore(database.path);
  if (isNew && !adoptsFiles && !ports.blobs) await refuseUsedFiles(configuration);
  makeFolderOf(database);
  const storage = openSqliteStorage({ path: database.path, ...options });
  return {
    storage,
    secret: () => secret ?? makeSecret({ database }),
    installation: null,
    isCopy: storage.installation.isCopy,
    own: ownFile(database.path, isNew, storage.installation),
  };
}

const stateLogger =
  (logger: Logger): StateListener =>
  (state, reason) => {
    if (state === 'connected') warn(logger, {}, 'the database is available again');
    else if (state === 'replaced') warn(logger, {}, 'the database was replaced by a standby or a copy');
    else
      logger.error(
        { reason: reasonOf(reason) },
        'the database is unavailable: requests get 503 until it is available again',
      );
  };

interface AdmittedDatabase {
  readonly secretFingerprint: string | null;
  /** Absent on PostgreSQL, where only `parley migrate` changes the schema. */
  readonly pendingSteps?: number;
}

/** An older server that still uses the database could not continue after a change of its schema. */
const olderSchema = () =>
  new StartupError(
    'The database has an older schema, which only parley serve and parley migrate change. Upgrade the server first, or use ' +
      'the command of the version that runs.',
  );

/** Read replica; the log reports its loss and its return. */
const replicaOf = (url: string, logger: Logger) => ({
  url,
  onState(problem: string | null) {
    if (problem === null) warn(logger, {}, 'the read replica is available again');
    else warn(logger, { reason: problem }, 'the read replica is unavailable: pages are read from the primary');
  },
});

/** Returns the driver's message without the failed statement. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error ? cause.message : message;
}

/** Findings that change at runtime, except clocks, which are logged elsewhere. */
const LOGGED_SUBJECTS = new Set(['connections', 'transactions']);

function nodeFilesOf({ files }: RuntimeConfig, { blobs }: HostPorts) {
  if (blobs || files?.kind !== 'folder') return {};
  return { files: { folder: files.path, isMarked: existsSync(join(files.path, FILES_MARK)), hasEnded } };
}

/** Requires everything that would otherwise be in files next to the database. @throws StartupError */
function requirePlaces({ secret, files, smtpUrl }: RuntimeConfig, { blobs, mailer }: HostPorts): void {
  const missing = [
    secret === null && 'PARLEY_SECRET (secret)',
    files === null && !blobs && 'PARLEY_FILES (files)',
    smtpUrl === null && !mailer && 'PARLEY_SMTP_URL (smtpUrl or mailer)',
  ].filter((name) => name !== false);
  if (missing.length > 0) throw new StartupError(`A database on PostgreSQL requires ${missing.join(', ')}.`);
}

function blobStoresOf(
  configuration: RuntimeConfig,
  ports: HostPorts,
  logger: Logger,
): Pick<ParleyDependencies, 'blobs' | 'bucket' | 'exportsFolder' | 'partialBlobs'> {
  const blobs =
    ports.blobs ??
    blobStoreOf(configuration, (reason) => {
      const [place, calls] =
        configuration.files?.kind === 's3' ? ['bucket', 'uploads and downloads'] : ['folder for files', 'uploads'];
      if (reason === null) warn(logger, {}, `the ${place} works again`);
      else logger.error({ reason }, `the ${place} fails: ${calls} get 503 until it works again`);
    });
  return {
    blobs,
    partialBlobs: partialBlobStoreOf(configuration, blobs),
    exportsFolder: join(filesFolderOf(configuration), 'exports'),
    ...(blobs instanceof S3BlobStore && { bucket: blobs }),
  };
}

type MailConfiguration = Pick<
  RuntimeConfig,
  'smtpUrl' | 'smtpOAuth' | 'outgoingProxy' | 'mailFrom' | 'url' | 'database'
>;

/** Return address generator for outgoing emails; none if the server receives no email. */
function returnPathOf({ mailGatewayPattern, incomingMail }: RuntimeConfig, secret: string): Partial<MailSender> {
  if (mailGatewayPattern === null || !isReceiving(incomingMail)) return {};
  return {
    fingerprint: mailFingerprint(secret),
    bounceAddressOf: (to) => bounceAddress(mailGatewayPattern, bounceKeyOf(secret, to)),
  };
}

export const isReceiving = ({ token, smtp }: Pick<IncomingMail, 'token' | 'smtp'>): boolean =>
  token !== null || smtp !== null;

const senderOf = ({ mailFrom, url }: MailConfiguration): string => mailFrom ?? `noreply@${new URL(url).hostname}`;

/** Returns the SMTP mailer; null if emails are written to files. */
export const smtpMailerOf = (
  configuration: MailConfiguration,
  returnPath: Partial<MailSender> = {},
): SmtpMailer | null =>
  configuration.smtpUrl === null
    ? null
    : new SmtpMailer({
        url: configuration.smtpUrl,
        oauth: configuration.smtpOAuth,
        proxy: new OutgoingProxy(configuration.outgoingProxy),
        from: senderOf(configuration),
        ...returnPath,
      });

/**
 * Folder for emails without a mail server, and that of earlier releases, which databases in the same folder shared.
 * Only SQLite has them; other databases and storages require a mailer.
 */
export function outboxesOf({ database }: Pick<MailConfiguration, 'database'>): readonly [string, string] {
  const { path } = database as SqliteLocation;
  return [join(dirname(path), `${databaseNameOf(path)}.outbox`), join(dirname(path), 'outbox')];
}

const mailerOf = (configuration: RuntimeConfig, clock: Clock, secret: string): Mailer =>
  smtpMailerOf(configuration, returnPathOf(configuration, secret)) ??
  new FileOutbox(outboxesOf(configuration), senderOf(configuration), clock);

/**
 * Creates a folder with its parents. Node's recursive mode hangs where folders can neither be found nor created, as in
 * /proc.
 */
function makeFolder(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  makeFolder(dirname(path));
  // Private to the user of the process.
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process may have created the folder concurrently.
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
}

export function makeFolderOf({ path }: SqliteLocation): void {
  try {
    makeFolder(dirname(path));
  } catch (error) {
    throw new StartupError(`Cannot create the folder of the database ${path}: ${systemReasonOf(error)}`);
  }
}
