import type { FileLimits } from '@parley/domain/files';
import { DEFAULT_SWEEP_OPTIONS } from '@parley/domain/kernel';
import { type ProxyTrust, parseRateLimitRules, type RateLimitRules, TRANSPORT_LIMITS } from '@parley/http';
import type { RealmAddresses } from '../realm-resolver.js';
import { type DatabaseLocation, type FilesLocation, type ListenAddress, LOG_LEVELS } from './configuration.js';
import { ENV_FILE } from './env-file.js';
import {
  parseAudience,
  parseCount,
  parseDatabase,
  parseDays,
  parseFiles,
  parseHost,
  parseJwtSecrets,
  parseListenAddress,
  parseLogLevel,
  parseMailAddress,
  parseMailPattern,
  parsePort,
  parseProxies,
  parseRealmAddresses,
  parseSeconds,
  parseSecret,
  parseSmtpUrl,
  parseSwitch,
  parseUrl,
  parseWord,
} from './setting-values.js';

export const MIB = 1024 * 1024;

export interface Setting<T> {
  readonly variable: string;
  /** Absent for settings that must not appear on a command line, which every user of the machine can read. */
  readonly flag?: string;
  readonly placeholder?: string;
  readonly help: string;
  /** Switches take no value: `--dev` and `--no-dev`. */
  readonly isSwitch?: boolean;
  /** Never printed; `VARIABLE_FILE` may name a file that contains the value. */
  readonly isSecret?: boolean;
  /** @throws Error that describes valid values: "a number from 0 to 65535" */
  readonly parse: (text: string) => T;
  readonly default: T;
}

/** Default retention of deleted messages. */
export const KEEP_DELETED_DAYS = 30;
export const FILE_LIMITS: FileLimits = { maxFileMib: 100, quotaMib: null, userQuotaMib: null };

/** All settings; help, validation and docs/configuration.md derive from these rows. */
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
  eventLogMib: setting(
    'PARLEY_EVENT_LOG',
    'event-log',
    'MIB',
    'events of an organization that are kept for its clients and consumers; one that is further behind starts over',
    parseCount,
    DEFAULT_SWEEP_OPTIONS.maxLogBytes / MIB,
  ),
  eventQueueMib: setting(
    'PARLEY_EVENT_QUEUE',
    'event-queue',
    'MIB',
    'events by which one client may be behind before it starts over',
    parseCount,
    DEFAULT_SWEEP_OPTIONS.maxQueueBytes / MIB,
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
  jwtAudience: {
    variable: 'PARLEY_JWT_AUDIENCE',
    help: 'audience (aud) that these tokens must name; default: it is not checked',
    parse: parseAudience,
    default: null as string | null,
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

/** First setting of each section in the documentation. */
const SECTIONS: { readonly [Name in SettingName]?: string } = {
  host: 'Address',
  isDev: 'Trying it out',
  webPublic: 'What people may do',
  trustedProxies: 'Proxies and limits',
  keepDeletedDays: 'What is kept',
  logLevel: 'Logs and other services',
};

interface DescribedSetting extends Pick<Setting<unknown>, 'variable' | 'help' | 'isSecret'> {
  readonly usage: string;
  /** Null if there is none or the help text describes it. */
  readonly default: string | null;
  /** Title of the section that begins here. */
  readonly section: string | null;
}

const described: readonly DescribedSetting[] = Object.entries(SETTINGS as Record<string, Setting<unknown>>).map(
  ([name, { variable, flag, placeholder, isSwitch, isSecret = false, help, default: fallback }]) => ({
    variable,
    help,
    isSecret,
    usage: flag === undefined ? '' : isSwitch ? `--[no-]${flag}` : `--${flag} ${placeholder}`,
    default: isSwitch ? 'off' : textOf(fallback),
    section: SECTIONS[name as SettingName] ?? null,
  }),
);

/** Formats a default as it would be given; null if it has no text form. */
function textOf(value: unknown): string | null {
  if (value === null) return null;
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (typeof value !== 'object') return String(value);
  return 'path' in value ? `sqlite:${(value as DatabaseLocation).path}` : null;
}

/** Describes flags and variables, one per line. */
export function describeSettings(): string {
  const width = (column: 'usage' | 'variable') => Math.max(...described.map((row) => row[column].length)) + 2;
  const [usageWidth, variableWidth] = [width('usage'), width('variable')];
  return described
    .map(({ usage, variable, help, default: fallback }) => {
      const end = fallback === null || fallback === 'off' ? '' : `; default: ${fallback}`;
      return `  ${usage.padEnd(usageWidth)}${variable.padEnd(variableWidth)}${help}${end}`;
    })
    .join('\n');
}

/** Generates docs/configuration.md. */
export function renderConfigurationDocument(): string {
  const lines = [
    '# Configuration',
    '',
    '<!-- Made by `npm run configuration` from packages/server/src/configuration/settings.ts. -->',
    '',
    'Every setting of `parley` is a variable of the environment, and an option of each command unless it is secret; options win. A',
    'variable that begins with `PARLEY_` and is none of these is refused, and so is an option that a command does not have.',
    '`parley config check` says what is wrong with a configuration, or what it comes to.',
    '',
    `Variables that are not set are read from the file that \`--env-file\` names, by default \`${ENV_FILE}\` where it exists:`,
    'one `NAME=value` a line, as systemd takes it.',
    '',
    'Secrets are taken from the environment only, where not everybody on the machine can read them, or from a file: `PARLEY_SECRET_FILE`',
    'names the file that holds what `PARLEY_SECRET` would say, and so on. An application that embeds Parley gives the same settings to',
    '`createParley` ([embedding.md](embedding.md)).',
  ];
  for (const { section, usage, variable, help, isSecret, default: fallback } of described) {
    if (section !== null) {
      lines.push('', `## ${section}`, '', '| Variable | Option | Default | |', '| --- | --- | --- | --- |');
    }
    const variables = isSecret ? `\`${variable}\`, \`${variable}_FILE\`` : `\`${variable}\``;
    lines.push(`| ${[variables, code(usage), code(fallback ?? ''), help].map(escapeCell).join(' | ')} |`);
  }
  return `${lines.join('\n')}\n`;
}

const code = (text: string): string => (text === '' ? '' : `\`${text}\``);
const escapeCell = (text: string): string => text.replaceAll('|', '\\|');
