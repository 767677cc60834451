import type { UnixSeconds } from '../shared/ids.js';

/** How long invitations are good for that say nothing about it, in minutes; null: for ever. */
export interface InvitationConfig {
  readonly defaultValidityMinutes: number | null;
}

/** Further away than anybody waits, and still a time that storage holds exactly. */
const MAX_SECONDS = 10_000 * 365 * 86_400;

/**
 * When an invitation ends. What is 0 or negative makes one that has ended already (organization §9.1).
 * @param minutes Null: never; undefined: as the server has it
 */
export function expiryOf(
  minutes: number | null | undefined,
  { defaultValidityMinutes }: InvitationConfig,
  now: UnixSeconds,
): UnixSeconds | null {
  const validity = minutes === undefined ? defaultValidityMinutes : minutes;
  return validity === null ? null : now + Math.max(-MAX_SECONDS, Math.min(validity * 60, MAX_SECONDS));
}
