import { createHmac, randomBytes } from 'node:crypto';
import { CallHistory } from './call-history.js';
import type { Quota } from './limit-rules.js';

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
