import { isIP } from 'node:net';
import { parseArgs } from 'node:util';
import { MAIL_TOKEN_PLACE } from '@parley/domain/channels';
import type { FileLimits } from '@parley/domain/files';
import { isEmailAddress } from '@parley/domain/users';
import { isLoopbackName, TRANSPORT_LIMITS, type TransportLimits } from '@parley/http';
import type { PushServiceAccount } from './push/push-service-account.js';

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
  /** Whether channels may be readable by anybody on the Internet. */
  readonly allowsWebPublicChannels: boolean;
  /** Null: no gateway takes mail for channels. */
  readonly mailGatewayPattern: string | null;
  /** How many proxies in front are trusted to name the client's address; 0: none. */
  readonly trustedProxies: number;
  /** Null: of the file beside the database. */
  readonly secret: string | null;
  /** Of a mail server; null: letters are put into files. */
  readonly smtpUrl: string | null;
  /** What letters come from; null: `noreply@` the public address's host. */
  readonly mailFrom: string | null;
  /** How long invitations are good for that say nothing about it. */
  readonly invitationValidityMinutes: number;
  readonly hasRateLimits: boolean;
  /** What carries notifications to phones; null: nothing does. */
  readonly push: PushServiceAccount | null;
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
}

export interface DatabaseLocation {
  readonly kind: 'sqlite';
  /** Of the file. */
  readonly path: string;
}

export interface FilesLocation {
  readonly kind: 'folder';
  readonly path: string;
}

export const LOG_LEVELS = ['info', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Something the operator got wrong. `message` is one line that says what and how to mend it; no stack is wanted. */
export class StartupError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'StartupError';
  }
}

const MIB = 1024 * 1024;

interface Setting<T> {
  readonly variable: string;
  /** Absent: not to be given on a command line, where everybody on the machine can read it. */
  readonly flag?: string;
  readonly placeholder?: string;
  readonly help: string;
  /** Switches: `--dev` and `--no-dev` take no value. */
  readonly isSwitch?: boolean;
  /** @throws Error that says what would be right: "a number from 0 to 65535". */
  readonly parse: (text: string) => T;
  readonly default: T;
}

/** Unless the operator says otherwise. */
export const KEEP_DELETED_DAYS = 30;
export const FILE_LIMITS: FileLimits = { maxFileMib: 100, quotaMib: null };

const SETTINGS = {
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
    'N',
    'proxies in front that name the client (X-Forwarded-For)',
    parseProxies,
    0,
  ),
  rateLimits: setting(
    'PARLEY_RATE_LIMITS',
    'rate-limits',
    'on|off',
    'default: on, but off in dev mode',
    parseSwitch,
    null as boolean | null,
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
    'folder:PATH',
    'where uploaded files are kept; default: the folder files beside the database',
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
  logLevel: setting('PARLEY_LOG_LEVEL', 'log-level', LOG_LEVELS.join('|'), 'what is logged', parseLogLevel, 'info'),
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
    parse: parseWord,
    default: null as string | null,
  },
  secret: {
    variable: 'PARLEY_SECRET',
    help: 'what API keys are derived from; default: a file beside the database',
    parse: parseSecret,
    default: null as string | null,
  },
  smtpUrl: {
    variable: 'PARLEY_SMTP_URL',
    help: 'mail server, smtp://USER:PASSWORD@HOST:PORT or smtps://…; default: letters are put into files beside the database',
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

type SettingName = keyof typeof SETTINGS;

const SECRETS: ReadonlySet<SettingName> = new Set(['secret', 'smtpUrl', 'pushOrgKey']);
type Environment = Readonly<Record<string, string | undefined>>;

/** A command line and the environment, understood. */
export interface Invocation {
  readonly configuration: Configuration;
  /** What was no flag. */
  readonly positionals: readonly string[];
  /** Flags of the command itself, by name; a switch that is there says `on` or `off`. */
  readonly flags: ReadonlyMap<string, string>;
}

/** Flags a command has beside the settings: name and whether a value follows. */
export type CommandFlags = Readonly<Record<string, 'value' | 'switch'>>;

/** Flags win over the environment. @throws StartupError naming the flag or variable that is invalid. */
export function readConfiguration(
  args: readonly string[],
  environment: Environment,
  commandFlags: CommandFlags = {},
): Invocation {
  const { flags, positionals } = parseFlags(args, commandFlags);
  const read = <N extends SettingName>(name: N): (typeof SETTINGS)[N]['default'] => {
    const { variable, flag, parse, default: fallback }: Setting<unknown> = SETTINGS[name];
    const given = flag === undefined ? undefined : flags.get(flag);
    const text = given ?? environment[variable];
    if (text === undefined || (given === undefined && text === '')) return fallback as (typeof SETTINGS)[N]['default'];
    try {
      return parse(text) as (typeof SETTINGS)[N]['default'];
    } catch (error) {
      const source = given === undefined ? variable : `--${flag}`;
      // What a secret is, or a password, does not belong on a screen.
      const said = SECRETS.has(name) ? '' : `, not ${JSON.stringify(text)}`;
      throw new StartupError(`${source} must be ${(error as Error).message}${said}.`);
    }
  };

  const isDev = read('isDev');
  const configuration: Configuration = {
    host: read('host'),
    port: read('port'),
    database: read('database') as DatabaseLocation,
    isDev,
    isDemo: read('isDemo'),
    url: read('url'),
    defaultRealm: read('defaultRealm'),
    allowsWebPublicChannels: read('webPublic') ?? isDev,
    mailGatewayPattern: read('mailGatewayPattern'),
    trustedProxies: read('trustedProxies'),
    secret: read('secret'),
    push: pushAccountOf(read('pushService'), read('pushOrgId'), read('pushOrgKey')),
    smtpUrl: read('smtpUrl'),
    mailFrom: read('mailFrom'),
    invitationValidityMinutes: read('invitationValidity'),
    hasRateLimits: read('rateLimits') ?? !isDev,
    limits: limitsOf(read('connections'), read('bytesInFlight') * MIB),
    shedsLoad: read('shedsLoad'),
    files: read('files') as FilesLocation | null,
    fileLimits: { maxFileMib: read('maxUpload'), quotaMib: read('uploadQuota') },
    keepDeletedDays: read('keepDeletedDays'),
    logLevel: read('logLevel') as LogLevel,
  };
  if (!read('isExposed')) refuseExposure(configuration);
  return { configuration, positionals, flags };
}

/** All of it or none. */
function pushAccountOf(url: string | null, orgId: string | null, orgKey: string | null): PushServiceAccount | null {
  if (url === null && orgId === null && orgKey === null) return null;
  if (url !== null && orgId !== null && orgKey !== null) return { url, orgId, orgKey };
  throw new StartupError(
    'A push service takes all of PARLEY_PUSH_SERVICE, PARLEY_PUSH_ORG_ID and PARLEY_PUSH_ORG_KEY.',
  );
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
    throw new StartupError(
      `${what} refused ${where}, where others could reach it: turn it off, ${instead}, or add --allow-public-demo.`,
    );
  };
  if (!isLoopbackName(host)) refuse(`on ${host}`, 'listen on 127.0.0.1');
  if (url !== null && !isLoopbackName(new URL(url).hostname)) refuse(`at ${url}`, 'leave --url out');
  if (trustedProxies > 0) refuse('behind a proxy', 'leave --trust-proxy out');
}

