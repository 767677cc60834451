import type { Quota } from './limit-rules.js';

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
