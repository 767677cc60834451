import type { Mailer, PasswordHasher } from '@parley/domain/access';
import type { ExportLimits } from '@parley/domain/exports';
import type { BlobStore, FileLimits, ImageProcessor, LoadUnicodeEmoji, PartialBlobStore } from '@parley/domain/files';
import type { Bus, Clock, EventLimits, JobHandler, Randomness, StorageGauges, UnitOfWork } from '@parley/domain/kernel';
import type { MarkdownRenderer } from '@parley/domain/markdown';
import type { LogInProvider, PeopleDirectory } from '@parley/domain/membership';
import type {
  Demo,
  Logger,
  ProxyTrust,
  RateLimitRules,
  RequestTracer,
  Route,
  TransportLimits,
  TrustedOrigins,
  WebAssets,
} from '@parley/http';
import type { BigBlueButtonAccount, DirectPush, PushServiceAccount } from '@parley/node-adapters';
import type { IncomingMail } from '../configuration/configuration.js';
import type { HostAuthenticate } from '../facade/host-authentication.js';
import type { OwnNotifications } from '../facade/parley-config.js';
import type { RealmAddresses } from '../kernel/realm-resolver.js';
import type { ServerMetrics } from '../observation/metrics.js';

/** Dependencies that differ between a server, an embedding application and a test. */
export interface ParleyDependencies {
  /** Routes in addition to those of the API. */
  readonly moreRoutes?: readonly Route[];
  /** Job handlers in addition to those of the features. */
  readonly moreJobHandlers?: readonly JobHandler[];
  readonly unitOfWork: UnitOfWork;
  /** Connection to other servers of the database; default: to none. */
  readonly bus?: Bus;
  /** True if `/readyz` reports the state of the bus; default: false. */
  readonly hasBus?: boolean;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly passwordHasher: PasswordHasher;
  readonly markdownRenderer: MarkdownRenderer;
  readonly mailer: Mailer;
  /** True if emails are delivered instead of written to a folder; default: true. */
  readonly sendsMail?: boolean;
  /** Default validity of invitations in minutes; default: ten days. */
  readonly invitationValidityMinutes?: number;
  readonly unicodeEmoji: LoadUnicodeEmoji;
  readonly logger: Logger;
  readonly secret: string;
  /** Secrets with which other services sign tokens, by string id of the organization; default: none. */
  readonly jwtSecrets?: ReadonlyMap<string, string>;
  /** Required in the `aud` claim of these tokens; null accepts any. */
  readonly jwtAudience?: string | null;
  /**
   * Reaction to a database made with another secret: `rehash` derives every API key again, which a one-off command
   * does itself after it has succeeded; `refuse` throws a StartupError.
   */
  readonly onOtherSecret: 'rehash' | 'refuse';
  /** Called every second. Throws if written data is no longer where other processes find it. */
  readonly verifyStorage?: () => void;
  /** Called every ten seconds by a server that shares a database: compares clocks, and says that the server is there. */
  readonly reportPresence?: () => Promise<void>;
  /** Logs what an operator should know about the database server. Runs at the start and every hour. */
  readonly examineStorage?: () => Promise<void>;
  /** Service that delivers mobile push notifications; null for none. */
  readonly push: PushServiceAccount | DirectPush | null;
  /** Contact for web push (`mailto:` or `https:`), which it turns on; null for none. */
  readonly webPush?: string | null;
  /** Notifications that Parley sends itself; default: all that are configured. */
  readonly notifications?: OwnNotifications;
  /** BigBlueButton server for calls; default: none. */
  readonly bigBlueButton?: BigBlueButtonAccount | null;
  readonly url: string;
  readonly defaultRealm: string | null;
  /** Addresses of organizations beside the one at `url`; default: by host name. */
  readonly realmAddresses?: RealmAddresses;
  readonly allowsWebPublicChannels: boolean;
  /** True if guests with limited access receive presence events of accessible users only; default: false. */
  readonly limitsPresence?: boolean;
  /** Address pattern with `%s` of a gateway that accepts email for channels. */
  readonly mailGatewayPattern?: string | null;
  /** Ways to receive email; default: none. */
  readonly incomingMail?: Pick<IncomingMail, 'token' | 'maxBytes'> & { readonly smtp: object | null };
  /** Networks beside the public Internet that outgoing webhooks and pictures of log-ins may be at; default: none. */
  readonly webhookNetworks?: readonly string[];
  /** Web client for the start page; default: none. */
  readonly webAssets?: WebAssets | null;
  readonly hasRateLimits: boolean;
  /** Quotas that replace the default ones. */
  readonly rateLimitRules?: RateLimitRules;
  readonly trustedProxies: ProxyTrust;
  readonly isDev: boolean;
  /** Demo organization, whose passwords are public; default: none. */
  readonly demo?: Demo;
  /** Default: those of `TRANSPORT_LIMITS`. */
  readonly limits?: Partial<TransportLimits>;
  /** True to reject requests while the event loop lags or memory runs out; default: false. */
  readonly shedsLoad?: boolean;
  /** Records every response; default: no metrics. */
  readonly metrics?: ServerMetrics;
  readonly tracer?: RequestTracer;
  /** Folder whose disk must have free space; default: none. */
  readonly dataFolder?: string;
  /** Default: no gauges. */
  readonly storageGauges?: () => StorageGauges;
  readonly authenticate?: HostAuthenticate;
  /** Ways to log in at other services, in order of their buttons; default: none. */
  readonly logInProviders?: readonly LogInProvider[];
  /** Directories whose passwords people use; default: none. */
  readonly directories?: readonly PeopleDirectory[];
  /**
   * Origins beside our own whose pages may send requests with the cookies that `authenticate` accepts; default: none.
   */
  readonly trustedOrigins?: TrustedOrigins;
  /** Origins whose pages may show the chat in a frame; default: none. */
  readonly frameAncestors?: readonly string[];
  /** Days during which deleted messages can be restored; default: 30. */
  readonly keepDeletedDays?: number;
  /** Sizes of the event log and of a lagging queue; default: those of `DEFAULT_SWEEP_OPTIONS`. */
  readonly eventLimits?: EventLimits;
  /** Store for file bytes. */
  readonly blobs: BlobStore;
  /** Store for the bytes of unfinished uploads. */
  readonly partialBlobs: PartialBlobStore;
  readonly images: ImageProcessor;
  /** Folder for temporary files of exports; default: the system's temporary folder. */
  readonly exportsFolder?: string;
  /** Limits that replace the defaults for exports requested by administrators. */
  readonly exportLimits?: Partial<ExportLimits>;
  /** Sender of emails and contact address for administrators; null if the operator configured none. */
  readonly mailFrom?: string | null;
  /** Default: 100 MiB per file and no quota. */
  readonly fileLimits?: FileLimits;
  /** True to start neither workers nor deliveries, for commands that call a few use cases and exit. Default: false. */
  readonly isOneOff?: boolean;
  /** Called last by `close`. */
  readonly release: () => Promise<void>;
}
