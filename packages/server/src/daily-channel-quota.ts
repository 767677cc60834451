import type { ChannelQuota } from '@parley/domain/channels';
import type { Clock } from '@parley/domain/shared';
import { type Actor, isAdministrator } from '@parley/domain/users';
import { type LimitRule, type RateLimiter, rateLimited } from '@parley/http';

const ruleFor = (actor: Actor): LimitRule =>
  isAdministrator(actor) ? 'channel_creation_by_administrator' : 'channel_creation_by_user';

/** Counted in memory as calls are: a restart forgets it, and whoever turns rate limits off has no quota either. */
export class DailyChannelQuota implements ChannelQuota {
  constructor(
    private readonly limiter: RateLimiter,
    private readonly clock: Clock,
  ) {}

  check(actor: Actor, count: number): void {
    if (!this.limiter.isOn) return;
    const state = this.limiter.peek(ruleFor(actor), actor.id);
    if (state.remaining >= count) return;
    // Where some are left but not enough, the time when all are.
    const untilAll = (state.resetMs - this.clock.nowMs()) / 1000;
    throw rateLimited({ ...state, retryAfterSeconds: state.retryAfterSeconds || untilAll });
  }

  spend(actor: Actor, count: number): void {
    if (!this.limiter.isOn) return;
    for (let spent = 0; spent < count; spent++) this.limiter.hit(ruleFor(actor), actor.id);
  }
}
