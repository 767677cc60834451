import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { parseArgs } from 'node:util';
import type { S3Location } from '@parley/blobs';
import { MAIL_TOKEN_PLACE } from '@parley/domain/channels';
import type { FileLimits } from '@parley/domain/files';
import { isEmailAddress } from '@parley/domain/users';
import {
  isLoopbackName,
  type ProxyTrust,
  parseNetworks,
  parseRateLimitRules,
  type RateLimitRules,
  TRANSPORT_LIMITS,
  type TransportLimits,
} from '@parley/http';
import type { BigBlueButtonAccount } from './calls/big-blue-button-account.js';
import { hint } from './near-miss.js';
import type { PushServiceAccount } from './push/push-service-account.js';
import type { RealmAddresses } from './realm-resolver.js';
import { isMarkedSecret, parseMarkedSecret } from './secret-format.js';
import { UsageError } from './startup-error.js';

/** What a server needs to know, whatever it was told by. */
export interface Configuration {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  readonly database: DatabaseLocation;
  /** Development endpoints answer, and rate limits are off unless asked for. */
  readonly isDev: boolean;
  /** An organization with people and messages in it is made when the database has none. */
  readonly isDemo: boolean;
  /** The public address, without a slash at the end; null: the one it listens on. */
  readonly url: string | null;
  /** String id of the organization at the public address itself; null: the first one that was made. */
  readonly defaultRealm: string | null;
  /** How the others are told apart. */
  readonly realmAddresses: RealmAddresses;
  /** Whether channels may be readable by anybody on the Internet. */
  readonly allowsWebPublicChannels: boolean;
  readonly limitsPresence: boolean;
  /** Null: no gateway takes mail for channels. */
  readonly mailGatewayPattern: string | null;
  /** Proxies in front that are trusted to name the client's address. */
  readonly trustedProxies: ProxyTrust;
  /** Null: of the file beside the database. */
  readonly secret: string | null;
  /** What other services sign tokens with that let people in, by the string id of the organization. */
  readonly jwtSecrets: ReadonlyMap<string, string>;
  /** Of a mail server; null: letters are put into files. */
  readonly smtpUrl: string | null;
  /** What letters come from; null: `noreply@` the public address's host. */
  readonly mailFrom: string | null;
  /** How long invitations are good for that say nothing about it. */
  readonly invitationValidityMinutes: number;
  readonly hasRateLimits: boolean;
  /** Quotas instead of the default ones. */
  readonly rateLimitRules: RateLimitRules;
  /** What carries notifications to phones; null: nothing does. */
  readonly push: PushServiceAccount | null;
  /** Where calls are held, beside Jitsi; null: nowhere. */
  readonly bigBlueButton: BigBlueButtonAccount | null;
  /** What differs from `TRANSPORT_LIMITS`. */
  readonly limits: Partial<TransportLimits>;
  /** Requests are refused while the event loop lags or memory runs out. */
  readonly shedsLoad: boolean;
  /** Where uploaded files are; null: the folder `files` beside the database. */
  readonly files: FilesLocation | null;
  readonly fileLimits: FileLimits;
  /** For so many days deleted messages can be put back. */
  readonly keepDeletedDays: number;
  readonly logLevel: LogLevel;
  /** Where metrics are listened for; null: nowhere. */
  readonly metrics: ListenAddress | null;
  /** How long it goes on answering after it was told to stop. */
  readonly drainSeconds: number;
}

export interface DatabaseLocation {
  readonly kind: 'sqlite';
  /** Of the file. */
  readonly path: string;
}

export type FilesLocation =
  | { readonly kind: 'folder'; readonly path: string }
  | ({ readonly kind: 's3' } & Omit<S3Location, 'credentials'>);

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

const MIB = 1024 * 1024;

export interface Setting<T> {
  readonly variable: string;
  /** Absent: not to be given on a command line, where everybody on the machine can read it. */
  readonly flag?: string;
  readonly placeholder?: string;
  readonly help: string;
  /** Switches: `--dev` and `--no-dev` take no value. */
  readonly isSwitch?: boolean;
  /** Never shown; `VARIABLE_FILE` may name a file that holds it. */
  readonly isSecret?: boolean;
  /** @throws Error that says what would be right: "a number from 0 to 65535". */
  readonly parse: (text: string) => T;
  readonly default: T;
}

