import type { FileLimits } from '@parley/domain/files';
import { DEFAULT_SWEEP_OPTIONS } from '@parley/domain/kernel';
import { type ProxyTrust, type RateLimitRules, TRANSPORT_LIMITS } from '@parley/http';
import type { RealmAddresses } from '../kernel/realm-resolver.js';
import { format } from '../kernel/values.js';
import { LOG_IN_SETTINGS } from '../log-in/providers.js';
import { BUS_SETTINGS } from './bus-settings.js';
import {
  type DatabaseLocation,
  type FilesLocation,
  type ListenAddress,
  LOG_LEVELS,
  type SqliteLocation,
} from './configuration.js';
import { ENV_FILE } from './env-file.js';
import { MAIL_SETTINGS } from './mail-settings.js';
import { PUSH_SETTINGS } from './push-settings.js';
import { type Setting, secretSetting, setting, switchSetting } from './setting.js';
import {
  COUNT,
  DAYS,
  FRAME_ANCESTORS,
  JWT_SECRETS,
  LOG_LEVEL,
  ON_OFF,
  PORT,
  PROXIES,
  parseAudience,
  parseDatabase,
  parseFiles,
  parseHost,
  parseListenAddress,
  parseMailAddress,
  parseOutgoingProxy,
  parseReplica,
  parseSecret,
  parseSmtpUrl,
  parseUrl,
  parseWebhookNetworks,
  parseWord,
  RATE_LIMIT_RULES,
  REALM_ADDRESSES,
  SECONDS,
  STRING_ID,
} from './setting-values.js';
import { SMTP_OAUTH_SETTINGS } from './smtp-oauth-settings.js';

export const MIB = 1024 * 1024;

/** Default retention of deleted messages. */
export const KEEP_DELETED_DAYS = 30;
export const KEEP_AUDIT_DAYS = 400;
export const FILE_LIMITS: FileLimits = { maxFileMib: 100, quotaMib: null, userQuotaMib: null };

