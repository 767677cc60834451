import type { Mailer, PasswordHasher } from '@parley/domain/access';
import type { ExportLimits } from '@parley/domain/exports';
import type { BlobStore, FileLimits, ImageProcessor, LoadUnicodeEmoji, PartialBlobStore } from '@parley/domain/files';
import type { Clock, JobHandler, Randomness, UnitOfWork } from '@parley/domain/kernel';
import type { MarkdownRenderer } from '@parley/domain/markdown';
import type {
  Logger,
  ProxyTrust,
  RateLimitRules,
  RequestTracer,
  Route,
  TransportLimits,
  TrustedOrigins,
} from '@parley/http';
import type { BigBlueButtonAccount, PushServiceAccount } from '@parley/node-adapters';
import type { StorageGauges } from '@parley/sqlite';
import type { HostAuthenticate } from './authentication.js';
import type { ServerMetrics } from './observation/metrics.js';
import type { RealmAddresses } from './realm-resolver.js';

/** What differs between a server, an embedding application and a test. */
export interface ParleyParts {
  /** Beside the API's own. */
  readonly moreRoutes?: readonly Route[];
  /** Beside those of the features. */
  readonly moreJobHandlers?: readonly JobHandler[];
  readonly unitOfWork: UnitOfWork;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly passwordHasher: PasswordHasher;
  readonly markdownRenderer: MarkdownRenderer;
  readonly mailer: Mailer;
  /** Whether letters are delivered, and not only put into a folder; default: true. */
  readonly sendsMail?: boolean;
  /** Of invitations that say nothing about it; default: ten days. */
  readonly invitationValidityMinutes?: number;
  readonly unicodeEmoji: LoadUnicodeEmoji;
  readonly logger: Logger;
  readonly secret: string;
  /** What other services sign tokens with, by the string id of the organization; default: none. */
  readonly jwtSecrets?: ReadonlyMap<string, string>;
  /** When the database knows another secret: `rehash` makes every API key anew, `refuse` throws a StartupError. */
  readonly onOtherSecret: 'rehash' | 'refuse';
  /** Called every second: whether what is written is still where others find it. Throws when it is not. */
  readonly verifyStorage?: () => void;
  /** What carries notifications to phones; null: nothing does. */
  readonly push: PushServiceAccount | null;
  /** Where meetings are held; default: nowhere. */
  readonly bigBlueButton?: BigBlueButtonAccount | null;
  readonly url: string;
  readonly defaultRealm: string | null;
  /** How organizations beside the one at `url` are distinguished; default: by host name. */
  readonly realmAddresses?: RealmAddresses;
  readonly allowsWebPublicChannels: boolean;
  /** Whether guests who may not know everybody get events of those alone whom they know when they are there; default: false. */
  readonly limitsPresence?: boolean;
  /** An address with `%s` in it, of a gateway that takes mail for channels. */
  readonly mailGatewayPattern?: string | null;
  readonly hasRateLimits: boolean;
  /** Quotas instead of the default ones. */
  readonly rateLimitRules?: RateLimitRules;
  readonly trustedProxies: ProxyTrust;
  readonly isDev: boolean;
  /** The organization's passwords are as good as published. */
  readonly isDemo?: boolean;
  /** Default: those of `TRANSPORT_LIMITS`. */
  readonly limits?: Partial<TransportLimits>;
  /** Whether requests are refused while the event loop lags or memory runs out; default: never. */
  readonly shedsLoad?: boolean;
  /** Called with every answer; default: none are kept. */
  readonly metrics?: ServerMetrics;
  readonly tracer?: RequestTracer;
  /** A folder whose disk has to have room; default: none. */
  readonly dataFolder?: string;
  /** Default: the storage has none. */
  readonly storageGauges?: () => StorageGauges;
  readonly authenticate?: HostAuthenticate;
  /** Beside our own, origins whose pages may act for those whom `authenticate` let in; default: none. */
  readonly trustedOrigins?: TrustedOrigins;
  /** For so many days deleted messages can be put back; default: 30. */
  readonly keepDeletedDays?: number;
  /** Where the bytes of files are. */
  readonly blobs: BlobStore;
  /** Where the bytes of unfinished uploads are. */
  readonly partialBlobs: PartialBlobStore;
  readonly images: ImageProcessor;
  /** Of files that an export needs while it is made; default: in the system's folder of temporary files. */
  readonly exportsFolder?: string;
  /** Instead of the usual bounds of exports that administrators may ask for. */
  readonly exportLimits?: Partial<ExportLimits>;
  /** Where letters come from, and questions of administrators go; null: the operator named none. */
  readonly mailFrom?: string | null;
  /** Default: 100 MiB a file, and no quota. */
  readonly fileLimits?: FileLimits;
  /** Neither workers nor deliveries begin: for a command that calls a few use cases and ends. Default: they do. */
  readonly isOneOff?: boolean;
  /** Called at last by `close`. */
  readonly release: () => Promise<void>;
}
