import { randomBytes } from 'node:crypto';

/** Returns the seed of a new row, see `Seed`. */
export const newSeed = (): string => randomBytes(16).toString('hex');
