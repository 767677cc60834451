import { type Clock, DomainError } from '@parley/domain';

/** At most `limit` calls in any `windowSeconds`. */
export interface Quota {
  readonly windowSeconds: number;
  readonly limit: number;
}

const DAY = 86_400;

/**
 * Defaults of the API. All quotas of a rule apply. Our own are `events_by_user`, which keeps long polls from using up
 * everything else, and `channel_creation_by_*`, which count channels instead of calls.
 */
export const LIMIT_RULES = {
  api_by_user: [{ windowSeconds: 60, limit: 200 }],
  events_by_user: [{ windowSeconds: 60, limit: 200 }],
  api_by_ip: [{ windowSeconds: 60, limit: 100 }],
  authenticate_by_username: [{ windowSeconds: 1800, limit: 5 }],
  email_change_by_user: [
    { windowSeconds: 3600, limit: 2 },
    { windowSeconds: DAY, limit: 5 },
  ],
  password_reset_form_by_email: [
    { windowSeconds: 3600, limit: 2 },
    { windowSeconds: DAY, limit: 5 },
  ],
  sends_email_by_ip: [{ windowSeconds: DAY, limit: 5 }],
  channel_creation_by_user: [{ windowSeconds: DAY, limit: 1000 }],
  channel_creation_by_administrator: [{ windowSeconds: DAY, limit: 10_000 }],
  spectator_attachment_access_by_file: [{ windowSeconds: DAY, limit: 1000 }],
} as const satisfies Readonly<Record<string, readonly Quota[]>>;

export type LimitRule = keyof typeof LIMIT_RULES;

export interface LimitState {
  readonly isAllowed: boolean;
  /** The smallest limit of the rule. */
  readonly limit: number;
  readonly remaining: number;
  /** When the quota is full again, in milliseconds since the epoch. */
  readonly resetMs: number;
  /** Until the next call is allowed; 0 when it is allowed now. */
  readonly retryAfterSeconds: number;
}

/** What a use case sees: attempts that it counts itself, because in-process callers are to be limited as well. */
export interface AttemptLimiter {
  /** Counts an attempt. @throws DomainError RATE_LIMITED `{ retryAfter }`, in seconds; such an attempt does not count. */
  attempt(rule: LimitRule, key: string): void;
  /** As if there had been no attempts. */
  forget(rule: LimitRule, key: string): void;
}

const TEXT = 'API usage exceeded rate limit; see https://zulip.com/api/http-headers#rate-limiting-response-headers';

export const rateLimited = ({ retryAfterSeconds }: LimitState) =>
  new DomainError('RATE_LIMITED', TEXT, { retryAfter: retryAfterSeconds });

/** Bound on the keys a rule remembers, so that invented names and addresses cannot fill the memory. */
const MAX_KEYS = 50_000;

export interface RateLimiterOptions {
  readonly clock: Clock;
  /** Off: everything is allowed and no headers are sent. */
  readonly isOn?: boolean;
  readonly rules?: Partial<Readonly<Record<LimitRule, readonly Quota[]>>>;
  readonly maxKeys?: number;
}

/** Counts calls in memory, exactly, at constant cost per call. Each process counts for itself. */
export class RateLimiter implements AttemptLimiter {
  readonly isOn: boolean;
  private readonly clock: Clock;
  private readonly rules: Readonly<Record<LimitRule, readonly Quota[]>>;
  private readonly histories = new Map<LimitRule, Histories>();
  private readonly maxKeys: number;

  constructor({ clock, isOn = true, rules, maxKeys = MAX_KEYS }: RateLimiterOptions) {
    this.clock = clock;
    this.isOn = isOn;
    this.rules = { ...LIMIT_RULES, ...rules };
    this.maxKeys = maxKeys;
  }

  /** Counts the call, if it is allowed. `override` replaces the rule's quotas for this key. */
  hit(rule: LimitRule, key: string | number, override?: readonly Quota[]): LimitState {
    const now = this.clock.nowMs();
    const history = this.historyOf(rule, key, override, now);
    const state = history.stateAt(now);
    if (!state.isAllowed) return state;
    history.add(now);
    return history.stateAt(now, true);
  }

  /** The state without counting anything. */
  peek(rule: LimitRule, key: string | number, override?: readonly Quota[]): LimitState {
    const now = this.clock.nowMs();
    return this.historyOf(rule, key, override, now).stateAt(now);
  }

  attempt(rule: LimitRule, key: string): void {
    if (!this.isOn) return;
    const state = this.hit(rule, key);
    if (!state.isAllowed) throw rateLimited(state);
  }

  forget(rule: LimitRule, key: string | number): void {
    this.histories.get(rule)?.delete(key);
  }

  private historyOf(
    rule: LimitRule,
    key: string | number,
    override: readonly Quota[] | undefined,
    now: number,
  ): History {
    let histories = this.histories.get(rule);
    if (!histories) {
      histories = new Histories(this.maxKeys);
      this.histories.set(rule, histories);
    }
    return histories.of(key, override ?? this.rules[rule], now);
  }
}

