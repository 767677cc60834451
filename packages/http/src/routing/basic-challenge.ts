/** The header of a 401 that Basic authentication would have prevented. */
export const BASIC_CHALLENGE: readonly string[] = ['WWW-Authenticate', 'Basic realm="zulip"'];
