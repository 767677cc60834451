import type { Mailer, PasswordHasher } from '@parley/domain/access';
import type { BlobStore } from '@parley/domain/files';
import type { Clock, Randomness, UnitOfWork } from '@parley/domain/kernel';
import type { MarkdownRenderer } from '@parley/domain/markdown';
import type { Logger, ProxyTrust, RateLimitRules, TransportLimits } from '@parley/http';
import type { BigBlueButtonAccount, PushServiceAccount } from '@parley/node-adapters';
import type { RealmAddresses } from '../kernel/realm-resolver.js';
import type { LogInOptions } from '../log-in/options.js';
import { LOG_IN_NAMES, type LogInName } from '../log-in/providers.js';
import type { HostAuthenticate } from './host-authentication.js';

/** Database file that holds all data. */
interface OnDatabase {
  /** `sqlite:PATH`. The database and its folder are created if missing. */
  readonly database: string;
  readonly storage?: never;
}

/** Custom storage that passes the storage contract; has no folder for files beside it. */
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
  /** Called every second. Throws if written data is no longer where other processes find it. */
  verify?(): void;
  /** Time of a database on a server in milliseconds since the epoch. */
  currentTimeMs?(): Promise<number>;
  /** Records that this server uses the database. */
  reportPresence?(release: string): Promise<void>;
}

/** Messages between servers of one database. */
export interface BusOptions {
  /** `tls://HOST:PORT`, or `nats://HOST:PORT` with a loopback address; several of one cluster with commas. */
  readonly url: string;
  /** Path of a file with a user's credentials (`.creds`), `USER:PASSWORD` or a token; default: none. */
  readonly credentialsFile?: string;
  /** Path of the certificates (PEM) that vouch for the servers; default: those of the system. */
  readonly caFile?: string;
  /** False to send numbers of events alone; default: true. */
  readonly contents?: boolean;
}

export type ParleyConfig = ParleyOptions & (OnDatabase | OnStorage);

/** Notifications of messages that Parley sends itself. */
export interface OwnNotifications {
  /** Push notifications to phones and browsers. */
  readonly push?: boolean;
  readonly email?: boolean;
}

/** Accounts of the publisher of an app; at least one of `apns` and `fcm`. */
export interface DirectPushOptions {
  /** Private keys that `parley push key` prints; the app contains the public one. Several while they are rotated. */
  readonly keys: readonly string[];
  /** `key`: content of the `.p8` file; `url`: Apple's sandbox for development builds. */
  readonly apns?: { readonly key: string; readonly keyId: string; readonly teamId: string; readonly url?: string };
  /** Content of the JSON file of a service account for Firebase Cloud Messaging. */
  readonly fcm?: string;
}