/**
 * Two generations: what nobody asked for during a whole period is dropped with the older one, in one stroke. A period is
 * at least the longest window, so nothing that still counts is lost, unless there are more keys than the bound.
 */
class Histories {
  private young = new Map<string | number, History>();
  private old = new Map<string | number, History>();
  private periodMs = 0;
  private periodEnd = 0;

  constructor(private readonly maxKeys: number) {}

  of(key: string | number, quotas: readonly Quota[], now: number): History {
    if (now >= this.periodEnd || this.young.size >= this.maxKeys) this.turn(now);
    let history = this.young.get(key);
    if (history && history.quotas === quotas) return history;
    history ??= this.old.get(key);
    history = history ? history.under(quotas) : new History(quotas);
    this.periodMs = Math.max(this.periodMs, history.windowMs);
    this.young.set(key, history);
    return history;
  }

  delete(key: string | number): void {
    this.young.delete(key);
    this.old.delete(key);
  }

  private turn(now: number): void {
    this.old = this.young;
    this.young = new Map();
    this.periodEnd = now + this.periodMs;
  }
}

/** When one key called: a ring of the last times, and for each quota the first of them that still counts. */
class History {
  readonly windowMs: number;
  private readonly capacity: number;
  private readonly smallest: number;
  private times: Float64Array;
  /** Calls ever counted; the ring holds the last ones. */
  private count = 0;
  private readonly firstCounting: number[];

  constructor(readonly quotas: readonly Quota[]) {
    this.windowMs = Math.max(...quotas.map(({ windowSeconds }) => windowSeconds * 1000));
    this.capacity = Math.max(...quotas.map(({ limit }) => limit));
    this.smallest = Math.min(...quotas.map(({ limit }) => limit));
    this.times = new Float64Array(Math.min(8, this.capacity));
    this.firstCounting = quotas.map(() => 0);
  }

  /** The same calls, judged by other quotas. */
  under(quotas: readonly Quota[]): History {
    if (this.quotas === quotas) return this;
    const history = new History(quotas);
    const known = Math.min(this.count, this.times.length, history.capacity);
    for (let index = this.count - known; index < this.count; index++) history.add(this.at(index));
    return history;
  }

  add(now: number): void {
    if (this.count >= this.times.length && this.times.length < this.capacity) this.grow();
    this.times[this.count % this.times.length] = now;
    this.count++;
  }

  /** `isCounted`: the call that asks is among them, and was allowed. */
  stateAt(now: number, isCounted = false): LimitState {
    let remaining = Number.POSITIVE_INFINITY;
    let retryAfterMs = 0;
    for (const [index, { windowSeconds, limit }] of this.quotas.entries()) {
      const windowMs = windowSeconds * 1000;
      let first = Math.max(this.firstCounting[index]!, this.count - this.times.length);
      while (first < this.count && this.at(first) <= now - windowMs) first++;
      this.firstCounting[index] = first;
      const left = Math.max(0, limit - (this.count - first));
      remaining = Math.min(remaining, left);
      if (left === 0 && !isCounted) {
        const freeing = Math.max(first, this.count - limit); // limits may have shrunk since
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

const overrides = new Map<string, readonly Quota[] | undefined>();

/** A user's own quotas, `"60:1000,3600:20000"` (seconds:calls). Undefined when there are none or they make no sense. */
export function parseQuotas(text: string | undefined): readonly Quota[] | undefined {
  if (!text) return undefined;
  if (!overrides.has(text)) {
    if (overrides.size >= 1000) overrides.clear();
    const quotas = text.split(',').map((part) => {
      const [, windowSeconds, limit] = /^\s*(\d{1,9}):(\d{1,6})\s*$/.exec(part) ?? [];
      return { windowSeconds: Number(windowSeconds), limit: Number(limit) };
    });
    const makesSense = quotas.every(({ windowSeconds, limit }) => windowSeconds > 0 && limit > 0);
    overrides.set(text, makesSense ? quotas : undefined);
  }
  return overrides.get(text);
}

/** Addresses that are limited together: one IPv4 address, or a /64 of IPv6. */
export function ipGroup(ip: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(ip);
  if (mapped) return mapped[1]!;
  if (!ip.includes(':')) return ip;
  const [head = '', tail] = ip.toLowerCase().split('%')[0]!.split('::');
  const groups = head === '' ? [] : head.split(':');
  if (tail !== undefined) {
    const after = tail === '' ? [] : tail.split(':');
    while (groups.length + after.length < 8) groups.push('0');
    groups.push(...after);
  }
  return `${groups
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':')}::/64`;
}

export const rateLimitHeaders = ({ limit, remaining, resetMs }: LimitState): string[] => [
  'X-RateLimit-Limit',
  String(limit),
  'X-RateLimit-Remaining',
  String(remaining),
  'X-RateLimit-Reset',
  String(Math.ceil(resetMs / 1000)),
];
