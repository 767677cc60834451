import { createHmac, randomBytes } from 'node:crypto';
import { type Clock, DomainError } from '@parley/domain/kernel';

/** What proxies put in place of an address is any text. */
const MAX_ADDRESS_LENGTH = 45;

/** Where addresses come from that one owner can have by the thousand: a /48 of IPv6. IPv4 addresses are dear. */
export function networkOf(ip: string): string | undefined {
  const group = ipGroup(ip);
  return group.endsWith('::/64') ? `${group.split(':').slice(0, 3).join(':')}::/48` : undefined;
}

/** Addresses that are limited together: one IPv4 address, or a /64 of IPv6. */
export function ipGroup(ip: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(ip);
  if (mapped) return mapped[1]!;
  if (!ip.includes(':')) return ip.slice(0, MAX_ADDRESS_LENGTH);
  const [head = '', tail] = ip.toLowerCase().split('%')[0]!.split('::');
  const groups = head === '' ? [] : head.split(':');
  if (tail !== undefined) {
    const after = tail === '' ? [] : tail.split(':');
    while (groups.length + after.length < 8) groups.push('0');
    groups.push(...after);
  }
  return `${groups
    .slice(0, 4)
    .map((group) => group.slice(0, 4).replace(/^0+(?=.)/, ''))
    .join(':')}::/64`;
}

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

/** When one key called: a ring of the last times, and for each quota the first of them that still counts. */
export class CallHistory {
  readonly windowMs: number;
  private readonly capacity: number;
  private readonly smallest: number;
  private times: Float64Array;
  /** Calls ever counted; the ring holds the last ones. */
  private count = 0;
  private readonly firstCounting: number[];

  constructor(readonly quotas: readonly Quota[]) {
    this.windowMs = Math.max(...quotas.map(({ windowSeconds }) => windowSeconds * 1000));
    // One more than counts, so that one can be taken back.
    this.capacity = Math.max(...quotas.map(({ limit }) => limit)) + 1;
    this.smallest = Math.min(...quotas.map(({ limit }) => limit));
    this.times = new Float64Array(Math.min(8, this.capacity));
    this.firstCounting = quotas.map(() => 0);
  }

  /** The same calls, judged by other quotas. */
  under(quotas: readonly Quota[]): CallHistory {
    if (this.quotas === quotas) return this;
    const history = new CallHistory(quotas);
    const known = Math.min(this.count, this.times.length, history.capacity);
    for (let index = this.count - known; index < this.count; index++) history.add(this.at(index));
    return history;
  }

  add(now: number): void {
    if (this.count >= this.times.length && this.times.length < this.capacity) this.grow();
    this.times[this.count % this.times.length] = now;
    this.count++;
  }

  /** As if the last one had not been. */
  undo(): void {
    if (this.count > Math.max(...this.firstCounting)) this.count--;
  }

