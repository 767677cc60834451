import type { FileLimits } from '@parley/domain/files';
import type { UnixSeconds } from '@parley/domain/kernel';

/** Which Zulip we are to clients; they decide by the level what they can ask for. */
export const FEATURE_LEVEL = 496;
/** Shown to people, never decided by. */
export const ZULIP_VERSION = '12.0';

/** Properties of the server that clients see. */
export interface ServerInfo {
  readonly startedAt: UnixSeconds;
  readonly isDevelopment: boolean;
  /** True if the operator allows channels that anonymous callers may read. */
  readonly webPublicEnabled: boolean;
  readonly fileLimits: FileLimits;
  /** True if a BigBlueButton server is configured for calls. */
  readonly hasBigBlueButton: boolean;
}
