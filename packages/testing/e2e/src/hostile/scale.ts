/** Set by `npm run endurance`; see `endurance/main.ts`. */
const { HOSTILE_LOAD: load, HOSTILE_SEED: seed, HOSTILE_MINUTES: minutes } = process.env;

/** Seed of all random decisions. */
export const SEED = seed === undefined ? 1 : Number(seed);

export const IS_LONG = load === 'long';

/** Attack duration in `member-at-limits.test.ts`. */
export const ATTACK_MINUTES = minutes === undefined ? 0.25 : Number(minutes);

/** Returns the size for CI or for an endurance run. */
export const size = (short: number, long: number): number => (IS_LONG ? long : short);
