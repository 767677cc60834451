import type { UnixSeconds } from '../kernel/ids.js';

export interface InvitationConfig {
  /** How long invitations are good for that say nothing about it, in minutes; null: for ever. */
  readonly defaultValidityMinutes: number | null;
  /** Whether the server sends mail by which those who come by a link confirm their address. */
  readonly confirmsAddresses: boolean;
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
