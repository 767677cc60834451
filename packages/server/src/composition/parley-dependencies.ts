import type { Mailer, PasswordHasher } from '@parley/domain/access';
import type { ExportLimits, ImportRunner } from '@parley/domain/exports';
import type { BlobStore, FileLimits, ImageProcessor, LoadUnicodeEmoji, PartialBlobStore } from '@parley/domain/files';
import type {
  Bus,
  Clock,
  ClusterGauges,
  EventLimits,
  JobHandler,
  NodeState,
  Randomness,
  StorageGauges,
  UnitOfWork,
} from '@parley/domain/kernel';
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
import type { DocumentReader } from '@parley/images';
import type { BigBlueButtonAccount, DirectPush, ProxySettings, PushServiceAccount } from '@parley/node-adapters';
import type { IncomingMail } from '../configuration/configuration.js';
import type { HostAuthenticate } from '../facade/host-authentication.js';
import type { OwnNotifications } from '../facade/parley-config.js';
import type { RealmAddresses } from '../kernel/realm-resolver.js';
import type { Bucket, ServerMetrics } from '../observation/metrics.js';

/** Dependencies that differ between a server, an embedding application and a test. */
export interface ParleyDependencies {
  /** Routes in addition to those of the API. */
  readonly moreRoutes?: readonly Route[];
  /** Job handlers in addition to those of the features. */
  readonly moreJobHandlers?: readonly JobHandler[];
  readonly unitOfWork: UnitOfWork;
  /** Bus to other servers of the database; default: none. */
  readonly bus?: Bus;
  /** True if `/readyz` reports the state of the bus; default: false. */
  readonly hasBus?: boolean;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly passwordHasher: PasswordHasher;
  readonly markdownRenderer: MarkdownRenderer;
  readonly mailer: Mailer;
  /** True if emails are delivered instead of being written to a folder; default: true. */
  readonly sendsMail?: boolean;
  /** Default validity of invitations in minutes; default: ten days. */
  readonly invitationValidityMinutes?: number;
  readonly unicodeEmoji: LoadUnicodeEmoji;
  readonly logger: Logger;
  readonly secret: string;
  /** Secrets with which other services sign log-in tokens, by string id of the organization; default: none. */
  readonly jwtSecrets?: ReadonlyMap<string, string>;
  /** Required in the `aud` claim of these tokens; null accepts any. */
  readonly jwtAudience?: string | null;
  /**
   * Reaction to a database created with another secret. `rehash` derives all API keys again; one-off commands do so
   * themselves after success. `refuse` throws a StartupError.
   */
  readonly onOtherSecret: 'rehash' | 'refuse';
  /** Called every second. Throws if other processes no longer find the written data. */
  readonly verifyStorage?: () => void;
  /** Identifies this start of the server; default: a new id. */
  readonly serverId?: string;
  /**
   * Called every ten seconds by servers that share a database: compares clocks and records that the server is running.
   * Returns the ids of servers that are gone.
   */
  readonly reportPresence?: (state: NodeState) => Promise<readonly string[]>;
  /** State of all servers of the database, for metrics; default: none. */
  readonly clusterGauges?: () => Promise<ClusterGauges>;
  /** Logs problems of the database server for the operator. Runs at startup and every hour. */
  readonly examineStorage?: () => Promise<void>;
  /** Service that delivers mobile push notifications; null for none. */
  readonly push: PushServiceAccount | DirectPush | null;
  /** Contact (`mailto:` or `https:`) that enables web push; null for none. */
  readonly webPush?: string | null;
  /** Notifications sent by Parley itself; default: all configured kinds. */
  readonly notifications?: OwnNotifications;
  /** BigBlueButton server for calls; default: none. */
  readonly bigBlueButton?: BigBlueButtonAccount | null;
  /** GIPHY API key for clients; default: none. */
  readonly giphyApiKey?: string | null;
  readonly url: string;
  readonly defaultRealm: string | null;
  /** URL scheme of organizations other than the one at `url`; default: by host name. */
  readonly realmAddresses?: RealmAddresses;
  readonly allowsWebPublicChannels: boolean;
  /** True if guests with limited access receive presence events of accessible users only; default: false. */
  readonly limitsPresence?: boolean;
  /** Address pattern with `%s` for a gateway that accepts channel emails. */
  readonly mailGatewayPattern?: string | null;
  /** Ways to receive email; default: none. */
  readonly incomingMail?: Pick<IncomingMail, 'token' | 'maxBytes'> & { readonly smtp: object | null };
  /** Private networks that outgoing webhooks and profile picture downloads may access; default: none. */
  readonly webhookNetworks?: readonly string[];
  /** Proxies for outgoing calls; default: none. */
  readonly outgoingProxy?: ProxySettings;
  /** Web client for the start page; default: none. */
  readonly webAssets?: WebAssets | null;
  readonly hasRateLimits: boolean;
  /** Quotas that replace the defaults. */
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
  /** Folder on a disk that needs free space; default: none. */
  readonly dataFolder?: string;
  /** Default: no gauges. */
  readonly storageGauges?: () => StorageGauges;
  /** False if no host application receives events; default: true. */
  readonly hasHost?: boolean;
  readonly authenticate?: HostAuthenticate;
  /** Log-in services, in button order; default: none. */
  readonly logInProviders?: readonly LogInProvider[];
  /** LDAP directories that verify passwords; default: none. */
  readonly directories?: readonly PeopleDirectory[];
  /**
   * Origins in addition to Parley's own that may send requests with the cookies accepted by `authenticate`; default:
   * none.
   */
  readonly trustedOrigins?: TrustedOrigins;
  /** Origins that may embed the chat in a frame; default: none. */
  readonly frameAncestors?: readonly string[];
  /** Days for which deleted messages can be restored; default: 30. */
  readonly keepDeletedDays?: number;
  /** Size limits of the event log and of a lagging queue; default: `DEFAULT_SWEEP_OPTIONS`. */
  readonly eventLimits?: EventLimits;
  /** Store for file bytes. */
  readonly blobs: BlobStore;
  /** Bucket of `blobs`, which is checked every ten seconds; default: none. */
  readonly bucket?: Bucket;
  /** Store for the bytes of unfinished uploads. */
  readonly partialBlobs: PartialBlobStore;
  /** Image processor, which may also read documents. */
  readonly images: ImageProcessor & Partial<DocumentReader>;
  /** True if searches find texts in files; default: false. */
  readonly searchesFiles?: boolean;
  /** Folder for temporary files of exports; default: the system's temporary folder. */
  readonly exportsFolder?: string;
  /** Runs imports of uploaded exports; null if only the command line imports. Default: null. */
  readonly importRunner?: ImportRunner | null;
  /** Limits for exports requested by administrators that replace the defaults. */
  readonly exportLimits?: Partial<ExportLimits>;
  /** Email sender and contact address for administrators; null if none is configured. */
  readonly mailFrom?: string | null;
  /** Default: 100 MiB per file and no quota. */
  readonly fileLimits?: FileLimits;
  /** True to start neither workers nor deliveries, for commands that only call a few use cases. Default: false. */
  readonly isOneOff?: boolean;
  /** Called last by `close`. */
  readonly release: () => Promise<void>;
}