/** All settings; help, validation and docs/configuration.md are generated from this table. */
export const SETTINGS = {
  host: setting('PARLEY_HOST', 'host', 'ADDRESS', 'address to listen on', format(parseHost), '127.0.0.1'),
  port: setting('PARLEY_PORT', 'port', 'N', 'port to listen on; 0: any free port', PORT, 9991),
  database: setting(
    'PARLEY_DATABASE',
    'database',
    'sqlite:PATH',
    'database file, or postgres://USER@HOST/NAME',
    format(parseDatabase),
    {
      kind: 'sqlite',
      path: 'parley-data/parley.db',
    } as DatabaseLocation,
  ),
  databaseReplica: setting(
    'PARLEY_DATABASE_REPLICA',
    'database-replica',
    'URL',
    'read replica of a database on PostgreSQL, for message pages and searches: postgres://USER@HOST/NAME; default: none',
    format(parseReplica),
    null as string | null,
  ),
  ...BUS_SETTINGS,
  url: setting(
    'PARLEY_URL',
    'url',
    'URL',
    'public address; default: the listening address',
    format(parseUrl),
    null as string | null,
  ),
  defaultRealm: setting(
    'PARLEY_DEFAULT_REALM',
    'default-realm',
    'STRING_ID',
    'organization at the public address; default: the first one',
    STRING_ID,
    null as string | null,
  ),
  realmAddresses: setting(
    'PARLEY_REALM_ADDRESSES',
    'realm-addresses',
    'host|path',
    'addresses of the other organizations: subdomains of the public address, or paths below it',
    REALM_ADDRESSES,
    'host' as RealmAddresses,
  ),
  isDev: switchSetting('PARLEY_DEV', 'dev', 'development endpoints, which let anyone act as anyone'),
  isDemo: switchSetting('PARLEY_DEMO', 'demo', 'creates a demo organization if there is no organization'),
  isDemoActive: switchSetting(
    'PARLEY_DEMO_ACTIVITY',
    'demo-activity',
    'a new demo has a name, an icon and unread messages, and its people type and write while somebody uses it; npm start turns it on',
  ),
  isExposed: switchSetting(
    'PARLEY_ALLOW_PUBLIC_DEMO',
    'allow-public-demo',
    'allows dev mode and demo data on addresses other than loopback',
  ),
  isQuiet: setting(
    'PARLEY_QUIET',
    'quiet',
    'on|off',
    'sends nothing to people or other servers, as for a copy for trying things; default: off, on after parley restore --copy',
    ON_OFF,
    null as boolean | null,
  ),
  webPublic: setting(
    'PARLEY_WEB_PUBLIC_CHANNELS',
    'web-public-channels',
    'on|off',
    'allows channels that are public on the Internet; default: off, in dev mode on',
    ON_OFF,
    null as boolean | null,
  ),
  limitPresence: switchSetting(
    'PARLEY_LIMIT_PRESENCE',
    'limit-presence',
    'limits guests with restricted access to the presence of users they can access',
  ),
  ...MAIL_SETTINGS,
  webhookNetworks: setting(
    'PARLEY_WEBHOOK_NETWORKS',
    'webhook-networks',
    'NETWORKS',
    'networks other than the public Internet that outgoing webhooks, log-in pictures and link previews may use, such as 10.0.0.0/8,loopback; default: none',
    format(parseWebhookNetworks),
    [] as readonly string[],
  ),
  outgoingProxy: secretSetting(
    'PARLEY_OUTGOING_PROXY',
    'HTTP proxy for outgoing calls, http://USER:PASSWORD@HOST:PORT, except to hosts in NO_PROXY; off: none; default: HTTPS_PROXY and HTTP_PROXY',
    format(parseOutgoingProxy),
    null as string | null,
  ),
  webClient: switchSetting('PARLEY_WEB_CLIENT', 'web-client', 'serves the chat for browsers at the start page', true),
  frameAncestors: setting(
    'PARLEY_FRAME_ANCESTORS',
    'frame-ancestors',
    'ORIGINS',
    'origins whose pages may show the chat in a frame, such as https://shop.example.com,https://example.org; default: none',
    FRAME_ANCESTORS,
    [] as readonly string[],
  ),
  trustedProxies: setting(
    'PARLEY_TRUST_PROXY',
    'trust-proxy',
    'N|NETWORKS',
    'trusted reverse proxies that send X-Forwarded-For: their number, or their networks, such as 10.0.0.0/8,loopback',
    PROXIES,
    0 as ProxyTrust,
  ),
  rateLimits: setting(
    'PARLEY_RATE_LIMITS',
    'rate-limits',
    'on|off',
    'applies rate limits; default: on, in dev mode off',
    ON_OFF,
    null as boolean | null,
  ),
  rateLimitRules: setting(
    'PARLEY_RATE_LIMIT_RULES',
    'rate-limit-rules',
    'RULES',
    'replaces default rate limits, as in "api_by_user=60:500,3600:9000 api_by_ip=60:50" (rule=seconds:calls)',
    RATE_LIMIT_RULES,
    {} as RateLimitRules,
  ),
  connections: setting(
    'PARLEY_MAX_CONNECTIONS',
    'max-connections',
    'N',
    'maximum number of concurrent connections; one address may hold a quarter of them',
    COUNT,
    TRANSPORT_LIMITS.connections,
  ),
  bytesInFlight: setting(
    'PARLEY_BYTES_IN_FLIGHT',
    'bytes-in-flight',
    'MIB',
    'memory for unsent responses; request bodies get half as much, files twice as much',
    COUNT,
    TRANSPORT_LIMITS.answersBytes / MIB,
  ),
  shedsLoad: setting(
    'PARLEY_SHED_LOAD',
    'shed-load',
    'on|off',
    'rejects requests while the event loop lags or memory runs out',
    ON_OFF,
    true,
  ),
  keepDeletedDays: setting(
    'PARLEY_KEEP_DELETED',
    'keep-deleted',
    'DAYS',
    'days during which deleted messages can be restored',
    DAYS,
    KEEP_DELETED_DAYS,
  ),
  keepAuditDays: setting(
    'PARLEY_KEEP_AUDIT',
    'keep-audit',
    'DAYS',
    'days during which entries of the audit log are kept',
    DAYS,
    KEEP_AUDIT_DAYS,
  ),
  auditNames: setting(
    'PARLEY_AUDIT_NAMES',
    'audit-names',
    'on|off',
    'also records names and email addresses in the audit log',
    ON_OFF,
    false,
  ),
  eventLogMib: setting(
    'PARLEY_EVENT_LOG',
    'event-log',
    'MIB',
    'events per organization kept for clients and consumers; one that is further behind starts over',
    COUNT,
    DEFAULT_SWEEP_OPTIONS.maxLogBytes / MIB,
  ),
  eventQueueMib: setting(
    'PARLEY_EVENT_QUEUE',
    'event-queue',
    'MIB',
    'maximum event backlog of a client before it starts over',
    COUNT,
    DEFAULT_SWEEP_OPTIONS.maxQueueBytes / MIB,
  ),
  files: setting(
    'PARLEY_FILES',
    'files',
    'folder:PATH|s3:…',
    'folder or bucket for uploaded files (s3:BUCKET/PREFIX?endpoint=URL&region=NAME, with the keys in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY); default: the folder files next to the database',
    format(parseFiles),
    null as FilesLocation | null,
  ),
  maxUpload: setting(
    'PARLEY_MAX_UPLOAD',
    'max-upload',
    'MIB',
    'maximum size of an uploaded file',
    COUNT,
    FILE_LIMITS.maxFileMib,
  ),
  uploadQuota: setting(
    'PARLEY_UPLOAD_QUOTA',
    'upload-quota',
    'MIB',
    'maximum total size of the files of an organization; default: no limit',
    COUNT,
    null as number | null,
  ),
  uploadQuotaPerUser: setting(
    'PARLEY_UPLOAD_QUOTA_PER_USER',
    'upload-quota-per-user',
    'MIB',
    'maximum total size of the files of one user; default: no limit',
    COUNT,
    null as number | null,
  ),
  fileSearch: setting(
    'PARLEY_FILE_SEARCH',
    'file-search',
    'on|off',
    'searches also find texts in files that are uploaded while this is on',
    ON_OFF,
    true,
  ),
  ownerImports: setting(
    'PARLEY_OWNER_IMPORTS',
    'owner-imports',
    'on|off',
    'owners import exports of other chats into their organization',
    ON_OFF,
    true,
  ),
  logLevel: setting(
    'PARLEY_LOG_LEVEL',
    'log-level',
    LOG_LEVELS.join('|'),
    'minimum level of log messages',
    LOG_LEVEL,
    'info',
  ),
  metrics: setting(
    'PARLEY_METRICS',
    'metrics',
    'ADDRESS:PORT',
    'serves Prometheus metrics and details of failed readiness checks, such as on 127.0.0.1:9464; default: off',
    format(parseListenAddress),
    null as ListenAddress | null,
  ),
  drainSeconds: setting(
    'PARLEY_DRAIN_SECONDS',
    'drain-seconds',
    'N',
    'seconds to keep serving after a stop signal, while /readyz reports it',
    SECONDS,
    0,
  ),
  ...PUSH_SETTINGS,
  bigBlueButtonUrl: setting(
    'PARLEY_BIGBLUEBUTTON_URL',
    'bigbluebutton-url',
    'URL',
    'BigBlueButton server for calls, such as https://bbb.example.com/bigbluebutton',
    format(parseUrl),
    null as string | null,
  ),
  bigBlueButtonSecret: secretSetting(
    'PARLEY_BIGBLUEBUTTON_SECRET',
    'shared secret of the BigBlueButton server',
    format(parseWord),
    null as string | null,
  ),
  giphyApiKey: setting(
    'PARLEY_GIPHY_API_KEY',
    'giphy-api-key',
    'KEY',
    'GIPHY API key for searching GIFs; all clients can read it, because they search themselves; default: no GIFs',
    format(parseWord),
    null as string | null,
  ),
  secret: secretSetting(
    'PARLEY_SECRET',
    'secret for API keys; default: a file next to the database',
    format(parseSecret),
    null as string | null,
  ),
  jwtSecrets: secretSetting(
    'PARLEY_JWT_SECRETS',
    'secrets of services that sign log-in tokens: {"STRING_ID": "SECRET"}; default: none',
    JWT_SECRETS,
    new Map() as ReadonlyMap<string, string>,
  ),
  jwtAudience: {
    variable: 'PARLEY_JWT_AUDIENCE',
    help: 'required audience (aud) of these tokens; default: not checked',
    type: format(parseAudience),
    default: null as string | null,
  },
  ...LOG_IN_SETTINGS,
  smtpUrl: secretSetting(
    'PARLEY_SMTP_URL',
    'mail server, smtp://USER:PASSWORD@HOST:PORT or smtps://…; default: emails are written to files next to the database',
    format(parseSmtpUrl),
    null as string | null,
  ),
  ...SMTP_OAUTH_SETTINGS,
  invitationValidity: setting(
    'PARLEY_INVITATION_LINK_VALIDITY_MINUTES',
    'invitation-validity',
    'MINUTES',
    'default validity of invitations',
    COUNT,
    14_400,
  ),
  mailFrom: setting(
    'PARLEY_MAIL_FROM',
    'mail-from',
    'ADDRESS',
    'sender of emails; default: noreply@ the host of the public address',
    format(parseMailAddress),
    null as string | null,
  ),
} satisfies Record<string, Setting<unknown>>;

