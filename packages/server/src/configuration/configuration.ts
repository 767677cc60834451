import type { S3Location } from '@parley/blobs';
import type { FileLimits } from '@parley/domain/files';
import type { EventLimits } from '@parley/domain/kernel';
import type { ProxyTrust, RateLimitRules, TransportLimits } from '@parley/http';
import type { BigBlueButtonAccount, DirectPush, PushServiceAccount } from '@parley/node-adapters';
import type { OwnNotifications } from '../facade/parley-config.js';
import type { RealmAddresses } from '../kernel/realm-resolver.js';
import { StartupError } from '../kernel/startup-error.js';
import type { LogInAccounts } from '../log-in/providers.js';

/** Server configuration, independent of the source of its values. */
export interface Configuration extends LogInAccounts {
  readonly host: string;
  /** 0 selects any free port. */
  readonly port: number;
  readonly database: DatabaseLocation;
  /** Messages between servers of the database; null for none. */
  readonly busLocation: BusLocation | null;
  /** True to enable development endpoints and disable rate limits by default. */
  readonly isDev: boolean;
  /** True to create an organization with users and messages if the database has none. */
  readonly isDemo: boolean;
  /** Public address without a trailing slash; null for the listen address. */
  readonly url: string | null;
  /** String id of the organization at the public address itself; null for the first one created. */
  readonly defaultRealm: string | null;
  /** Addresses of the other organizations. */
  readonly realmAddresses: RealmAddresses;
  /** True if channels may be readable by anyone on the Internet. */
  readonly allowsWebPublicChannels: boolean;
  readonly limitsPresence: boolean;
  /** Null if no gateway accepts email for channels. */
  readonly mailGatewayPattern: string | null;
  /** Ways to receive email for the addresses of the pattern. */
  readonly incomingMail: IncomingMail;
  readonly webhookNetworks: readonly string[];
  /** True if the start page is the web client. */
  readonly hasWebClient: boolean;
  /** Origins whose pages may show the chat in a frame. */
  readonly frameAncestors: readonly string[];
  /** Proxies trusted to report the client's address. */
  readonly trustedProxies: ProxyTrust;
  /** Null to use the file beside the database. */
  readonly secret: string | null;
  /** Secrets with which other services sign login tokens, by string id of the organization. */
  readonly jwtSecrets: ReadonlyMap<string, string>;
  /** Required in the `aud` claim of login tokens; null accepts any. */
  readonly jwtAudience: string | null;
  /** URL of the mail server; null if emails are written to files. */
  readonly smtpUrl: string | null;
  /** Sender of emails; null for `noreply@` and the host of the public address. */
  readonly mailFrom: string | null;
  /** Default validity of invitations. */
  readonly invitationValidityMinutes: number;
  readonly hasRateLimits: boolean;
  /** Quotas that replace the default ones. */
  readonly rateLimitRules: RateLimitRules;
  /** Service that delivers mobile push notifications, or accounts for direct delivery; null for none. */
  readonly push: PushServiceAccount | DirectPush | null;
  /** Contact for web push; null for none. */
  readonly webPush: string | null;
  /** Notifications that Parley sends itself; default: all that are configured. */
  readonly notifications?: OwnNotifications;
  /** BigBlueButton server for calls in addition to Jitsi; null for none. */
  readonly bigBlueButton: BigBlueButtonAccount | null;
  /** Overrides of `TRANSPORT_LIMITS`. */
  readonly limits: Partial<TransportLimits>;
  /** True to reject requests while the event loop lags or memory runs out. */
  readonly shedsLoad: boolean;
  /** Location of uploaded files; null for the folder `files` beside the database. */
  readonly files: FilesLocation | null;
  readonly fileLimits: FileLimits;
  /** Days during which deleted messages can be restored. */
  readonly keepDeletedDays: number;
  readonly eventLimits: EventLimits;
  readonly logLevel: LogLevel;
  /** Listen address of the metrics endpoint; null for none. */
  readonly metricsAddress: ListenAddress | null;
  /** Time in which the server still responds after a stop request. */
  readonly drainSeconds: number;
}

export interface IncomingMail {
  /** Token of programs that deliver over HTTP; null for none. */
  readonly token: string | null;
  readonly maxBytes: number;
  /** Null for no mail server. */
  readonly smtp: SmtpListener | null;
}

export interface SmtpListener extends ListenAddress {
  /** Host name in the greeting. */
  readonly name: string;
  /** Paths of the certificate and its key for STARTTLS; null for none. */
  readonly tls: { readonly cert: string; readonly key: string } | null;
  readonly connections: number;
}

export type DatabaseLocation = SqliteLocation | PostgresLocation;

export interface SqliteLocation {
  readonly kind: 'sqlite';
  /** Path of the file. */
  readonly path: string;
}

export interface PostgresLocation {
  readonly kind: 'postgres';
  /** May contain a password. */
  readonly url: string;
}

export interface BusLocation {
  /** Addresses of one cluster: `nats://HOST:PORT` or `tls://HOST:PORT`. */
  readonly servers: readonly string[];
  readonly credentialsFile: string | null;
  readonly caFile: string | null;
  /** False to send numbers of events alone. */
  readonly sendsContents: boolean;
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

/** Returns the database file for work that only SQLite needs. @throws StartupError on PostgreSQL, with `instead` */
export function sqliteOf({ database }: Pick<Configuration, 'database'>, subject: string, instead = ''): SqliteLocation {
  if (database.kind === 'sqlite') return database;
  throw new StartupError(`${subject} works on SQLite only.${instead}`);
}
