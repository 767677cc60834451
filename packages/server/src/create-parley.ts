import { mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { FolderBlobStore, FolderPartialBlobStore, S3BlobStore } from '@parley/blobs';
import type { BlobStore } from '@parley/domain/files';
import type { Mailer } from '@parley/domain/mail';
import type { Clock } from '@parley/domain/shared';
import { type Logger, type ProxyTrust, type RateLimitRules, silentLogger, type TransportLimits } from '@parley/http';
import { ImageProcess } from '@parley/images';
import { htmlMessages, unicodeEmoji, ZulipMarkdownRenderer } from '@parley/markdown';
import { type Commit, openSqliteStorage } from '@parley/sqlite';
import { HashQueue } from './authentication/hash-queue.js';
import type { HostAuthenticate } from './authentication/host-authenticator.js';
import { ScryptPasswordHasher } from './authentication/scrypt-password-hasher.js';
import {
  type Configuration,
  type DatabaseLocation,
  FILE_LIMITS,
  KEEP_DELETED_DAYS,
  parseDatabase,
  parseFiles,
  parseJwtSecrets,
  parseMailAddress,
  parseMailPattern,
  parseProxies,
  parseSecret,
  parseSmtpUrl,
  parseUrl,
  parseWord,
} from './config.js';
import { FileOutbox } from './mail/file-outbox.js';
import { SmtpMailer } from './mail/smtp-mailer.js';
import { DEFAULT_INVITATION_VALIDITY_MINUTES } from './modules/options.module.js';
import { openTelemetryTracer } from './observation/open-telemetry.js';
import { type ComposedParley, composeParley, type Parley, type ParleyParts } from './parley.js';
import type { PushServiceAccount } from './push/http-push-service.js';
import { findSecret, makeSecret, requireSameSecret } from './secret.js';
import { StartupError } from './startup-error.js';
import { SystemClock } from './system-clock.js';
import { SystemRandomness } from './system-randomness.js';
import { parleyVersion } from './version.js';

export interface ParleyConfig {
  /** `sqlite:PATH`. The database and the folder it is in are made when they are missing. */
  readonly database: string;
  /** The public address up to where the router is mounted: `https://example.com/chat`. */
  readonly url: string;
  /** What API keys are derived from, at least 8 characters; default: a file beside the database, made when missing. */
  readonly secret?: string;
  /**
   * What other services sign JSON web tokens with that let people in (`POST /jwt/fetch_api_key`), of 32 bytes or more each, by the
   * string id of the organization; default: none.
   */
  readonly jwtSecrets?: Readonly<Record<string, string>>;
  /** Whether a database that knows another secret is opened all the same, which gives everybody a new API key; default: false. */
  readonly acceptNewSecret?: boolean;
  /** The application's own log-in, asked before API keys are looked at. A throw answers 500. */
  readonly authenticate?: HostAuthenticate;
  /** The application's own way of sending mail; default: `smtpUrl`. */
  readonly mailer?: Mailer;
  /** A mail server, `smtp://user:password@host:port`; default: letters are put into the folder `outbox` beside the database. */
  readonly smtpUrl?: string;
  /** What letters come from; default: `noreply@` and the host of `url`. */
  readonly mailFrom?: string;
  /** How many minutes invitations are good for that say nothing about it; default: ten days. */
  readonly invitationValidityMinutes?: number;
  /** String id of the organization at the public address itself; default: the first one that was made. */
  readonly defaultRealm?: string;
  /** Default: true. */
  readonly rateLimits?: boolean;
  /** Quotas instead of the default ones: `{ api_by_user: [{ windowSeconds: 60, limit: 500 }] }`. */
  readonly rateLimitRules?: RateLimitRules;
  /** Whether channels may be readable by anybody on the Internet; default: false. */
  readonly webPublicChannels?: boolean;
  /**
   * What members are told to mail to for a channel, such as `chat+%s@example.com`, where your application takes that mail;
   * default: nothing.
   */
  readonly mailGatewayPattern?: string;
  /** Proxies in front that are trusted to name the client's address: how many, or their networks; default: none. */
  readonly trustedProxies?: ProxyTrust;
  /** What requests, answers and connections may cost; default: `TRANSPORT_LIMITS`. */
  readonly limits?: Partial<TransportLimits>;
  /** Whether requests are refused while the event loop lags or memory runs out; default: true. */
  readonly shedsLoad?: boolean;
  /** What carries notifications to phones; default: nothing does. */
  readonly pushService?: PushServiceAccount;
  /**
   * Where uploaded files are kept, `folder:PATH` or `s3:BUCKET/PREFIX?endpoint=URL&region=NAME`, whose keys the environment has;
   * default: the folder `files` beside the database.
   */
  readonly files?: string;
  /** Size of an uploaded file, in MiB; default: 100. */
  readonly maxUploadMib?: number;
  /** Size of all files of an organization together, in MiB; default: no limit. */
  readonly uploadQuotaMib?: number;
  /** For so many days deleted messages can be put back by `parley message restore`; default: 30. */
  readonly keepDeletedDays?: number;
  /** pino's, or anything like it; default: nothing is logged. */
  readonly logger?: Logger;
}

/**
 * A chat engine for an application to mount and to call.
 * @throws StartupError for invalid options, DatabaseRefused when the database cannot be opened; nothing was touched then.
 */
export async function createParley(config: ParleyConfig): Promise<Parley> {
  const read = <T>(
    name: 'database' | 'url' | 'secret' | 'files' | 'smtpUrl' | 'mailFrom' | 'mailGatewayPattern',
    parse: (text: string) => T,
  ): T => {
    try {
      return parse(String(config[name]));
    } catch (error) {
      throw new StartupError(`${name} must be ${(error as Error).message}.`);
    }
  };
  const readIfGiven = (
    name: 'secret' | 'smtpUrl' | 'mailFrom' | 'mailGatewayPattern',
    parse: (text: string) => string,
  ) => (config[name] === undefined ? null : read(name, parse));
  return openParley(
    {
      database: read('database', parseDatabase),
      secret: readIfGiven('secret', parseSecret),
      jwtSecrets: jwtSecretsOf(config.jwtSecrets ?? {}),
      smtpUrl: readIfGiven('smtpUrl', parseSmtpUrl),
      mailFrom: readIfGiven('mailFrom', parseMailAddress),
      url: read('url', parseUrl),
      defaultRealm: config.defaultRealm ?? null,
      invitationValidityMinutes: config.invitationValidityMinutes ?? DEFAULT_INVITATION_VALIDITY_MINUTES,
      hasRateLimits: config.rateLimits ?? true,
      rateLimitRules: config.rateLimitRules ?? {},
      allowsWebPublicChannels: config.webPublicChannels ?? false,
      mailGatewayPattern: readIfGiven('mailGatewayPattern', parseMailPattern),
      trustedProxies: readProxies(config.trustedProxies),
      limits: config.limits ?? {},
      shedsLoad: config.shedsLoad ?? true,
      push: config.pushService ? pushAccountOf(config.pushService) : null,
      files: config.files === undefined ? null : read('files', parseFiles),
      fileLimits: {
        maxFileMib: config.maxUploadMib ?? FILE_LIMITS.maxFileMib,
        quotaMib: config.uploadQuotaMib ?? FILE_LIMITS.quotaMib,
      },
      keepDeletedDays: config.keepDeletedDays ?? KEEP_DELETED_DAYS,
      isDev: false,
      isDemo: false,
    },
    {
      logger: config.logger ?? silentLogger,
      ...(config.authenticate && { authenticate: config.authenticate }),
      ...(config.mailer && { mailer: config.mailer }),
      acceptsNewSecret: config.acceptNewSecret ?? false,
    },
  );
}

function readProxies(trust: ProxyTrust | undefined): ProxyTrust {
  try {
    return parseProxies(typeof trust === 'object' ? trust.join(',') : String(trust ?? 0));
  } catch (error) {
    throw new StartupError(`trustedProxies must be ${(error as Error).message}.`);
  }
}

function jwtSecretsOf(secrets: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  try {
    return parseJwtSecrets(JSON.stringify(secrets));
  } catch (error) {
    throw new StartupError(`jwtSecrets must be ${(error as Error).message}.`);
  }
}

function pushAccountOf({ url, orgId, orgKey }: PushServiceAccount): PushServiceAccount {
  try {
    return { url: parseUrl(String(url)), orgId: parseWord(String(orgId)), orgKey: parseWord(String(orgKey)) };
  } catch (error) {
    throw new StartupError(`What pushService holds must be ${(error as Error).message}.`);
  }
}

type RuntimeConfig = Omit<Configuration, 'host' | 'port' | 'logLevel' | 'url' | 'metrics' | 'drainSeconds'> & {
  readonly url: string;
};

export interface HostOptions extends Pick<ParleyParts, 'logger' | 'authenticate' | 'isOneOff' | 'observers'> {
  readonly onCommit?: (commit: Commit) => void;
  /** Instead of the one that is configured. */
  readonly mailer?: Mailer;
  readonly acceptsNewSecret: boolean;
}

/** On a database file. What is refused leaves no file behind. @throws StartupError, DatabaseRefused */
export async function openParley(
  configuration: RuntimeConfig,
  { acceptsNewSecret, onCommit, ...hostOptions }: HostOptions,
): Promise<ComposedParley> {
  const secret = findSecret(configuration);
  makeFolderOf(configuration.database);
  const clock = new SystemClock();
  const markdownRenderer = new ZulipMarkdownRenderer();
  const storage = openSqliteStorage({
    path: configuration.database.path,
    clock,
    words: htmlMessages,
    admit: ({ secretFingerprint }) => {
      if (!acceptsNewSecret) requireSameSecret(configuration, secret, secretFingerprint);
    },
    report: (problem) => hostOptions.logger.error({}, problem),
    ...(onCommit && { onCommit }),
  });
  const images = new ImageProcess();
  const release = async () => {
    try {
      images.close();
      await markdownRenderer.close();
    } finally {
      await storage.close();
    }
  };
  try {
    return await composeParley({
      ...configuration,
      secret: secret ?? makeSecret(configuration),
      onOtherSecret: acceptsNewSecret ? 'rehash' : 'refuse',
      verifyStorage: () => storage.verify(),
      unitOfWork: storage.uow,
      clock,
      randomness: new SystemRandomness(),
      passwordHasher: new HashQueue(new ScryptPasswordHasher()),
      markdownRenderer,
      unicodeEmoji,
      mailer: mailerOf(configuration, clock),
      sendsMail: configuration.smtpUrl !== null || hostOptions.mailer !== undefined,
      ...blobStoresOf(configuration),
      ...(!hostOptions.isOneOff && { tracer: await openTelemetryTracer(parleyVersion()) }),
      storageGauges: () => storage.gauges(),
      images,
      ...hostOptions,
      release,
    });
  } catch (error) {
    await release();
    throw error;
  }
}

type FilesConfiguration = Pick<Configuration, 'files' | 'database'>;

const filesFolderOf = ({ files, database }: FilesConfiguration): string =>
  files?.kind === 'folder' ? files.path : join(dirname(database.path), 'files');

/** Where the bytes of files are, as the configuration says. */
export const blobStoreOf = (configuration: FilesConfiguration): BlobStore =>
  configuration.files?.kind === 's3'
    ? new S3BlobStore({ ...configuration.files, credentials: null })
    : new FolderBlobStore(filesFolderOf(configuration));

function blobStoresOf(configuration: RuntimeConfig): Pick<ParleyParts, 'blobs' | 'partialBlobs'> {
  const blobs = blobStoreOf(configuration);
  return { blobs, partialBlobs: new FolderPartialBlobStore(join(filesFolderOf(configuration), 'uploads'), blobs) };
}

function mailerOf({ smtpUrl, mailFrom, url, database }: RuntimeConfig, clock: Clock): Mailer {
  const from = mailFrom ?? `noreply@${new URL(url).hostname}`;
  if (smtpUrl !== null) return new SmtpMailer({ url: smtpUrl, from });
  return new FileOutbox(join(dirname(database.path), 'outbox'), from, clock);
}

/** Not Node's own recursion, which tries for ever where folders can neither be found nor made, as in /proc. */
function makeFolder(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  makeFolder(dirname(path));
  // What is kept there is nobody else's business.
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process was quicker.
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
}

function makeFolderOf({ path }: DatabaseLocation): void {
  try {
    makeFolder(dirname(path));
  } catch (error) {
    throw new StartupError(`Cannot make the folder of the database ${path}: ${(error as Error).message}`);
  }
}
