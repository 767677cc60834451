import { createHmac, randomBytes } from 'node:crypto';
import { type Clock, type CountedCalls, DomainError, hasPassed } from '@parley/domain/kernel';
import { LIMIT_RULES, type LimitRule, type Quota, type RateLimitRules } from './rules.js';

export interface LimitState {
  readonly isAllowed: boolean;
  /** Smallest quota of the rule. */
  readonly limit: number;
  readonly remaining: number;
  /** Time at which the full quota is available again, in milliseconds since the epoch. */
  readonly resetMs: number;
  /** Time until the next call is allowed; 0 if it is allowed now. */
  readonly retryAfterSeconds: number;
}

/** Call times of one key in a ring buffer, with the oldest position still counted by each quota. */
export class CallHistory {
  readonly windowMs: number;
  private readonly capacity: number;
  private readonly smallest: number;
  private times: Float64Array;
  /** Total number of calls counted so far; the ring holds the latest ones. */
  private count = 0;
  private readonly firstCounting: number[];

  constructor(readonly quotas: readonly Quota[]) {
    this.windowMs = Math.max(...quotas.map(({ windowSeconds }) => windowSeconds * 1000));
    // One extra slot, so that a call can be undone.
    this.capacity = Math.max(...quotas.map(({ limit }) => limit)) + 1;
    this.smallest = Math.min(...quotas.map(({ limit }) => limit));
    this.times = new Float64Array(Math.min(8, this.capacity));
    this.firstCounting = quotas.map(() => 0);
  }

  /** Returns a history of the same calls with different quotas. */
  under(quotas: readonly Quota[]): CallHistory {
    if (this.quotas === quotas) return this;
    const history = new CallHistory(quotas);
    const size = Math.min(this.count, this.times.length, history.capacity);
    for (let index = this.count - size; index < this.count; index++) history.add(this.at(index));
    return history;
  }

  add(now: number): void {
    if (this.count >= this.times.length && this.times.length < this.capacity) this.grow();
    this.times[this.count % this.times.length] = now;
    this.count++;
  }

  /** Removes the latest call. */
  undo(): void {
    if (this.count > Math.max(...this.firstCounting)) this.count--;
  }

  /** True if no call counts towards a quota. */
  isExpired(now: number): boolean {
    return this.count === 0 || hasPassed(this.at(this.count - 1), this.windowMs, now);
  }

  /** @param isCounted true if the current call was allowed and is included */
  stateAt(now: number, isCounted = false): LimitState {
    let remaining = Number.POSITIVE_INFINITY;
    let retryAfterMs = 0;
    for (const [index, { windowSeconds, limit }] of this.quotas.entries()) {
      const windowMs = windowSeconds * 1000;
      let first = Math.max(this.firstCounting[index]!, this.count - this.times.length);
      while (first < this.count && hasPassed(this.at(first), windowMs, now)) first++;
      this.firstCounting[index] = first;
      const left = Math.max(0, limit - (this.count - first));
      remaining = Math.min(remaining, left);
      if (left === 0 && !isCounted) {
        const freeing = Math.max(first, this.count - limit); // limits may have shrunk since then
        const freeMs = limit > 0 ? this.at(freeing) + windowMs - now : windowMs;
        retryAfterMs = Math.max(retryAfterMs, freeMs);
      }
    }
    const resetMs = this.count === 0 ? now : Math.max(now, this.at(this.count - 1) + this.windowMs);
    return {
      isAllowed: isCounted || remaining > 0,
      limit: this.smallest,
      remaining,
      resetMs,
      retryAfterSeconds: retryAfterMs / 1000,
    };
  }

  private at(index: number): number {
    return this.times[index % this.times.length]!;
  }

  private grow(): void {
    const larger = new Float64Array(Math.min(this.capacity, this.times.length * 2));
    for (let index = this.count - this.times.length; index < this.count; index++) {
      larger[index % larger.length] = this.at(index);
    }
    this.times = larger;
  }
}

export type Key = string | number;

export interface HitOptions {
  /** Replaces the rule's quotas for this key. */
  readonly quotas?: readonly Quota[] | undefined;
  /**
   * Source of keys that callers can invent: the caller's address for user names, or the network for addresses. Excess
   * keys of one source share counters. Absent if the key cannot be invented.
   */
  readonly source?: string | undefined;
}

/** Number of shared counters for keys without their own. */
const SHARED_COUNTERS = 256;
/** Minimum interval between searches for free counters. */
const SEARCH_MS = 1000;

/** Counters of one rule. Never drops an active counter, even under a flood of keys. */
export class LimitCounters {
  private readonly own: KeptCounters;
  /** Number of keys per source. */
  private readonly sources: KeptCounters;
  private readonly shared = new Map<number, CallHistory>();
  private readonly sourceQuotas: readonly Quota[];
  private readonly seed = randomBytes(16);

