import type { Randomness } from '@parley/domain/kernel';

/** Deterministic randomness (mulberry32). */
export class SeededRandomness implements Randomness {
  constructor(private state = 1) {}

  fraction(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  uuid(): string {
    const digits = Array.from({ length: 32 }, () => this.below(16).toString(16));
    digits[12] = '4';
    digits[16] = '89ab'[this.below(4)]!;
    return [
      [0, 8],
      [8, 12],
      [12, 16],
      [16, 20],
      [20, 32],
    ]
      .map(([a, b]) => digits.slice(a, b).join(''))
      .join('-');
  }

  private below(limit: number): number {
    return Math.floor(this.fraction() * limit);
  }
}
