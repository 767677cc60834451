import type { S3Location } from '@parley/blobs';
import type { FileLimits } from '@parley/domain/files';
import type { EventLimits } from '@parley/domain/kernel';
import type { ProxyTrust, RateLimitRules, TransportLimits } from '@parley/http';
import type {
  BigBlueButtonAccount,
  DirectPush,
  MailTokenAccount,
  ProxySettings,
  PushServiceAccount,
} from '@parley/node-adapters';
import type { OwnNotifications } from '../facade/parley-config.js';
import type { RealmAddresses } from '../kernel/realm-resolver.js';
import { StartupError } from '../kernel/startup-error.js';
import type { LogInAccounts } from '../log-in/options.js';

/** Server configuration, independent of the source of its values. */
export interface Configuration extends LogInAccounts {
  readonly host: string;
  /** 0 selects any free port. */
  readonly port: number;
  readonly database: DatabaseLocation;
  /** URL of a read replica; null for none. */
  readonly databaseReplica: string | null;
  /** Bus between servers that share the database; null for none. */
  readonly busLocation: BusLocation | null;
  /** True to enable development endpoints and disable rate limits by default. */
  readonly isDev: boolean;
  /** True to create a demo organization with users and messages in an empty database. */
  readonly isDemo: boolean;
  /** True if a new demo has unread messages, and its people type and write while a client waits for events. */
  readonly isDemoActive: boolean;
  /** True if nothing may leave the server; null for copies only. */
  readonly isQuiet: boolean | null;
  /** Public URL without a trailing slash; null for the listen address. */
  readonly url: string | null;
  /** String id of the organization at the public address itself; null for the first one created. */
  readonly defaultRealm: string | null;
  /** URL scheme of the other organizations. */
  readonly realmAddresses: RealmAddresses;
  /** True if channels may be readable by anyone on the Internet. */
  readonly allowsWebPublicChannels: boolean;
  readonly limitsPresence: boolean;
  /** Pattern of channel email addresses; null if no gateway accepts email. */
  readonly mailGatewayPattern: string | null;
  /** Ways to receive email for addresses that match the pattern. */
  readonly incomingMail: IncomingMail;
  readonly webhookNetworks: readonly string[];
  readonly outgoingProxy: ProxySettings;
  /** Part of the web client to serve; the application is the start page. */
  readonly webClient: 'application' | 'element' | 'none';
  /** Origins whose pages may show the chat in a frame. */
  readonly frameAncestors: readonly string[];
  /** Proxies trusted to report the client's address. */
  readonly trustedProxies: ProxyTrust;
  /** Null to use the file next to the database. */
  readonly secret: string | null;
  /** Secrets with which other services sign log-in tokens, by string id of the organization. */
  readonly jwtSecrets: ReadonlyMap<string, string>;
  /** Required `aud` claim of log-in tokens; null accepts any. */
  readonly jwtAudience: string | null;
  /** URL of the mail server; null if emails are written to files. */
  readonly smtpUrl: string | null;
  /** OAuth 2 client for the log-in at the mail server; null to use the password of the URL. */
  readonly smtpOAuth: MailTokenAccount | null;
  /** Sender address of emails; null for `noreply@` and the host of the public URL. */
  readonly mailFrom: string | null;
  /** Default validity of invitations. */
  readonly invitationValidityMinutes: number;
  readonly hasRateLimits: boolean;
  /** Quotas that replace the defaults. */
  readonly rateLimitRules: RateLimitRules;
  /** Push service or accounts for direct delivery to phones; null for no mobile push. */
  readonly push: PushServiceAccount | DirectPush | null;
  /** Contact for web push; null for none. */
  readonly webPush: string | null;
  /** Notifications sent by Parley itself; default: all configured kinds. */
  readonly notifications?: OwnNotifications;
  /** BigBlueButton server for calls in addition to Jitsi; null for none. */
  readonly bigBlueButton: BigBlueButtonAccount | null;
  /** GIPHY API key for clients; null for none. */
  readonly giphyApiKey: string | null;
  /** Overrides of `TRANSPORT_LIMITS`. */
  readonly limits: Partial<TransportLimits>;
  /** True to reject requests while the event loop lags or memory runs out. */
  readonly shedsLoad: boolean;
  /** Location of uploaded files; null for the folder `files` next to the database. */
  readonly files: FilesLocation | null;
  readonly fileLimits: FileLimits;
  /** True if searches find texts in files. */
  readonly searchesFiles: boolean;
  /** True if owners can import uploaded exports. */
  readonly allowsOwnerImports: boolean;
  /** Days for which deleted messages can be restored. */
  readonly keepDeletedDays: number;
  /** Days for which entries of the audit log are kept. */
  readonly keepAuditDays: number;
  /** True if the audit log contains names and addresses of people. */
  readonly auditNames: boolean;
  readonly eventLimits: EventLimits;
  readonly logLevel: LogLevel;
  /** Listen address of the metrics endpoint; null for none. */
  readonly metricsAddress: ListenAddress | null;
  /** Time between a stop request and shutdown in which the server still responds. */
  readonly drainSeconds: number;
}

export interface IncomingMail {
  /** Token for programs that deliver email over HTTP; null for none. */
  readonly token: string | null;
  readonly maxBytes: number;
  /** SMTP listener; null for none. */
  readonly smtp: SmtpListener | null;
}

export interface SmtpListener extends ListenAddress {
  /** Host name in the SMTP greeting. */
  readonly name: string;
  /** Paths of the certificate and its key for STARTTLS; null for none. */
  readonly tls: { readonly cert: string; readonly key: string } | null;
  readonly connections: number;
}

export type DatabaseLocation = SqliteLocation | PostgresLocation;

export interface SqliteLocation {
  readonly kind: 'sqlite';
  /** Path of the database file. */
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
  /** False to send event numbers only. */
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

/**
 * Returns the SQLite location for an SQLite-only feature. @throws StartupError on PostgreSQL; the message suggests
 * `instead`
 */
export function sqliteOf({ database }: Pick<Configuration, 'database'>, subject: string, instead = ''): SqliteLocation {
  if (database.kind === 'sqlite') return database;
  throw new StartupError(`${subject} works on SQLite only.${instead}`);
}
