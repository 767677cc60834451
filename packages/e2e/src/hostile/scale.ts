/** Set by `npm run endurance`; see `endurance/main.ts`. */
const { HOSTILE_LOAD: load, HOSTILE_SEED: seed } = process.env;

/** Seed of all random decisions. */
export const SEED = seed === undefined ? 1 : Number(seed);

export const IS_LONG = load === 'long';

/** Returns the size for CI or for an endurance run. */
export const size = (short: number, long: number): number => (IS_LONG ? long : short);