  constructor(
    private readonly quotas: readonly Quota[],
    { maxKeys, maxKeysPerSource }: { readonly maxKeys: number; readonly maxKeysPerSource: number },
  ) {
    const windowSeconds = Math.max(...quotas.map((quota) => quota.windowSeconds));
    this.own = new KeptCounters(maxKeys, windowSeconds * 1000);
    this.sources = new KeptCounters(maxKeys, windowSeconds * 1000);
    this.sourceQuotas = [{ windowSeconds, limit: maxKeysPerSource }];
  }

  /** Returns the counter of a key and creates it if new. */
  open(key: Key, now: number, { quotas = this.quotas, source }: HitOptions = {}): CallHistory {
    const existing = this.own.find(key, quotas);
    if (existing) return existing;
    if (source !== undefined) {
      const keys = this.sources.open(source, this.sourceQuotas, now);
      if (!keys?.stateAt(now).isAllowed) return this.sharedBy(key, quotas);
      keys.add(now);
    }
    return this.own.open(key, quotas, now) ?? this.sharedBy(key, quotas);
  }

  /** Returns the current counter of a key, if any. */
  find(key: Key, { quotas = this.quotas }: HitOptions = {}): CallHistory | undefined {
    return this.own.find(key, quotas) ?? (this.shared.size > 0 ? this.shared.get(this.shardOf(key)) : undefined);
  }

  forget(key: Key, { source }: HitOptions = {}): void {
    if (!this.own.delete(key)) this.find(key)?.undo();
    else if (source !== undefined) this.sources.find(source, this.sourceQuotas)?.undo();
  }

  forgetStarting(prefix: string): void {
    this.own.deleteStarting(prefix);
  }

  private sharedBy(key: Key, quotas: readonly Quota[]): CallHistory {
    const shard = this.shardOf(key);
    const history = this.shared.get(shard)?.under(quotas) ?? new CallHistory(quotas);
    this.shared.set(shard, history);
    return history;
  }

  /** Assigns shared counters unpredictably, so that callers cannot choose whom they affect. */
  private shardOf(key: Key): number {
    return createHmac('sha256', this.seed).update(String(key)).digest().readUInt32LE() % SHARED_COUNTERS;
  }
}

/** Bounded map of counters. Expired ones are dropped once per window, and more often if the map is full. */
class KeptCounters {
  private readonly histories = new Map<Key, CallHistory>();
  private searchedAt = 0;

  constructor(
    private readonly maxKeys: number,
    private readonly windowMs: number,
  ) {}

  find(key: Key, quotas: readonly Quota[]): CallHistory | undefined {
    const existing = this.histories.get(key);
    if (!existing || existing.quotas === quotas) return existing;
    const history = existing.under(quotas);
    this.histories.set(key, history);
    return history;
  }

  /** Returns null if there is no space for a new counter. */
  open(key: Key, quotas: readonly Quota[], now: number): CallHistory | null {
    const existing = this.find(key, quotas);
    if (existing) return existing;
    if (now >= this.searchedAt + (this.isFull ? SEARCH_MS : this.windowMs)) this.dropExpired(now);
    if (this.isFull) return null;
    const history = new CallHistory(quotas);
    this.histories.set(key, history);
    return history;
  }

  /** Returns true if the key existed. */
  delete(key: Key): boolean {
    return this.histories.delete(key);
  }

  deleteStarting(prefix: string): void {
    for (const key of this.histories.keys()) if (String(key).startsWith(prefix)) this.histories.delete(key);
  }

  private get isFull(): boolean {
    return this.histories.size >= this.maxKeys;
  }

  private dropExpired(now: number): void {
    this.searchedAt = now;
    for (const [key, history] of this.histories) if (history.isExpired(now)) this.histories.delete(key);
  }
}

const TEXT = 'API usage exceeded rate limit; see https://zulip.com/api/http-headers#rate-limiting-response-headers';

export const rateLimited = ({ retryAfterSeconds }: LimitState) =>
  new DomainError('RATE_LIMITED', TEXT, { retryAfter: retryAfterSeconds });

/** Calls of a key not yet reported to other servers. */
interface Uncommunicated {
  calls: number;
  readonly isReset: boolean;
}

/** Used share of a quota above which the use is reported to other servers; one call of a small quota suffices. */
const TOLD_SHARE = 1 / 8;
/** Rules for which even the first call is reported. */
const TOLD_AT_ONCE: ReadonlySet<LimitRule> = new Set<LimitRule>([
  'authenticate_by_username',
  'authenticate_from_known_network',
  'failed_logins_by_username',
  'failed_logins_from_known_network',
  'failed_logins_by_ip',
  'channel_creation_by_user',
  'channel_creation_by_administrator',
]);

/** Maximum number of individual counters per rule, so that invented keys cannot exhaust memory. */
const MAX_KEYS = 50_000;
/** Maximum number of new keys per source and rule in the longest window. */
const MAX_KEYS_PER_SOURCE = 256;

export interface RateLimiterOptions {
  readonly clock: Clock;
  /** If false, allows all calls and sends no headers. */
  readonly isOn?: boolean;
  readonly rules?: RateLimitRules;
  readonly maxKeys?: number;
  readonly maxKeysPerSource?: number;
}

/**
 * Exact in-memory call limiter with constant cost per call. Servers of one database exchange their counts. A flood of keys cannot evict active
 * counters; excess keys share counters instead.
 */