/** Unless the operator says otherwise. */
export const KEEP_DELETED_DAYS = 30;
export const FILE_LIMITS: FileLimits = { maxFileMib: 100, quotaMib: null, userQuotaMib: null };

/** Everything that can be configured: help, checks and docs/configuration.md come from these rows. */
export const SETTINGS = {
  host: setting('PARLEY_HOST', 'host', 'ADDRESS', 'address to listen on', parseHost, '127.0.0.1'),
  port: setting('PARLEY_PORT', 'port', 'N', 'port to listen on; 0: any free one', parsePort, 9991),
  database: setting('PARLEY_DATABASE', 'database', 'sqlite:PATH', 'where everything is kept', parseDatabase, {
    kind: 'sqlite',
    path: 'parley-data/parley.db',
  }),
  url: setting(
    'PARLEY_URL',
    'url',
    'URL',
    'public address; default: the one it listens on',
    parseUrl,
    null as string | null,
  ),
  defaultRealm: setting(
    'PARLEY_DEFAULT_REALM',
    'default-realm',
    'STRING_ID',
    'organization at the public address itself; default: the first one',
    (text) => text,
    null as string | null,
  ),
  realmAddresses: setting(
    'PARLEY_REALM_ADDRESSES',
    'realm-addresses',
    'host|path',
    'where the other organizations are: at a host name below the public address, or at a path below it',
    parseRealmAddresses,
    'host' as RealmAddresses,
  ),
  isDev: switchSetting('PARLEY_DEV', 'dev', 'development endpoints, which let anybody be anybody'),
  isDemo: switchSetting('PARLEY_DEMO', 'demo', 'a demo organization, when there is none yet'),
  isExposed: switchSetting(
    'PARLEY_ALLOW_PUBLIC_DEMO',
    'allow-public-demo',
    'dev mode and demo data on other addresses than loopback',
  ),
  webPublic: setting(
    'PARLEY_WEB_PUBLIC_CHANNELS',
    'web-public-channels',
    'on|off',
    'channels for everybody on the Internet; default: off, but on in dev mode',
    parseSwitch,
    null as boolean | null,
  ),
  limitPresence: switchSetting(
    'PARLEY_LIMIT_PRESENCE',
    'limit-presence',
    'guests who may not know everybody see of those alone whom they know when they are there',
  ),
  mailGatewayPattern: setting(
    'PARLEY_MAIL_GATEWAY_PATTERN',
    'mail-gateway-pattern',
    'PATTERN',
    'what members are told to mail to for a channel, such as chat+%s@example.com; default: nothing',
    parseMailPattern,
    null as string | null,
  ),
  trustedProxies: setting(
    'PARLEY_TRUST_PROXY',
    'trust-proxy',
    'N|NETWORKS',
    'proxies in front that name the client (X-Forwarded-For): how many, or their networks, as in 10.0.0.0/8,loopback',
    parseProxies,
    0 as ProxyTrust,
  ),
  rateLimits: setting(
    'PARLEY_RATE_LIMITS',
    'rate-limits',
    'on|off',
    'default: on, but off in dev mode',
    parseSwitch,
    null as boolean | null,
  ),
  rateLimitRules: setting(
    'PARLEY_RATE_LIMIT_RULES',
    'rate-limit-rules',
    'RULES',
    'quotas instead of the default ones, as in "api_by_user=60:500,3600:9000 api_by_ip=60:50" (rule=seconds:calls)',
    parseRateLimitRules,
    {} as RateLimitRules,
  ),
  connections: setting(
    'PARLEY_MAX_CONNECTIONS',
    'max-connections',
    'N',
    'connections at the same time; one address gets a quarter of them',
    parseCount,
    TRANSPORT_LIMITS.connections,
  ),
  bytesInFlight: setting(
    'PARLEY_BYTES_IN_FLIGHT',
    'bytes-in-flight',
    'MIB',
    'memory for answers that are not read yet; bodies get half as much, files twice as much',
    parseCount,
    TRANSPORT_LIMITS.answersBytes / MIB,
  ),
  shedsLoad: setting(
    'PARLEY_SHED_LOAD',
    'shed-load',
    'on|off',
    'refuses requests while the server lags or runs out of memory',
    parseSwitch,
    true,
  ),
  keepDeletedDays: setting(
    'PARLEY_KEEP_DELETED',
    'keep-deleted',
    'DAYS',
    'how long deleted messages can be put back',
    parseDays,
    KEEP_DELETED_DAYS,
  ),
  files: setting(
    'PARLEY_FILES',
    'files',
    'folder:PATH|s3:…',
    'where uploaded files are kept, a folder or a bucket (s3:BUCKET/PREFIX?endpoint=URL&region=NAME, with the keys in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY); default: the folder files beside the database',
    parseFiles,
    null as FilesLocation | null,
  ),
  maxUpload: setting(
    'PARLEY_MAX_UPLOAD',
    'max-upload',
    'MIB',
    'size of an uploaded file',
    parseCount,
    FILE_LIMITS.maxFileMib,
  ),
  uploadQuota: setting(
    'PARLEY_UPLOAD_QUOTA',
    'upload-quota',
    'MIB',
    'all files of an organization together; default: no limit',
    parseCount,
    null as number | null,
  ),
  uploadQuotaPerUser: setting(
    'PARLEY_UPLOAD_QUOTA_PER_USER',
    'upload-quota-per-user',
    'MIB',
    'all files of one user together; default: no limit',
    parseCount,
    null as number | null,
  ),
  logLevel: setting('PARLEY_LOG_LEVEL', 'log-level', LOG_LEVELS.join('|'), 'what is logged', parseLogLevel, 'info'),
  metrics: setting(
    'PARLEY_METRICS',
    'metrics',
    'ADDRESS:PORT',
    'where Prometheus finds metrics, and what is wrong when the server is not ready, as in 127.0.0.1:9464; default: nowhere',
    parseListenAddress,
    null as ListenAddress | null,
  ),
  drainSeconds: setting(
    'PARLEY_DRAIN_SECONDS',
    'drain-seconds',
    'N',
    'how long it goes on after it was told to stop, while /readyz says so to the proxies in front',
    parseSeconds,
    0,
  ),
  pushService: setting(
    'PARLEY_PUSH_SERVICE',
    'push-service',
    'URL',
    'what carries notifications to phones',
    parseUrl,
    null as string | null,
  ),
  pushOrgId: setting(
    'PARLEY_PUSH_ORG_ID',
    'push-org-id',
    'ID',
    'who this server is to the push service',
    parseWord,
    null as string | null,
  ),
  pushOrgKey: {
    variable: 'PARLEY_PUSH_ORG_KEY',
    help: 'proves it to the push service',
    isSecret: true,
    parse: parseWord,
    default: null as string | null,
  },
  bigBlueButtonUrl: setting(
    'PARLEY_BIGBLUEBUTTON_URL',
    'bigbluebutton-url',
    'URL',
    'where calls are held that are not at Jitsi, such as https://bbb.example.com/bigbluebutton',
    parseUrl,
    null as string | null,
  ),
  bigBlueButtonSecret: {
    variable: 'PARLEY_BIGBLUEBUTTON_SECRET',
    help: 'the shared secret of the BigBlueButton server',
    isSecret: true,
    parse: parseWord,
    default: null as string | null,
  },
  secret: {
    variable: 'PARLEY_SECRET',
    help: 'what API keys are derived from; default: a file beside the database',
    isSecret: true,
    parse: parseSecret,
    default: null as string | null,
  },
  jwtSecrets: {
    variable: 'PARLEY_JWT_SECRETS',
    isSecret: true,
    help: 'what other services sign tokens with that let people in: {"STRING_ID": "SECRET"}; default: none',
    parse: parseJwtSecrets,
    default: null as ReadonlyMap<string, string> | null,
  },
  smtpUrl: {
    variable: 'PARLEY_SMTP_URL',
    help: 'mail server, smtp://USER:PASSWORD@HOST:PORT or smtps://…; default: letters are put into files beside the database',
    isSecret: true,
    parse: parseSmtpUrl,
    default: null as string | null,
  },
  invitationValidity: setting(
    'PARLEY_INVITATION_LINK_VALIDITY_MINUTES',
    'invitation-validity',
    'MINUTES',
    'how long invitations are good for that say nothing about it',
    parseCount,
    14_400,
  ),
  mailFrom: setting(
    'PARLEY_MAIL_FROM',
    'mail-from',
    'ADDRESS',
    'what letters come from; default: noreply@ the host of the public address',
    parseMailAddress,
    null as string | null,
  ),
} satisfies Record<string, Setting<unknown>>;

