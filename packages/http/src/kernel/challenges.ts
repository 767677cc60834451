/** The header of a 401 that Basic authentication would have prevented. Whoever answers puts the challenge of its own style for it. */
export const BASIC_CHALLENGE: readonly string[] = ['WWW-Authenticate', 'Basic realm="zulip"'];
/** Of a 401 that a browser session would have prevented. */
export const SESSION_CHALLENGE: readonly string[] = ['WWW-Authenticate', 'Session realm="zulip"'];