export class RateLimiter {
  readonly isOn: boolean;
  private readonly clock: Clock;
  private readonly rules: Readonly<Record<LimitRule, readonly Quota[]>>;
  private readonly counters = new Map<LimitRule, LimitCounters>();
  private readonly untold = new Map<LimitRule, Map<Key, Uncommunicated>>();
  private hasReset = false;
  private readonly bounds;

  constructor(options: RateLimiterOptions) {
    this.clock = options.clock;
    this.isOn = options.isOn ?? true;
    this.rules = { ...LIMIT_RULES, ...options.rules };
    const { maxKeys = MAX_KEYS, maxKeysPerSource = MAX_KEYS_PER_SOURCE } = options;
    this.bounds = { maxKeys, maxKeysPerSource };
  }

  /** Counts the call if it is allowed. */
  hit(rule: LimitRule, key: Key, options: HitOptions = {}): LimitState {
    const now = this.clock.nowMs();
    const history = this.of(rule).open(key, now, options);
    const state = history.stateAt(now);
    if (!state.isAllowed) return state;
    history.add(now);
    this.note(rule, key, 1);
    return history.stateAt(now, true);
  }

  /**
   * Returns at most `limit` counts for other servers to add, each once. Omits counts of little-used keys, because most
   * callers use a small share of their quota.
   */
  takeCounts(limit: number): readonly CountedCalls[] {
    const now = this.clock.nowMs();
    const taken: CountedCalls[] = [];
    for (const [rule, keys] of this.untold) {
      const quotas = this.rules[rule];
      const expiresAt = Math.ceil(now / 1000) + Math.max(...quotas.map(({ windowSeconds }) => windowSeconds));
      for (const [key, { calls, isReset }] of keys) {
        const state = this.of(rule).find(key)?.stateAt(now);
        const share = TOLD_AT_ONCE.has(rule) ? 0 : TOLD_SHARE;
        const isTold = isReset || (state && state.limit - state.remaining >= state.limit * share);
        // Keeps counts that have not expired and are too small to report.
        if (!isTold && state && state.remaining < state.limit) continue;
        if (isTold && taken.length >= limit) return taken;
        keys.delete(key);
        if (isTold && (calls !== 0 || isReset))
          taken.push({ rule, key: JSON.stringify(key), calls, isReset, expiresAt });
      }
    }
    return taken;
  }

  /** True once after a reset without individual keys; stored counts must be removed. */
  takeReset(): boolean {
    const isReset = this.hasReset;
    this.hasReset = false;
    return isReset;
  }

  /** Adds calls counted by another server. */
  addCounts({ rule, key: text, calls, isReset }: CountedCalls): void {
    // A server with another version may have other rules.
    if (!Object.hasOwn(this.rules, rule)) return;
    const key = JSON.parse(text) as Key;
    const now = this.clock.nowMs();
    const counters = this.of(rule as LimitRule);
    if (isReset) counters.forget(key);
    for (let call = 0; call < calls; call++) counters.open(key, now).add(now);
    for (let call = 0; call > calls; call--) counters.find(key)?.undo();
  }

  /** Records a change for other servers. */
  private note(rule: LimitRule, key: Key, calls: number, isReset = false): void {
    if (!this.isOn) return;
    let keys = this.untold.get(rule);
    if (!keys) {
      keys = new Map();
      this.untold.set(rule, keys);
    }
    const noted = keys.get(key);
    if (!noted || isReset) keys.set(key, { calls, isReset });
    else noted.calls += calls;
  }

  /** Returns the state without counting. */
  peek(rule: LimitRule, key: Key): LimitState {
    const history = this.of(rule).find(key) ?? new CallHistory(this.rules[rule]);
    return history.stateAt(this.clock.nowMs());
  }

  /**
   * Counts an attempt of a use case. `source`: see `HitOptions`. @throws DomainError RATE_LIMITED `{ retryAfter }` in
   * seconds; rejected attempts do not count
   */
  attempt(rule: LimitRule, key: Key, source?: string): void {
    if (!this.isOn) return;
    const state = this.hit(rule, key, { source });
    if (!state.isAllowed) throw rateLimited(state);
  }

  /** Removes the latest attempt. */
  withdraw(rule: LimitRule, key: Key): void {
    this.of(rule).find(key)?.undo();
    this.note(rule, key, -1);
  }

  /** Removes all attempts of a key. */
  forget(rule: LimitRule, key: Key, source?: string): void {
    this.of(rule).forget(key, { source });
    this.note(rule, key, 0, true);
  }

  /** Removes all attempts of keys that begin with the prefix. */
  forgetStarting(rule: LimitRule, prefix: string): void {
    this.hasReset = true;
    this.of(rule).forgetStarting(prefix);
    for (const [key, noted] of this.untold.get(rule) ?? []) {
      if (String(key).startsWith(prefix)) noted.calls = 0;
    }
  }

  /** Clears all counters. */
  forgetAll(): void {
    this.counters.clear();
    this.untold.clear();
    this.hasReset = true;
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
