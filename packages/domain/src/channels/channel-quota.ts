import type { Actor } from '../access/actor.js';

/**
 * Keeps one account from flooding its organization with channels: so many a day, of which administrators have more. Every
 * channel is in everybody's lists for good.
 */
export interface ChannelQuota {
  /**
   * Counts so many, before they are made. Counts none when fewer are left.
   * @throws DomainError RATE_LIMITED `{ retryAfter }`, in seconds
   */
  spend(actor: Actor, count: number): void;
  /** So many of those that were counted were not made after all. */
  refund(actor: Actor, count: number): void;
}
