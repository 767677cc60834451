import type { Randomness } from '@parley/domain/kernel';

/** Deterministic random number generator (mulberry32). Predictable, so for demo data only. */
export class SeededRandom implements Randomness {
  constructor(private state: number) {}

  fraction(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }

  /** Returns an integer from 0 (inclusive) to `limit` (exclusive). */
  below(limit: number): number {
    return Math.floor(this.fraction() * limit);
  }

  pick<T>(values: readonly T[]): T {
    return values[this.below(values.length)]!;
  }

  uuid(): string {
    const hex = (digits: number) => Array.from({ length: digits }, () => this.below(16).toString(16)).join('');
    const variant = (8 + this.below(4)).toString(16);
    return `${hex(8)}-${hex(4)}-4${hex(3)}-${variant}${hex(3)}-${hex(12)}`;
  }
}
