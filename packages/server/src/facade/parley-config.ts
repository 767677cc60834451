import type { Mailer, PasswordHasher } from '@parley/domain/access';
import type { BlobStore } from '@parley/domain/files';
import type { Clock, ClusterGauges, NodeState, Randomness, UnitOfWork } from '@parley/domain/kernel';
import type { MarkdownRenderer } from '@parley/domain/markdown';
import type { Logger, ProxyTrust, RateLimitRules, TransportLimits } from '@parley/http';
import type { BigBlueButtonAccount, PushServiceAccount } from '@parley/node-adapters';
import type { RealmAddresses } from '../kernel/realm-resolver.js';
import type { LogInOptions } from '../log-in/options.js';
import type { HostAuthenticate } from './host-authentication.js';

/** Database file that holds all data. */
interface OnDatabase {
  /** `sqlite:PATH`. The database and its folder are created if missing. */
  readonly database: string;
  readonly storage?: never;
}

/** Custom storage that passes the storage contract; has no folder for files next to it. */
interface OnStorage {
  readonly storage: Storage;
  readonly database?: never;
  readonly secret: string;
  readonly files: string | BlobStore;
  readonly mailer: Mailer;
}

/** Custom storage; `parley.close()` closes it last. */
export interface Storage {
  readonly uow: UnitOfWork;
  close(): Promise<void>;
  /** Called every second. Throws if other processes no longer find the written data. */
  verify?(): void;
  /** Time of the database server in milliseconds since the epoch. */
  currentTimeMs?(): Promise<number>;
  /** Records that this server uses the database. Returns the ids of servers that are gone. */
  reportPresence?(release: string, id: string, state?: NodeState): Promise<readonly string[]>;
  /** State of all servers of the database, for this server's metrics. */
  clusterGauges?(id: string): Promise<ClusterGauges>;
}

/** Bus between servers of one database. */
export interface BusOptions {
  /** `tls://HOST:PORT`, or `nats://HOST:PORT` on loopback; separate several servers of a cluster with commas. */
  readonly url: string;
  /** Path of a file with a user's credentials (`.creds`), `USER:PASSWORD` or a token; default: none. */
  readonly credentialsFile?: string;
  /** Path of CA certificates (PEM) that must have signed the servers' certificates; default: the system's CAs. */
  readonly caFile?: string;
  /** False to send event numbers only; default: true. */
  readonly contents?: boolean;
}

export type ParleyConfig = ParleyOptions & (OnDatabase | OnStorage);

/** Message notifications that Parley sends itself. */
export interface OwnNotifications {
  /** Push notifications to phones and browsers. */
  readonly push?: boolean;
  readonly email?: boolean;
}

/** App publisher accounts; requires at least one of `apns` and `fcm`. */
export interface DirectPushOptions {
  /** Private keys printed by `parley push key`; the app contains the public key. Several during rotation. */
  readonly keys: readonly string[];
  /** `key`: contents of the `.p8` file; `url`: Apple's sandbox for development builds. */
  readonly apns?: { readonly key: string; readonly keyId: string; readonly teamId: string; readonly url?: string };
  /** Contents of the JSON file of a service account for Firebase Cloud Messaging. */
  readonly fcm?: string;
}

/** OAuth 2 client for a mail server; requires `clientSecret` or `refreshToken`. */
export interface SmtpOAuthOptions {
  /** Token endpoint, such as `https://oauth2.googleapis.com/token`. */
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret?: string;
  /** Default: client credentials. */
  readonly refreshToken?: string;
  readonly scope?: string;
}