export interface ParleyOptions extends LogInOptions {
  /** Public address including the mount path of the router: `https://example.com/chat`. */
  readonly url: string;
  /**
   * NATS servers for messages between several servers of one database on PostgreSQL; default: none, servers read the
   * database four times a second. Requires `@nats-io/transport-node`.
   */
  readonly bus?: string | BusOptions;
  /**
   * Secret from which API keys are derived, at least 8 characters; default: a file beside the database, created if
   * missing.
   */
  readonly secret?: string;
  /**
   * Secrets of 32 bytes or more, by string id of the organization, with which other services sign JSON web tokens for
   * logging in (`POST /jwt/fetch_api_key`); default: none.
   */
  readonly jwtSecrets?: Readonly<Record<string, string>>;
  /** Audience (`aud`) that these tokens must name; default: it is not checked. */
  readonly jwtAudience?: string;
  /** True to open a database that was made with another secret, which changes every API key; default: false. */
  readonly acceptNewSecret?: boolean;
  /**
   * The application's own login, called for requests without an API key. An unknown user is logged and leads to status
   * 401, an exception to 500.
   */
  readonly authenticate?: HostAuthenticate;
  /**
   * Log-in page of the application, for browsers and phone apps: `https://example.com/login?return_to={next}`, where
   * `{next}` becomes the address to return to; without it, `next` is added to the query. Requires `authenticate`.
   */
  readonly logInUrl?: string;
  /** Name and icon (a URL) of the button for `logInUrl`; default: its host name, and no icon. */
  readonly logInButton?: { readonly name?: string; readonly icon?: string };
  /**
   * Origins beside that of `url` whose pages may send requests with the cookies that `authenticate` accepts, such as
   * `http://localhost:5173`; default: none. Requests from other pages are rejected. `any`: `authenticate` checks
   * origins itself.
   */
  readonly trustedOrigins?: readonly string[] | 'any';
  /** The application's own mailer; default: `smtpUrl`. */
  readonly mailer?: Mailer;
  /**
   * Mail server, `smtp://user:password@host:port`; default: emails are written to the folder `outbox` beside the
   * database.
   */
  readonly smtpUrl?: string;
  /** Sender address of emails; default: `noreply@` and the host of `url`. */
  readonly mailFrom?: string;
  /** Default validity of invitations in minutes; default: ten days. */
  readonly invitationValidityMinutes?: number;
  /** String id of the organization at the public address itself; default: the first one created. */
  readonly defaultRealm?: string;
  /**
   * Addresses of organizations beside the one at `url`: by host, `https://shop.example.com/chat`, or by path,
   * `https://example.com/chat/shop`; default: by host.
   */
  readonly realmAddresses?: RealmAddresses;
  /** Default: true. */
  readonly rateLimits?: boolean;
  /** Quotas that replace the default ones: `{ api_by_user: [{ windowSeconds: 60, limit: 500 }] }`. */
  readonly rateLimitRules?: RateLimitRules;
  /** True if channels may be readable by anyone on the Internet; default: false. */
  readonly webPublicChannels?: boolean;
  /** True if guests with limited access see the presence of accessible users only; default: false. */
  readonly limitPresence?: boolean;
  /**
   * Email address pattern shown to members for sending to a channel, such as `chat+%s@example.com`, if your
   * application accepts that mail; default: none.
   */
  readonly mailGatewayPattern?: string;
  /**
   * Token of programs that deliver email for these addresses to `/api/v1/incoming_email`, at least 32 characters;
   * default: none. Requires `postal-mime` and `html-to-text`.
   */
  readonly mailGatewayToken?: string;
  /**
   * Networks beside the public Internet that outgoing webhooks and pictures of log-ins may be at, such as `10.0.0.0/8,loopback`; default: none.
   */
  readonly webhookNetworks?: string;
  /** False to keep the chat for browsers from the start page; default: true. */
  readonly webClient?: boolean;
  /**
   * Origins whose pages may show the chat in a frame, such as `https://shop.example.com`; default: none. People log in
   * there by a token, of `jwtSecrets` or that `authenticate` recognizes.
   */
  readonly frameAncestors?: readonly string[];
  /** Proxies trusted to report the client's address: their number or their networks; default: none. */
  readonly trustedProxies?: ProxyTrust;
  /** Limits of requests, responses and connections; default: `TRANSPORT_LIMITS`. */
  readonly limits?: Partial<TransportLimits>;
  /** True to reject requests while the event loop lags or memory runs out; default: true. */
  readonly shedsLoad?: boolean;
  /** Service that delivers mobile push notifications; default: none. */
  readonly pushService?: PushServiceAccount;
  /** Accounts for delivery to your own build of the app without a push service; default: none. */
  readonly directPush?: DirectPushOptions;
  /**
   * Turns on push notifications for browsers: contact for their push services, such as `mailto:ops@example.com`;
   * default: off.
   */
  readonly webPush?: string;
  /**
   * False for notifications of messages that your application delivers itself, on `notification.due`; default: Parley
   * sends all that are configured.
   */
  readonly notifications?: OwnNotifications;
  /** BigBlueButton server for calls in addition to Jitsi; default: none. */
  readonly bigBlueButton?: BigBlueButtonAccount;
  /**
   * Storage of uploaded files: `folder:PATH`, `s3:BUCKET/PREFIX?endpoint=URL&region=NAME` with keys from the
   * environment, or a custom store; default: the folder `files` beside the database.
   */
  readonly files?: string | BlobStore;
  /** Maximum size of an uploaded file, in MiB; default: 100. */
  readonly maxUploadMib?: number;
  /** Maximum total size of an organization's files, in MiB; default: no limit. */
  readonly uploadQuotaMib?: number;
  /** Maximum total size of a user's files, in MiB; default: no limit. */
  readonly uploadQuotaPerUserMib?: number;
  /** Days during which `parley message restore` can restore deleted messages; default: 30. */
  readonly keepDeletedDays?: number;
  /** Maximum size of an organization's event log, in MiB; default: 256. */
  readonly eventLogMib?: number;
  /** Maximum size of events by which a client may be behind, in MiB; default: 16. */
  readonly eventQueueMib?: number;
  /** True to collect metrics for `parley.metrics()`; default: false. */
  readonly metrics?: boolean;
  /** Logger with pino's interface; default: warnings and errors are written to standard error. */
  readonly logger?: Logger;
  /** Default: system clock. */
  readonly clock?: Clock;
  readonly randomness?: Randomness;
  /** Default: scrypt with few hashes at a time. */
  readonly passwordHasher?: PasswordHasher;
  /** Default: Zulip's Markdown dialect. */
  readonly renderer?: MarkdownRenderer;
}

type OptionName = keyof ParleyOptions | keyof OnDatabase | keyof OnStorage;

/** Option names for callers without a type checker. */
const OPTIONS: Readonly<Record<Exclude<OptionName, LogInName>, true>> = {
  database: true,
  storage: true,
  url: true,
  bus: true,
  secret: true,
  jwtSecrets: true,
  jwtAudience: true,
  acceptNewSecret: true,
  authenticate: true,
  logInUrl: true,
  logInButton: true,
  trustedOrigins: true,
  mailer: true,
  smtpUrl: true,
  mailFrom: true,
  invitationValidityMinutes: true,
  defaultRealm: true,
  realmAddresses: true,
  rateLimits: true,
  rateLimitRules: true,
  webPublicChannels: true,
  limitPresence: true,
  mailGatewayPattern: true,
  mailGatewayToken: true,
  webhookNetworks: true,
  webClient: true,
  frameAncestors: true,
  trustedProxies: true,
  limits: true,
  shedsLoad: true,
  pushService: true,
  directPush: true,
  bigBlueButton: true,
  webPush: true,
  notifications: true,
  files: true,
  maxUploadMib: true,
  uploadQuotaMib: true,
  uploadQuotaPerUserMib: true,
  keepDeletedDays: true,
  eventLogMib: true,
  eventQueueMib: true,
  metrics: true,
  logger: true,
  clock: true,
  randomness: true,
  passwordHasher: true,
  renderer: true,
};

export const OPTION_NAMES = [...Object.keys(OPTIONS), ...LOG_IN_NAMES] as readonly OptionName[];
