import { type Clock, DomainError } from '@parley/domain/kernel';
import { CallHistory, type LimitState } from './call-history.js';
import { type HitOptions, type Key, LimitCounters } from './limit-counters.js';
import { LIMIT_RULES, type LimitRule, type Quota, type RateLimitRules } from './limit-rules.js';

/** What a use case sees: attempts that it counts itself, because in-process callers are to be limited as well. */
export interface AttemptLimiter {
  /**
   * Counts an attempt. `source`: see `HitOptions`. @throws DomainError RATE_LIMITED `{ retryAfter }`, in seconds; such an
   * attempt does not count.
   */
  attempt(rule: LimitRule, key: string | number, source?: string): void;
  /** As if the last attempt had not been. */
  withdraw(rule: LimitRule, key: string | number, source?: string): void;
  /** As if there had been no attempts. */
  forget(rule: LimitRule, key: Key, source?: string): void;
}

const TEXT = 'API usage exceeded rate limit; see https://zulip.com/api/http-headers#rate-limiting-response-headers';

export const rateLimited = ({ retryAfterSeconds }: LimitState) =>
  new DomainError('RATE_LIMITED', TEXT, { retryAfter: retryAfterSeconds });

/** Keys a rule counts one by one, so that invented names and addresses cannot fill the memory. */
const MAX_KEYS = 50_000;
/** Keys that one source can add to a rule in its longest window. */
const MAX_KEYS_PER_SOURCE = 256;

export interface RateLimiterOptions {
  readonly clock: Clock;
  /** Off: everything is allowed and no headers are sent. */
  readonly isOn?: boolean;
  readonly rules?: RateLimitRules;
  readonly maxKeys?: number;
  readonly maxKeysPerSource?: number;
}

const NO_OPTIONS: HitOptions = {};

/**
 * Counts calls in memory, exactly, at constant cost per call. Each process counts for itself. Nobody can make it forget
 * what somebody else has done: when there is no room for another key, newcomers are counted together.
 */
export class RateLimiter implements AttemptLimiter {
  readonly isOn: boolean;
  private readonly clock: Clock;
  private readonly rules: Readonly<Record<LimitRule, readonly Quota[]>>;
  private readonly counters = new Map<LimitRule, LimitCounters>();
  private readonly bounds;

  constructor(options: RateLimiterOptions) {
    this.clock = options.clock;
    this.isOn = options.isOn ?? true;
    this.rules = { ...LIMIT_RULES, ...options.rules };
    const { maxKeys = MAX_KEYS, maxKeysPerSource = MAX_KEYS_PER_SOURCE } = options;
    this.bounds = { maxKeys, maxKeysPerSource };
  }

  /** Counts the call, if it is allowed. */
  hit(rule: LimitRule, key: Key, options: HitOptions = NO_OPTIONS): LimitState {
    const now = this.clock.nowMs();
    const history = this.of(rule).open(key, now, options);
    const state = history.stateAt(now);
    if (!state.isAllowed) return state;
    history.add(now);
    return history.stateAt(now, true);
  }

  /** The state without counting anything. */
  peek(rule: LimitRule, key: Key, options: HitOptions = NO_OPTIONS): LimitState {
    const now = this.clock.nowMs();
    const history = this.of(rule).find(key, now, options) ?? new CallHistory(options.quotas ?? this.rules[rule]);
    return history.stateAt(now);
  }

  attempt(rule: LimitRule, key: Key, source?: string): void {
    if (!this.isOn) return;
    const state = this.hit(rule, key, { source });
    if (!state.isAllowed) throw rateLimited(state);
  }

  withdraw(rule: LimitRule, key: Key, source?: string): void {
    this.of(rule).find(key, this.clock.nowMs(), { source })?.undo();
  }

  forget(rule: LimitRule, key: Key, source?: string): void {
    this.of(rule).forget(key, this.clock.nowMs(), { source });
  }

  /** As if nobody had ever called. */
  forgetAll(): void {
    this.counters.clear();
  }

  private of(rule: LimitRule): LimitCounters {
    let counters = this.counters.get(rule);
    if (!counters) {
      counters = new LimitCounters(this.rules[rule], this.bounds);
      this.counters.set(rule, counters);
    }
    return counters;
  }
}

export const rateLimitHeaders = ({ limit, remaining, resetMs }: LimitState): string[] => [
  'X-RateLimit-Limit',
  String(limit),
  'X-RateLimit-Remaining',
  String(remaining),
  'X-RateLimit-Reset',
  String(Math.ceil(resetMs / 1000)),
];