/** What the flags mean, one line each. */
export function describeSettings(): string {
  const rows = Object.values(SETTINGS as Record<string, Setting<unknown>>).map(
    ({ variable, flag, placeholder, isSwitch, help, default: fallback }) => ({
      usage: flag === undefined ? '' : isSwitch ? `--[no-]${flag}` : `--${flag} ${placeholder}`,
      variable,
      help: fallback === null || isSwitch ? help : `${help}; default: ${describeDefault(fallback)}`,
    }),
  );
  const width = (column: 'usage' | 'variable') => Math.max(...rows.map((row) => row[column].length)) + 2;
  return rows
    .map((row) => `  ${row.usage.padEnd(width('usage'))}${row.variable.padEnd(width('variable'))}${row.help}`)
    .join('\n');
}

function describeDefault(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  return typeof value === 'object' ? `sqlite:${(value as DatabaseLocation).path}` : String(value);
}

/** By flag, as text; a switch that is there says `on` or `off`. */
function parseFlags(
  args: readonly string[],
  commandFlags: CommandFlags,
): {
  flags: ReadonlyMap<string, string>;
  positionals: readonly string[];
} {
  const options: Record<string, { type: 'string' | 'boolean' }> = {};
  for (const { flag, isSwitch } of Object.values(SETTINGS as Record<string, Setting<unknown>>)) {
    if (flag !== undefined) options[flag] = { type: isSwitch ? 'boolean' : 'string' };
  }
  for (const [flag, kind] of Object.entries(commandFlags)) {
    options[flag] = { type: kind === 'switch' ? 'boolean' : 'string' };
  }
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options,
      allowPositionals: true,
      allowNegative: true,
    });
    const flags = new Map<string, string>();
    for (const [flag, value] of Object.entries(values)) {
      flags.set(flag, typeof value === 'string' ? value : value ? 'on' : 'off');
    }
    return { flags, positionals };
  } catch (error) {
    throw new StartupError((error as Error).message.split('. To specify')[0]!);
  }
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
  const path = /^folder:(.+)$/.exec(text)?.[1];
  if (path === undefined) throw new Error('of the form folder:PATH');
  return { kind: 'folder', path };
}

export function parseUrl(text: string): string {
  const expected = 'an address such as https://chat.example.com';
  if (!URL.canParse(text)) throw new Error(expected);
  const { protocol, origin, pathname, search, hash, username, password } = new URL(text);
  if (!['http:', 'https:'].includes(protocol) || search || hash || username || password) throw new Error(expected);
  return origin + pathname.replace(/\/+$/, '');
}

/** Goes into an HTTP header as it is. */
export function parseWord(text: string): string {
  if (!/^[\x21-\x39\x3b-\x7e]{1,200}$/.test(text))
    throw new Error('letters, digits and signs, without blanks and colons');
  return text;
}

function parseCount(text: string): number {
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new Error('a number from 1 to 9999999');
  return Number(text);
}

function parseDays(text: string): number {
  if (!/^\d{1,4}$/.test(text)) throw new Error('a number of days from 0 to 9999');
  return Number(text);
}

function parseProxies(text: string): number {
  if (/^\d{1,2}$/.test(text)) return Number(text);
  try {
    return parseSwitch(text) ? 1 : 0;
  } catch {
    throw new Error('the number of proxies in front, or on (one) or off (none)');
  }
}

/** Shorter ones could be found by trying. */
const MIN_SECRET_LENGTH = 8;

export function parseSecret(text: string): string {
  if (text.length < MIN_SECRET_LENGTH) throw new Error(`at least ${MIN_SECRET_LENGTH} characters long`);
  return text;
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
