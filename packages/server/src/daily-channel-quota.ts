import { type Actor, isAdministrator } from '@parley/domain/access';
import type { ChannelQuota } from '@parley/domain/channels';
import type { Clock } from '@parley/domain/kernel';
import { type LimitRule, type RateLimiter, rateLimited } from '@parley/http';

const ruleFor = (actor: Actor): LimitRule =>
  isAdministrator(actor) ? 'channel_creation_by_administrator' : 'channel_creation_by_user';

/** Counted in memory as calls are: a restart forgets it, and whoever turns rate limits off has no quota either. */
export class DailyChannelQuota implements ChannelQuota {
  static readonly inject = ['limiter', 'clock'] as const;
  constructor(
    private readonly limiter: RateLimiter,
    private readonly clock: Clock,
  ) {}

  spend(actor: Actor, count: number): void {
    if (!this.limiter.isOn) return;
    const rule = ruleFor(actor);
    const state = this.limiter.peek(rule, actor.id);
    if (state.remaining < count) {
      // Where some are left but not enough, the time when all are.
      const untilAll = (state.resetMs - this.clock.nowMs()) / 1000;
      throw rateLimited({ ...state, retryAfterSeconds: state.retryAfterSeconds || untilAll });
    }
    for (let spent = 0; spent < count; spent++) this.limiter.hit(rule, actor.id);
  }

  refund(actor: Actor, count: number): void {
    if (!this.limiter.isOn) return;
    for (let refunded = 0; refunded < count; refunded++) this.limiter.withdraw(ruleFor(actor), actor.id);
  }
}
