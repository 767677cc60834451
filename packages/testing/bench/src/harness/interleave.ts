import { recordOf } from '@parley/domain/kernel';

export type Contender = () => Promise<number>;

/** Results of each contender by round. */
export type Rounds<Name extends string> = Readonly<Record<Name, readonly number[]>>;

/**
 * Alternates contenders, so that other load affects all equally; the order is reversed each round. The first round
 * warms caches and the compiler and is dropped.
 */
export async function interleave<Name extends string>(
  rounds: number,
  contenders: Readonly<Record<Name, Contender>>,
): Promise<Rounds<Name>> {
  const names = Object.keys(contenders) as Name[];
  const measured = recordOf(names, (): number[] => []);
  for (let round = 0; round <= rounds; round++) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const figure = await contenders[name]();
      if (round > 0) measured[name].push(figure);
    }
  }
  return measured;
}

/** @throws Error without values */
export function median(values: readonly number[]): number {
  if (values.length === 0) throw new Error('There is no median of an empty list');
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** Median of the per-round ratios, since a slow round affects both sides. */
export function medianRatio(ours: readonly number[], limit: readonly number[]): number {
  return median(ours.map((figure, round) => figure / limit[round]!));
}