  /** Nothing counts any more. */
  isExpired(now: number): boolean {
    return this.count === 0 || this.at(this.count - 1) <= now - this.windowMs;
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

export type Key = string | number;

export interface HitOptions {
  /** Replaces the rule's quotas for this key. */
  readonly quotas?: readonly Quota[] | undefined;
  /**
   * Where keys come from that anybody can invent: the address that names a user, the network an address is of. Further
   * keys of a source that has brought many are counted together with others. Absent: the key cannot be invented.
   */
  readonly source?: string | undefined;
}

/** How many counters newcomers share while there is no room for one each. */
const SHARED_COUNTERS = 256;
/** Between two searches for room. */
const SEARCH_MS = 1000;

/** The counters of one rule. Nothing that still counts is dropped, however many others are asked for. */
export class LimitCounters {
  private readonly own: Generations;
  /** How many keys each source has brought. */
  private readonly sources: Generations;
  private readonly shared = new Map<number, CallHistory>();
  private readonly sourceQuotas: readonly Quota[];
  private readonly seed = randomBytes(16);

  constructor(
    private readonly quotas: readonly Quota[],
    { maxKeys, maxKeysPerSource }: { readonly maxKeys: number; readonly maxKeysPerSource: number },
  ) {
    this.own = new Generations(maxKeys);
    this.sources = new Generations(maxKeys);
    const windowSeconds = Math.max(...quotas.map((quota) => quota.windowSeconds));
    this.sourceQuotas = [{ windowSeconds, limit: maxKeysPerSource }];
  }

  /** What the key is counted by, made when it is new. */
  open(key: Key, now: number, { quotas = this.quotas, source }: HitOptions): CallHistory {
    const known = this.own.find(key, quotas, now);
    if (known) return known;
    if (source !== undefined) {
      const keys = this.sources.open(source, this.sourceQuotas, now);
      if (!keys?.stateAt(now).isAllowed) return this.sharedBy(key, quotas);
      keys.add(now);
    }
    return this.own.open(key, quotas, now) ?? this.sharedBy(key, quotas);
  }

  /** What the key is counted by at this moment, if there is such a counter. */
  find(key: Key, now: number, { quotas = this.quotas }: HitOptions): CallHistory | undefined {
    return this.own.find(key, quotas, now) ?? (this.shared.size > 0 ? this.shared.get(this.shardOf(key)) : undefined);
  }

  forget(key: Key, now: number, options: HitOptions): void {
    if (!this.own.delete(key)) this.find(key, now, options)?.undo();
    else if (options.source !== undefined) this.sources.find(options.source, this.sourceQuotas, now)?.undo();
  }

  private sharedBy(key: Key, quotas: readonly Quota[]): CallHistory {
    const shard = this.shardOf(key);
    const history = this.shared.get(shard)?.under(quotas) ?? new CallHistory(quotas);
    this.shared.set(shard, history);
    return history;
  }

  /** Nobody can tell beforehand who shares with whom. */
  private shardOf(key: Key): number {
    return createHmac('sha256', this.seed).update(String(key)).digest().readUInt32LE() % SHARED_COUNTERS;
  }
}

/**
 * Counters by key, up to a maximum. Two generations: what nobody asked for during a whole period is dropped with the
 * older one, in one stroke. A period is at least the longest window, so nothing that still counts is lost.
 */
class Generations {
  private young = new Map<Key, CallHistory>();
  private old = new Map<Key, CallHistory>();
  private periodMs = 0;
  private periodEnd = 0;
  private nextSearch = 0;

  constructor(private readonly maxKeys: number) {}

  find(key: Key, quotas: readonly Quota[], now: number): CallHistory | undefined {
    if (now >= this.periodEnd) this.turn(now);
    const young = this.young.get(key);
    if (young?.quotas === quotas) return young;
    const history = (young ?? this.old.get(key))?.under(quotas);
    if (history) this.keep(key, history);
    return history;
  }

  /** Null when there is no room for a new one. */
  open(key: Key, quotas: readonly Quota[], now: number): CallHistory | null {
    const known = this.find(key, quotas, now);
    if (known) return known;
    if (this.isFull && now >= this.nextSearch) {
      this.nextSearch = now + SEARCH_MS;
      this.dropExpired(now);
    }
    if (this.isFull) return null;
    const history = new CallHistory(quotas);
    this.keep(key, history);
    return history;
  }

  /** Whether it was there. */
  delete(key: Key): boolean {
    const wasYoung = this.young.delete(key);
    return this.old.delete(key) || wasYoung;
  }

  private get isFull(): boolean {
    return this.young.size + this.old.size >= this.maxKeys;
  }

  private keep(key: Key, history: CallHistory): void {
    this.periodMs = Math.max(this.periodMs, history.windowMs);
    this.young.set(key, history);
    this.old.delete(key);
  }

  private dropExpired(now: number): void {
    for (const generation of [this.young, this.old]) {
      for (const [key, history] of generation) if (history.isExpired(now)) generation.delete(key);
    }
  }

  private turn(now: number): void {
    this.old = this.young;
    this.young = new Map();
    this.periodEnd = now + this.periodMs;
  }
}

/** At most `limit` calls in any `windowSeconds`. */
export interface Quota {
  readonly windowSeconds: number;
  readonly limit: number;
}

const DAY = 86_400;

/**
 * Defaults of the API. All quotas of a rule apply. Our own are `events_by_user` and `upload_parts_by_user`, which keep long polls
 * and parts of files from using up everything else, `channel_creation_by_*`, which count channels instead of calls, and `sign_up_form_by_email` and
 * `login_letters_by_user`, which count letters.
 */
export const LIMIT_RULES = {
  api_by_user: [{ windowSeconds: 60, limit: 200 }],
  events_by_user: [{ windowSeconds: 60, limit: 200 }],
  upload_parts_by_user: [{ windowSeconds: 60, limit: 600 }],
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
  sign_up_form_by_email: [
    { windowSeconds: 3600, limit: 2 },
    { windowSeconds: DAY, limit: 5 },
  ],
  login_letters_by_user: [{ windowSeconds: 3600, limit: 5 }],
  sends_email_by_ip: [{ windowSeconds: DAY, limit: 5 }],
  channel_creation_by_user: [{ windowSeconds: DAY, limit: 1000 }],
  channel_creation_by_administrator: [{ windowSeconds: DAY, limit: 10_000 }],
  spectator_attachment_access_by_file: [{ windowSeconds: DAY, limit: 1000 }],
} as const satisfies Readonly<Record<string, readonly Quota[]>>;

export type LimitRule = keyof typeof LIMIT_RULES;

/** Quotas of rules instead of the default ones. */
export interface RateLimitRules extends Partial<Readonly<Record<LimitRule, readonly Quota[]>>> {}

const overrides = new Map<string, readonly Quota[] | undefined>();

/** A user's own quotas, `"60:1000,3600:20000"` (seconds:calls). Undefined when there are none or they cannot be read. */
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

/** Of what an operator sets: each key is counted by as many times as the largest limit says. */
const MAX_CONFIGURED_CALLS = 10_000;
const MAX_CONFIGURED_QUOTAS = 5;

/**
 * What an operator sets, `"api_by_user=60:500,3600:9000 api_by_ip=60:50"` (rule=seconds:calls).
 * @throws Error that says what would be right
 */
export function parseRateLimitRules(text: string): RateLimitRules {
  const rules: Partial<Record<LimitRule, readonly Quota[]>> = {};
  for (const part of text.trim().split(/\s+/)) {
    const [, name = '', value] = /^(\w+)=(.+)$/.exec(part) ?? [];
    const rule = (Object.keys(LIMIT_RULES) as LimitRule[]).find((it) => it === name);
    const quotas = parseQuotas(value);
    if (!rule) throw new Error(`rules as in api_by_user=60:500, each one of ${Object.keys(LIMIT_RULES).join(', ')}`);
    if (!quotas || quotas.length > MAX_CONFIGURED_QUOTAS || quotas.some(({ limit }) => limit > MAX_CONFIGURED_CALLS)) {
      throw new Error(
        `rules as in ${rule}=60:500,3600:9000 (seconds:calls), with at most ${MAX_CONFIGURED_QUOTAS} pairs and ${MAX_CONFIGURED_CALLS} calls`,
      );
    }
    rules[rule] = quotas;
  }
  return rules;
}

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
