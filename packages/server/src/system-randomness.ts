import { randomInt, randomUUID } from 'node:crypto';
import type { Randomness } from '@parley/domain/kernel';

/** The largest range `randomInt` draws from. */
const RANGE = 2 ** 48 - 1;

/** Unpredictable, since queue ids and the like are guarded by nothing else. */
export class SystemRandomness implements Randomness {
  uuid(): string {
    return randomUUID();
  }

  fraction(): number {
    return randomInt(RANGE) / RANGE;
  }
}
