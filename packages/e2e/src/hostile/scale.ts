/** `npm run endurance` sets both; see `endurance/main.ts`. */
const { HOSTILE_LOAD: load, HOSTILE_SEED: seed } = process.env;

/** A seed repeats everything that chance decides. */
export const SEED = seed === undefined ? 1 : Number(seed);

export const IS_LONG = load === 'long';

/** Sizes and times as in CI, or as in an endurance run. */
export const size = (short: number, long: number): number => (IS_LONG ? long : short);