export interface ParleyOptions extends LogInOptions {
  /** Public address including the mount path of the router: `https://example.com/chat`. */
  readonly url: string;
  /**
   * NATS servers for messages between several servers of one PostgreSQL database. Default: none, and servers read the
   * database four times a second. Requires `@nats-io/transport-node`.
   */
  readonly bus?: string | BusOptions;
  /** Read replica of a database on PostgreSQL, for message pages and searches: `postgres://USER@HOST/NAME`. Default: none. */
  readonly databaseReplica?: string;
  /** Secret for deriving API keys, at least 8 characters; default: a file next to the database, created if missing. */
  readonly secret?: string;
  /**
   * Secrets of at least 32 bytes, by string id of the organization, with which other services sign JSON web tokens for
   * log-in (`POST /jwt/fetch_api_key`); default: none.
   */
  readonly jwtSecrets?: Readonly<Record<string, string>>;
  /** Required audience (`aud`) of these tokens; default: any. */
  readonly jwtAudience?: string;
  /** True to open a database created with another secret, which changes every API key; default: false. */
  readonly acceptNewSecret?: boolean;
  /**
   * The application's own log-in, called for requests without an API key. An unknown user is logged and gets status
   * 401; an exception leads to status 500.
   */
  readonly authenticate?: HostAuthenticate;
  /**
   * Log-in page of the application, for browsers and phone apps: `https://example.com/login?return_to={next}`. `{next}`
   * is replaced by the return address; without it, `next` is added to the query. Requires `authenticate`.
   */
  readonly logInUrl?: string;
  /** Name and icon (a URL) of the button for `logInUrl`; default: its host name, and no icon. */
  readonly logInButton?: { readonly name?: string; readonly icon?: string };
  /**
   * Origins in addition to that of `url` that may send requests with the cookies accepted by `authenticate`, such as
   * `http://localhost:5173`. Default: none. Requests from other origins are rejected. `any`: `authenticate` checks
   * origins itself.
   */
  readonly trustedOrigins?: readonly string[] | 'any';
  /** Custom mailer; default: `smtpUrl`. */
  readonly mailer?: Mailer;
  /**
   * Mail server, `smtp://user:password@host:port`; default: emails are written to a folder next to the database
   * with `.outbox` after its name.
   */
  readonly smtpUrl?: string;
  /**
   * OAuth 2 client for access tokens that replace the mail server's password. `smtpUrl` names the mailbox:
   * `smtp://chat%40example.com@smtp.gmail.com:587`. Default: the password in `smtpUrl`.
   */
  readonly smtpOAuth?: SmtpOAuthOptions;
  /** Sender address of emails; default: `noreply@` and the host of `url`. */
  readonly mailFrom?: string;
  /** Default validity of invitations in minutes; default: ten days. */
  readonly invitationValidityMinutes?: number;
  /** String id of the organization at the public address itself; default: the first one created. */
  readonly defaultRealm?: string;
  /**
   * URL scheme of organizations other than the one at `url`: by host, `https://shop.example.com/chat`, or by path,
   * `https://example.com/chat/shop`; default: by host.
   */
  readonly realmAddresses?: RealmAddresses;
  /** Default: true. */
  readonly rateLimits?: boolean;
  /** Quotas that replace the defaults: `{ api_by_user: [{ windowSeconds: 60, limit: 500 }] }`. */
  readonly rateLimitRules?: RateLimitRules;
  /** True if channels may be readable by anyone on the Internet; default: false. */
  readonly webPublicChannels?: boolean;
  /** True if guests with limited access only see the presence of accessible users; default: false. */
  readonly limitPresence?: boolean;
  /**
   * Address pattern shown to members for emails to a channel, such as `chat+%s@example.com`, if your application
   * accepts these emails; default: none.
   */
  readonly mailGatewayPattern?: string;
  /**
   * Token for programs that deliver email for these addresses to `/api/v1/incoming_email`, at least 32 characters;
   * default: none. Requires `postal-mime`, `html-to-text` and `ical.js`.
   */
  readonly mailGatewayToken?: string;
  /**
   * Private networks that outgoing webhooks, profile picture downloads and link previews may access, such as
   * `10.0.0.0/8,loopback`; default: none.
   */
  readonly webhookNetworks?: string;
  /**
   * HTTP proxy for outgoing calls, such as `http://proxy.example.com:3128`, or `'off'`; default: the environment
   * variables `HTTPS_PROXY` and `HTTP_PROXY`. Hosts in `NO_PROXY` are called directly.
   */
  readonly outgoingProxy?: string;
  /**
   * Web client on the start page; `'element'` serves only `<parley-chat>` for pages of the host, and false neither.
   * Default: true.
   */
  readonly webClient?: boolean | 'element';
  /**
   * Origins that may embed the chat in a frame, such as `https://shop.example.com`; default: none. Framed users log in
   * by a token, either signed with `jwtSecrets` or accepted by `authenticate`.
   */
  readonly frameAncestors?: readonly string[];
  /**
   * Trusted proxies that report the client's address: their number or networks, or `app` for those of the setting `trust
   * proxy` of the Express application with the router; default: none.
   */
  readonly trustedProxies?: ProxyTrust;
  /**
   * True if nothing may leave the server, as for a copy for trying things: emails, webhooks, previews, scheduled messages
   * and reminders wait. Default: false, but true after `parley restore --copy`.
   */
  readonly quiet?: boolean;
  /** Limits of requests, responses and connections; default: `TRANSPORT_LIMITS`. */
  readonly limits?: Partial<TransportLimits>;
  /** True to reject requests while the event loop lags or memory runs out; default: true. */
  readonly shedsLoad?: boolean;
  /** Service that delivers mobile push notifications; default: none. */
  readonly pushService?: PushServiceAccount;
  /** Accounts for delivery to your own build of the app without a push service; default: none. */
  readonly directPush?: DirectPushOptions;
  /** Contact for browser push services, such as `mailto:ops@example.com`; enables web push. Default: off. */
  readonly webPush?: string;
  /**
   * False for notifications that your application delivers itself on `notification.due`; default: Parley sends all
   * configured kinds.
   */
  readonly notifications?: OwnNotifications;
  /** BigBlueButton server for calls in addition to Jitsi; default: none. */
  readonly bigBlueButton?: BigBlueButtonAccount;
  /** GIPHY API key for searching GIFs; all clients can read it, because they search themselves. Default: no GIFs. */
  readonly giphyApiKey?: string;
  /**
   * Storage of uploaded files: `folder:PATH`, `s3:BUCKET/PREFIX?endpoint=URL&region=NAME` with keys from the
   * environment, or a custom store. Default: the folder `files` next to the database.
   */
  readonly files?: string | BlobStore;
  /** Maximum size of an uploaded file, in MiB; default: 100. */
  readonly maxUploadMib?: number;
  /** Maximum total size of an organization's files, in MiB; default: no limit. */
  readonly uploadQuotaMib?: number;
  /** Maximum total size of a user's files, in MiB; default: no limit. */
  readonly uploadQuotaPerUserMib?: number;
  /** True if searches also find texts in uploaded files; default: true. */
  readonly fileSearch?: boolean;
  /** Days for which `parley message restore` can restore deleted messages; default: 30. */
  readonly keepDeletedDays?: number;
  /** Days for which entries of the audit log are kept; default: 400. */
  readonly keepAuditDays?: number;
  /** True if the audit log also contains names and email addresses; default: false. */
  readonly auditNames?: boolean;
  /** Maximum size of an organization's event log, in MiB; default: 256. */
  readonly eventLogMib?: number;
  /** Maximum event backlog of a client in MiB; default: 16. */
  readonly eventQueueMib?: number;
  /** True to collect metrics for `parley.metrics()`; default: false. */
  readonly metrics?: boolean;
  /** Logger with pino's interface; default: warnings and errors are written to standard error. */
  readonly logger?: Logger;
  /** Default: system clock. */
  readonly clock?: Clock;
  readonly randomness?: Randomness;
  /** Default: scrypt with few concurrent hashes. */
  readonly passwordHasher?: PasswordHasher;
  /** Default: Zulip's Markdown dialect. */
  readonly renderer?: MarkdownRenderer;
}

/** Names of all options. */
export type OptionName = keyof ParleyOptions | keyof OnDatabase | keyof OnStorage;