export type SettingName = keyof typeof SETTINGS;

type Environment = Readonly<Record<string, string | undefined>>;

/** A command line and the environment, understood. */
export interface Invocation {
  readonly configuration: Configuration;
  /** What was no flag. */
  readonly positionals: readonly string[];
  /** Flags of the command itself, by name; a switch that is there says `on` or `off`. */
  readonly flags: ReadonlyMap<string, string>;
  /** Where values were found that are not the default ones. */
  readonly sources: ReadonlyMap<SettingName, ValueSource>;
  /** What was given, as text: secrets too. */
  readonly values: ReadonlyMap<SettingName, string>;
}

/** Flags a command has beside the settings: name and whether a value follows. */
export type CommandFlags = Readonly<Record<string, 'value' | 'switch'>>;

/** Where a value was found. */
export type ValueSource = 'flag' | 'variable' | 'file';

/** Values as texts, before anybody looks at what they say. */
class GivenValues {
  readonly sources = new Map<SettingName, ValueSource>();
  readonly values = new Map<SettingName, string>();

  constructor(
    private readonly flags: ReadonlyMap<string, string>,
    private readonly environment: Environment,
  ) {}

  /** Null: nothing was given. `place`: what to call it in a refusal. @throws Error when a file that is named cannot be read */
  find(name: SettingName): { readonly text: string; readonly place: string } | null {
    const { variable, flag, isSecret }: Setting<unknown> = SETTINGS[name];
    const byFlag = flag === undefined ? undefined : this.flags.get(flag);
    const byVariable = this.environment[variable] || undefined;
    const file = isSecret ? this.environment[`${variable}_FILE`] || undefined : undefined;
    if (byVariable !== undefined && file !== undefined) {
      throw new UsageError(`Both ${variable} and ${variable}_FILE are set; which one counts?`);
    }
    if (byFlag !== undefined) return this.found(name, 'flag', byFlag, `--${flag}`);
    if (byVariable !== undefined) return this.found(name, 'variable', byVariable, variable);
    return file === undefined ? null : this.found(name, 'file', readFile(`${variable}_FILE`, file), `${variable}_FILE`);
  }

