import type { Mailer, PasswordHasher } from '@parley/domain/access';
import type { BlobStore } from '@parley/domain/files';
import type { Clock, Randomness, UnitOfWork } from '@parley/domain/kernel';
import type { MarkdownRenderer } from '@parley/domain/markdown';
import type { Logger, ProxyTrust, RateLimitRules, TransportLimits } from '@parley/http';
import type { BigBlueButtonAccount, PushServiceAccount } from '@parley/node-adapters';
import type { HostAuthenticate } from './authentication.js';
import type { RealmAddresses } from './realm-resolver.js';

/** Where everything is kept: a database file … */
interface OnDatabase {
  /** `sqlite:PATH`. The database and the folder it is in are made when they are missing. */
  readonly database: string;
  readonly storage?: never;
}

/** … or what passes the contract of storages, which has no folder for what is kept beside it. */
interface OnStorage {
  readonly storage: Storage;
  readonly database?: never;
  readonly secret: string;
  readonly files: string | BlobStore;
  readonly mailer: Mailer;
}

/** What `parley.close()` closes at last. */
export interface Storage {
  readonly uow: UnitOfWork;
  close(): Promise<void>;
  /** Called every second: whether what is written is still where others find it. Throws when it is not. */
  verify?(): void;
}

export type ParleyConfig = ParleyOptions & (OnDatabase | OnStorage);

export interface ParleyOptions {
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
  /**
   * Origins, beside that of `url`, whose pages may act for those whom `authenticate` let in, such as `http://localhost:5173`.
   * What other pages have a browser send is refused, since its cookies come along; default: none. `any`: `authenticate` looks
   * after that itself.
   */
  readonly trustedOrigins?: readonly string[] | 'any';
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
  /**
   * How organizations beside the one at `url` are distinguished: by host, `https://shop.example.com/chat`, or by path,
   * `https://example.com/chat/shop`; default: by host.
   */
  readonly realmAddresses?: RealmAddresses;
  /** Default: true. */
  readonly rateLimits?: boolean;
  /** Quotas instead of the default ones: `{ api_by_user: [{ windowSeconds: 60, limit: 500 }] }`. */
  readonly rateLimitRules?: RateLimitRules;
  /** Whether channels may be readable by anybody on the Internet; default: false. */
  readonly webPublicChannels?: boolean;
  /** Whether guests who may not know everybody see of those alone whom they know when they are there; default: false. */
  readonly limitPresence?: boolean;
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
  /** Where calls are held, beside Jitsi; default: nowhere. */
  readonly bigBlueButton?: BigBlueButtonAccount;
  /**
   * Where uploaded files are kept: `folder:PATH`, `s3:BUCKET/PREFIX?endpoint=URL&region=NAME`, whose keys the environment has, or a
   * store of your own; default: the folder `files` beside the database.
   */
  readonly files?: string | BlobStore;
  /** Size of an uploaded file, in MiB; default: 100. */
  readonly maxUploadMib?: number;
  /** Size of all files of an organization together, in MiB; default: no limit. */
  readonly uploadQuotaMib?: number;
  /** Size of all files of one user together, in MiB; default: no limit. */
  readonly uploadQuotaPerUserMib?: number;
  /** For so many days deleted messages can be put back by `parley message restore`; default: 30. */
  readonly keepDeletedDays?: number;
  /** Whether `parley.metrics()` has something to say; default: false. */
  readonly metrics?: boolean;
  /** pino's, or anything like it; default: nothing is logged. */
  readonly logger?: Logger;
  /** Default: the machine's. */
  readonly clock?: Clock;
  readonly randomness?: Randomness;
  /** Default: scrypt, few at a time. */
  readonly passwordHasher?: PasswordHasher;
  /** Default: Zulip's Markdown. */
  readonly renderer?: MarkdownRenderer;
}

type OptionName = keyof ParleyOptions | keyof OnDatabase | keyof OnStorage;

/** What there is, for those whom no compiler tells. */
const OPTIONS: Readonly<Record<OptionName, true>> = {
  database: true,
  storage: true,
  url: true,
  secret: true,
  jwtSecrets: true,
  acceptNewSecret: true,
  authenticate: true,
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
  trustedProxies: true,
  limits: true,
  shedsLoad: true,
  pushService: true,
  bigBlueButton: true,
  files: true,
  maxUploadMib: true,
  uploadQuotaMib: true,
  uploadQuotaPerUserMib: true,
  keepDeletedDays: true,
  metrics: true,
  logger: true,
  clock: true,
  randomness: true,
  passwordHasher: true,
  renderer: true,
};

export const OPTION_NAMES = Object.keys(OPTIONS) as readonly OptionName[];
