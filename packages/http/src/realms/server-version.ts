/** Which Zulip we are to clients; they decide by the level what they can ask for. */
export const FEATURE_LEVEL = 496;
/** Shown to people, never decided by. */
export const ZULIP_VERSION = '12.0';