export type SettingName = keyof typeof SETTINGS;

/** First setting of each section in the document. */
const SECTIONS: { readonly [Name in SettingName]?: string } = {
  host: 'Address',
  isDev: 'Trying it out',
  webPublic: 'Permissions',
  trustedProxies: 'Proxies and limits',
  keepDeletedDays: 'Storage',
  logLevel: 'Logs and other services',
};

interface DescribedSetting extends Pick<Setting<unknown>, 'variable' | 'help' | 'isSecret'> {
  readonly usage: string;
  /** Null if there is no default or the help text describes it. */
  readonly default: string | null;
  /** Title of the section that begins with this setting. */
  readonly section: string | null;
}

const described: readonly DescribedSetting[] = Object.entries(SETTINGS as Record<string, Setting<unknown>>).map(
  ([name, { variable, flag, placeholder, isSwitch, isSecret = false, help, default: fallback }]) => ({
    variable,
    help,
    isSecret,
    usage: flag === undefined ? '' : isSwitch ? `--[no-]${flag}` : `--${flag} ${placeholder}`,
    default: isSwitch ? (fallback ? 'on' : 'off') : textOf(fallback),
    section: SECTIONS[name as SettingName] ?? null,
  }),
);

/** Formats a default value in the syntax of the setting; null if it has no text form. */
function textOf(value: unknown): string | null {
  if (value === null) return null;
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (typeof value !== 'object') return String(value);
  return 'path' in value ? `sqlite:${(value as SqliteLocation).path}` : null;
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
    '<!-- Generated by `npm run docs:generate` from packages/server/src/configuration/settings.ts. -->',
    '',
    'Every setting of `parley` is an environment variable and, unless it is secret, an option of every command. Options take precedence.',
    'Unknown options and unknown variables that begin with `PARLEY_` are rejected. `parley config check` validates and prints the configuration.',
    '',
    `Unset variables are read from the file given by \`--env-file\`, by default \`${ENV_FILE}\` if it exists:`,
    'one `NAME=value` per line, in the format of systemd.',
    '',
    'Secrets come from the environment or from a file, since every user of a machine can read command lines. For example,',
    '`PARLEY_SECRET_FILE` names a file that contains the value of `PARLEY_SECRET`. An application that embeds Parley passes the same',
    'settings to `createParley` ([options](embedding-reference.md#options-of-createparley)).',
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
