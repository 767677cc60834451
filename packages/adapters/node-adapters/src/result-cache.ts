import { type Clock, isDue } from '@parley/domain/kernel';

interface ResultLimits<T> {
  readonly maxCount: number;
  readonly maxBytes: number;
  /** Approximate size of a result in memory. */
  bytesOf(result: T): number;
  /** Time after which a result is loaded again. */
  secondsOf(result: T): number;
}

interface Entry<T> {
  readonly result: Promise<T>;
  readonly bytes: number;
  /** Infinite while the result is loading. */
  readonly expiresAtMs: number;
  readonly validForMs: number;
}

/** Cache of loaded results, bounded by number, bytes and age. Concurrent requests for a key share one load. */
export class ResultCache<T> {
  /** Least recently used first. */
  private readonly entries = new Map<string, Entry<T>>();
  private bytes = 0;

  constructor(
    private readonly clock: Pick<Clock, 'nowMs'>,
    private readonly limits: ResultLimits<T>,
  ) {}

  /** Returns the cached result, or calls `load`. Rejections are not cached. */
  get(key: string, load: () => Promise<T>): Promise<T> {
    const existing = this.entries.get(key);
    if (existing && !isDue(existing.expiresAtMs, this.clock.nowMs(), existing.validForMs)) {
      this.entries.delete(key);
      this.entries.set(key, existing);
      return existing.result;
    }
    const result = load();
    this.put(key, { result, bytes: 0, expiresAtMs: Number.POSITIVE_INFINITY, validForMs: Number.POSITIVE_INFINITY });
    result.then(
      (loaded) => {
        if (this.entries.get(key)?.result !== result) return;
        const { limits } = this;
        const validForMs = limits.secondsOf(loaded) * 1000;
        const expiresAtMs = this.clock.nowMs() + validForMs;
        this.put(key, { result, bytes: limits.bytesOf(loaded), expiresAtMs, validForMs });
      },
      () => {
        if (this.entries.get(key)?.result === result) this.remove(key);
      },
    );
    return result;
  }

  private put(key: string, entry: Entry<T>): void {
    this.remove(key);
    this.entries.set(key, entry);
    this.bytes += entry.bytes;
    for (const oldest of this.entries.keys()) {
      if (this.entries.size <= this.limits.maxCount && this.bytes <= this.limits.maxBytes) return;
      this.remove(oldest);
    }
  }

  private remove(key: string): void {
    this.bytes -= this.entries.get(key)?.bytes ?? 0;
    this.entries.delete(key);
  }
}
