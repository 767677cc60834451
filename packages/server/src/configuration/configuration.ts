import type { S3Location } from '@parley/blobs';
import type { FileLimits } from '@parley/domain/files';
import type { ProxyTrust, RateLimitRules, TransportLimits } from '@parley/http';
import type { BigBlueButtonAccount, PushServiceAccount } from '@parley/node-adapters';
import type { RealmAddresses } from '../realm-resolver.js';

/** Everything that a server can be configured with, wherever the values come from. */
export interface Configuration {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  readonly database: DatabaseLocation;
  /** Development endpoints answer, and rate limits are off unless asked for. */
  readonly isDev: boolean;
  /** An organization with people and messages in it is made when the database has none. */
  readonly isDemo: boolean;
  /** The public address, without a slash at the end; null: the one it listens on. */
  readonly url: string | null;
  /** String id of the organization at the public address itself; null: the first one that was made. */
  readonly defaultRealm: string | null;
  /** How the others are distinguished. */
  readonly realmAddresses: RealmAddresses;
  /** Whether channels may be readable by anybody on the Internet. */
  readonly allowsWebPublicChannels: boolean;
  readonly limitsPresence: boolean;
  /** Null: no gateway takes mail for channels. */
  readonly mailGatewayPattern: string | null;
  /** Proxies in front that are trusted to name the client's address. */
  readonly trustedProxies: ProxyTrust;
  /** Null: of the file beside the database. */
  readonly secret: string | null;
  /** What other services sign tokens with that let people in, by the string id of the organization. */
  readonly jwtSecrets: ReadonlyMap<string, string>;
  /** Of a mail server; null: letters are put into files. */
  readonly smtpUrl: string | null;
  /** What letters come from; null: `noreply@` the public address's host. */
  readonly mailFrom: string | null;
  /** How long invitations are good for that say nothing about it. */
  readonly invitationValidityMinutes: number;
  readonly hasRateLimits: boolean;
  /** Quotas instead of the default ones. */
  readonly rateLimitRules: RateLimitRules;
  /** What carries notifications to phones; null: nothing does. */
  readonly push: PushServiceAccount | null;
  /** Where calls are held, beside Jitsi; null: nowhere. */
  readonly bigBlueButton: BigBlueButtonAccount | null;
  /** What differs from `TRANSPORT_LIMITS`. */
  readonly limits: Partial<TransportLimits>;
  /** Requests are refused while the event loop lags or memory runs out. */
  readonly shedsLoad: boolean;
  /** Where uploaded files are; null: the folder `files` beside the database. */
  readonly files: FilesLocation | null;
  readonly fileLimits: FileLimits;
  /** For so many days deleted messages can be put back. */
  readonly keepDeletedDays: number;
  readonly logLevel: LogLevel;
  /** Where metrics are listened for; null: nowhere. */
  readonly metrics: ListenAddress | null;
  /** How long it goes on answering after it was told to stop. */
  readonly drainSeconds: number;
}

export interface DatabaseLocation {
  readonly kind: 'sqlite';
  /** Of the file. */
  readonly path: string;
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
