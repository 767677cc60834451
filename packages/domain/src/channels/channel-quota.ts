import type { Actor } from '../users/actor.js';

/**
 * Keeps one account from flooding its organization with channels: so many a day, of which administrators have more. Every
 * channel is in everybody's lists for good.
 */
export interface ChannelQuota {
  /** Before so many are made. @throws DomainError RATE_LIMITED `{ retryAfter }`, in seconds, when fewer are left. */
  check(actor: Actor, count: number): void;
  /** So many were made, and committed. */
  spend(actor: Actor, count: number): void;
}