  private found(name: SettingName, source: ValueSource, text: string, place: string) {
    this.sources.set(name, source);
    this.values.set(name, text);
    return { text, place };
  }
}

function readFile(variable: string, path: string): string {
  try {
    return readFileSync(path, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    throw new UsageError(`${variable} names a file that cannot be read: ${(error as Error).message}.`);
  }
}

/** Everything that is wrong with a configuration, at least one thing. */
export class InvalidConfiguration extends UsageError {
  constructor(readonly problems: readonly string[]) {
    const more = problems.length - 1;
    super(more === 0 ? problems[0]! : `${problems[0]} (${more} more; see parley config check)`);
  }
}

/**
 * Flags win over the environment. @throws UsageError for flags that are none, InvalidConfiguration naming each flag or variable
 * that is invalid.
 */
export function readConfiguration(
  args: readonly string[],
  environment: Environment,
  commandFlags: CommandFlags = {},
): Invocation {
  const { flags, positionals } = parseFlags(args, commandFlags);
  const given = new GivenValues(flags, environment);
  const problems: string[] = [...unknownVariables(environment)];
  const attempt = (work: () => void): void => {
    try {
      work();
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      problems.push(error.message);
    }
  };
  const read = <N extends SettingName>(name: N): (typeof SETTINGS)[N]['default'] => {
    const { parse, isSecret, default: fallback }: Setting<unknown> = SETTINGS[name];
    let value: unknown = fallback;
    attempt(() => {
      const found = given.find(name);
      if (!found) return;
      try {
        value = parse(found.text);
      } catch (error) {
        // What a secret is, or a password, does not belong on a screen.
        const said = isSecret ? '' : `, not ${JSON.stringify(found.text)}`;
        throw new UsageError(`${found.place} must be ${(error as Error).message}${said}.`);
      }
    });
    return value as (typeof SETTINGS)[N]['default'];
  };

  const isDev = read('isDev');
  const [pushService, pushOrgId, pushOrgKey] = [read('pushService'), read('pushOrgId'), read('pushOrgKey')];
  let push: PushServiceAccount | null = null;
  attempt(() => {
    push = pushAccountOf(pushService, pushOrgId, pushOrgKey);
  });
  const [bigBlueButtonUrl, bigBlueButtonSecret] = [read('bigBlueButtonUrl'), read('bigBlueButtonSecret')];
  let bigBlueButton: BigBlueButtonAccount | null = null;
  attempt(() => {
    bigBlueButton = bigBlueButtonOf(bigBlueButtonUrl, bigBlueButtonSecret);
  });
  const configuration: Configuration = {
    host: read('host'),
    port: read('port'),
    database: read('database') as DatabaseLocation,
    isDev,
    isDemo: read('isDemo'),
    url: read('url'),
    defaultRealm: read('defaultRealm'),
    realmAddresses: read('realmAddresses'),
    allowsWebPublicChannels: read('webPublic') ?? isDev,
    limitsPresence: read('limitPresence'),
    mailGatewayPattern: read('mailGatewayPattern'),
    trustedProxies: read('trustedProxies'),
    secret: read('secret'),
    push,
    bigBlueButton,
    jwtSecrets: read('jwtSecrets') ?? new Map(),
    smtpUrl: read('smtpUrl'),
    mailFrom: read('mailFrom'),
    invitationValidityMinutes: read('invitationValidity'),
    hasRateLimits: read('rateLimits') ?? !isDev,
    rateLimitRules: read('rateLimitRules'),
    limits: limitsOf(read('connections'), read('bytesInFlight') * MIB),
    shedsLoad: read('shedsLoad'),
    files: read('files') as FilesLocation | null,
    fileLimits: {
      maxFileMib: read('maxUpload'),
      quotaMib: read('uploadQuota'),
      userQuotaMib: read('uploadQuotaPerUser'),
    },
    keepDeletedDays: read('keepDeletedDays'),
    logLevel: read('logLevel') as LogLevel,
    metrics: read('metrics'),
    drainSeconds: read('drainSeconds'),
  };
  const isExposed = read('isExposed');
  if (!isExposed && problems.length === 0) attempt(() => refuseExposure(configuration));
  if (problems.length > 0) throw new InvalidConfiguration(problems);
  return { configuration, positionals, flags, sources: given.sources, values: given.values };
}

const VARIABLES: ReadonlySet<string> = new Set(
  Object.values(SETTINGS as Record<string, Setting<unknown>>).flatMap(({ variable, isSecret }) =>
    isSecret ? [variable, `${variable}_FILE`] : [variable],
  ),
);

/** A variable with a slip in its name would have no effect, and nobody would notice. */
const unknownVariables = (environment: Environment): readonly string[] =>
  Object.keys(environment)
    .filter((name) => name.startsWith('PARLEY_') && environment[name] !== undefined && !VARIABLES.has(name))
    .map((name) => `There is no setting ${name}${hint(name, VARIABLES) || '; see parley --help.'}`);

/** All of it or none. */
function pushAccountOf(url: string | null, orgId: string | null, orgKey: string | null): PushServiceAccount | null {
  if (url === null && orgId === null && orgKey === null) return null;
  if (url !== null && orgId !== null && orgKey !== null) return { url, orgId, orgKey };
  throw new UsageError('A push service takes all of PARLEY_PUSH_SERVICE, PARLEY_PUSH_ORG_ID and PARLEY_PUSH_ORG_KEY.');
}

/** Both or neither. */
function bigBlueButtonOf(url: string | null, secret: string | null): BigBlueButtonAccount | null {
  if (url === null && secret === null) return null;
  if (url !== null && secret !== null) return { url, secret };
  throw new UsageError('BigBlueButton takes both PARLEY_BIGBLUEBUTTON_URL and PARLEY_BIGBLUEBUTTON_SECRET.');
}

function limitsOf(connections: number, answersBytes: number): Partial<TransportLimits> {
  const { answersBytes: usual, bodiesBytes, anonymousBodiesBytes, filesBytes } = TRANSPORT_LIMITS;
  const scale = answersBytes / usual;
  return {
    connections,
    connectionsPerAddress: Math.ceil(connections / 4),
    answersBytes,
    bodiesBytes: bodiesBytes * scale,
    anonymousBodiesBytes: anonymousBodiesBytes * scale,
    filesBytes: filesBytes * scale,
  };
}

/** Dev mode lets anybody be anybody, and the demo users' passwords are known. */
function refuseExposure({ host, url, trustedProxies, isDev, isDemo }: Configuration): void {
  if (!isDev && !isDemo) return;
  const what = isDev && isDemo ? 'Dev mode and demo data are' : isDev ? 'Dev mode is' : 'Demo data is';
  const refuse = (where: string, instead: string): never => {
    throw new UsageError(
      `${what} refused ${where}, where others could reach it: turn it off, ${instead}, or add --allow-public-demo.`,
    );
  };
  if (!isLoopbackName(host)) refuse(`on ${host}`, 'listen on 127.0.0.1');
  if (url !== null && !isLoopbackName(new URL(url).hostname)) refuse(`at ${url}`, 'leave --url out');
  if (trustedProxies !== 0) refuse('behind a proxy', 'leave --trust-proxy out');
}

/** By flag, as text; a switch that is there says `on` or `off`. @throws UsageError */
function parseFlags(
  args: readonly string[],
  commandFlags: CommandFlags,
): {
  flags: ReadonlyMap<string, string>;
  positionals: readonly string[];
} {
  const switches = new Map<string, boolean>(
    Object.entries(commandFlags).map(([flag, kind]) => [flag, kind === 'switch']),
  );
  for (const { flag, isSwitch = false } of Object.values(SETTINGS as Record<string, Setting<unknown>>)) {
    if (flag !== undefined) switches.set(flag, isSwitch);
  }
  const options = Object.fromEntries(
    [...switches].map(([flag, isSwitch]) => [flag, { type: isSwitch ? ('boolean' as const) : ('string' as const) }]),
  );
  const { tokens, positionals } = parseArgs({
    args: [...args],
    options,
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  const flags = new Map<string, string>();
  for (const token of tokens) {
    if (token.kind !== 'option') continue;
    const negated = /^no-(.+)$/.exec(token.name)?.[1];
    const name = negated !== undefined && switches.get(negated) ? negated : token.name;
    const isSwitch = switches.get(name);
    if (isSwitch === undefined) {
      const known = [...switches.keys()].map((flag) => `--${flag}`);
      throw new UsageError(
        `There is no option ${token.rawName}${hint(token.rawName, known) || '; see parley --help.'}`,
      );
    }
    if (isSwitch && token.value !== undefined) throw new UsageError(`--${name} takes no value.`);
    if (!isSwitch && token.value === undefined) throw new UsageError(`--${name} needs a value.`);
    flags.set(name, isSwitch ? (negated === undefined || name !== negated ? 'on' : 'off') : token.value!);
  }
  return { flags, positionals };
}

function setting<T>(
  variable: string,
  flag: string,
  placeholder: string,
  help: string,
  parse: (text: string) => T,
  initial: T,
): Setting<T> {
  return { variable, flag, placeholder, help, parse, default: initial };
}

function switchSetting(variable: string, flag: string, help: string): Setting<boolean> {
  return { variable, flag, help, isSwitch: true, parse: parseSwitch, default: false };
}

function parseSwitch(text: string): boolean {
  const word = text.toLowerCase();
  if (['on', 'true', '1', 'yes'].includes(word)) return true;
  if (['off', 'false', '0', 'no'].includes(word)) return false;
  throw new Error('on or off');
}

function parseHost(text: string): string {
  const host = text.replace(/^\[(.*)\]$/, '$1');
  if (isIP(host) === 0 && !/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(host)) {
    throw new Error('an address to listen on, such as 127.0.0.1');
  }
  return host;
}

function parsePort(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) throw new Error('a number from 0 to 65535');
  return Number(text);
}

export function parseDatabase(text: string): DatabaseLocation {
  // What begins with a colon would be a name of SQLite's own, such as `:memory:`.
  const path = /^sqlite:([^:].*)$/.exec(text)?.[1];
  if (path === undefined) throw new Error('of the form sqlite:PATH');
  return { kind: 'sqlite', path };
}

export function parseFiles(text: string): FilesLocation {
  const [, kind, rest] = /^(folder|s3):(.+)$/.exec(text) ?? [];
  if (kind === 'folder') return { kind, path: rest! };
  const bucket = kind === 's3' ? parseBucket(rest!) : null;
  if (!bucket) throw new Error('of the form folder:PATH, or s3:BUCKET/PREFIX?endpoint=URL&region=NAME');
  return { kind: 's3', ...bucket };
}

/** Null: it is none. */
function parseBucket(text: string): Omit<S3Location, 'credentials'> | null {
  const [, bucket, path = '', query = ''] =
    /^([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/([\w./-]*))?(?:\?(.*))?$/.exec(text) ?? [];
  if (bucket === undefined) return null;
  const options = new URLSearchParams(query);
  const { endpoint = null, region = 'us-east-1', ...others } = Object.fromEntries(options) as Record<string, string>;
  if (Object.keys(others).length > 0) return null;
  const prefix = path === '' || path.endsWith('/') ? path : `${path}/`;
  return { bucket, prefix, endpoint: endpoint === null ? null : parseUrl(endpoint), region };
}

export function parseUrl(text: string): string {
  const expected = 'an address such as https://chat.example.com';
  if (!URL.canParse(text)) throw new Error(expected);
  const { protocol, origin, pathname, search, hash, username, password } = new URL(text);
  if (!['http:', 'https:'].includes(protocol) || search || hash || username || password) throw new Error(expected);
  return origin + pathname.replace(/\/+$/, '');
}

export function parseRealmAddresses(text: string): RealmAddresses {
  if (text === 'host' || text === 'path') return text;
  throw new Error('host or path');
}

/** Goes into an HTTP header as it is. */
export function parseWord(text: string): string {
  if (!/^[\x21-\x39\x3b-\x7e]{1,200}$/.test(text))
    throw new Error('letters, digits and signs, without blanks and colons');
  return text;
}

function parseListenAddress(text: string): ListenAddress {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text) ?? [];
  try {
    return { host: parseHost(bracketed ?? plain ?? ''), port: parsePort(port ?? '') };
  } catch {
    throw new Error('an address and a port, such as 127.0.0.1:9464');
  }
}

function parseSeconds(text: string): number {
  if (!/^\d{1,3}$/.test(text)) throw new Error('a number of seconds from 0 to 999');
  return Number(text);
}

function parseCount(text: string): number {
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new Error('a number from 1 to 9999999');
  return Number(text);
}

function parseDays(text: string): number {
  if (!/^\d{1,4}$/.test(text)) throw new Error('a number of days from 0 to 9999');
  return Number(text);
}

export function parseProxies(text: string): ProxyTrust {
  if (/^\d{1,2}$/.test(text)) return Number(text);
  const networks = parseNetworks(text);
  if (networks) return networks;
  try {
    return parseSwitch(text) ? 1 : 0;
  } catch {
    throw new Error('the number of proxies in front, their networks (10.0.0.0/8,loopback), or on (one) or off (none)');
  }
}

/** Shorter ones could be found by trying. */
const MIN_SECRET_LENGTH = 8;

export function parseSecret(text: string): string {
  if (isMarkedSecret(text)) {
    const secret = parseMarkedSecret(text);
    if (secret === null) throw new Error('undamaged: its checksum is another one');
    return secret;
  }
  if (text.length < MIN_SECRET_LENGTH) throw new Error(`at least ${MIN_SECRET_LENGTH} characters long`);
  return text;
}

const MIN_JWT_SECRET_BYTES = 32;

/** As short as the shortest algorithm's hash, at least (RFC 7518, section 3.2). */
export function parseJwtSecrets(text: string): ReadonlyMap<string, string> {
  const expected = `JSON such as {"STRING_ID": "SECRET"}, of secrets of ${MIN_JWT_SECRET_BYTES} bytes or more`;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error(expected);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error(expected);
  const entries = Object.entries(value);
  if (entries.some(([, secret]) => typeof secret !== 'string' || Buffer.byteLength(secret) < MIN_JWT_SECRET_BYTES)) {
    throw new Error(expected);
  }
  return new Map(entries);
}

export function parseSmtpUrl(text: string): string {
  const isUrl = URL.canParse(text) && ['smtp:', 'smtps:'].includes(new URL(text).protocol) && new URL(text).hostname;
  if (!isUrl) throw new Error('a mail server such as smtp://user:password@mail.example.com:587');
  return text;
}

export function parseMailAddress(text: string): string {
  if (!isEmailAddress(text)) throw new Error('an address such as chat@example.com');
  return text;
}

export function parseMailPattern(text: string): string {
  const parts = text.split(MAIL_TOKEN_PLACE);
  if (parts.length !== 2 || !isEmailAddress(parts.join('x'))) {
    throw new Error(`an address with one ${MAIL_TOKEN_PLACE} in it, such as chat+%s@example.com`);
  }
  return text;
}

function parseLogLevel(text: string): LogLevel {
  const level = LOG_LEVELS.find((it) => it === text);
  if (!level) throw new Error(LOG_LEVELS.join(' or '));
  return level;
}
