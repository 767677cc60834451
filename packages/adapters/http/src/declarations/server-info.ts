import type { FileLimits } from '@parley/domain/files';
import type { UnixSeconds } from '@parley/domain/kernel';

/** Zulip feature level reported to clients, which derive the available features from it. */
export const FEATURE_LEVEL = 496;
/** Shown to users; never used for decisions. */
export const ZULIP_VERSION = '12.0';

/** Demo organization; its log-in page shows the accounts. */
export interface Demo {
  readonly realm: string;
  readonly accounts: readonly { readonly name: string; readonly email: string; readonly password: string }[];
}

/** Server properties visible to clients. */
export interface ServerInfo {
  readonly startedAt: UnixSeconds;
  readonly isDevelopment: boolean;
  /** True if the operator allows channels that anonymous callers may read. */
  readonly webPublicEnabled: boolean;
  readonly fileLimits: FileLimits;
  /** True if a BigBlueButton server is configured for calls. */
  readonly hasBigBlueButton: boolean;
  /** GIPHY API key for clients; empty for none. */
  readonly giphyApiKey: string;
  /** True if a service for push notifications to phones is configured. */
  readonly sendsPushes: boolean;
  /** Kinds of the configured log-in services; see `AuthenticationMethod`. */
  readonly logInKinds: ReadonlySet<string>;
  /** String ids of the organizations with directory passwords. */
  readonly directoryRealms: ReadonlySet<string>;
  readonly demo: Demo | null;
  /** True if nothing leaves the server, as for a copy for trying things. */
  readonly isQuiet: boolean;
}
