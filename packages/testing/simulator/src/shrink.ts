import type { Step } from './faults.js';
import { type Outcome, type RunOptions, run } from './simulate.js';

export interface Failing {
  readonly seed: number;
  readonly people: number;
  readonly nodes?: number;
  readonly steps: readonly Step[];
  /** Name of the invariant that fails. */
  readonly invariant: string;
}

/** Maximum number of runs. */
const MAX_RUNS = 300;

/**
 * Removes steps for as long as the same invariant fails (delta debugging): first halves, last single steps.
 * @param enough Number of steps that need no more shrinking.
 */
export async function shrink(
  { seed, people, nodes, steps, invariant }: Failing,
  play: (options: RunOptions) => Promise<Pick<Outcome, 'steps' | 'violation'>> = run,
  enough = 1,
): Promise<readonly Step[]> {
  let runs = 0;
  /** The steps up to the failing one; null if the invariant holds. */
  const failing = async (candidate: readonly Step[]): Promise<readonly Step[] | null> => {
    runs++;
    const outcome = await play({ seed, people, steps: candidate, ...(nodes !== undefined && { nodes }) });
    return outcome.violation?.invariant === invariant ? candidate.slice(0, outcome.steps) : null;
  };
  let kept = steps;
  for (let size = Math.ceil(kept.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let start = 0; start < kept.length && kept.length > enough && runs < MAX_RUNS; ) {
      const fewer = await failing([...kept.slice(0, start), ...kept.slice(start + size)]);
      if (fewer) kept = fewer;
      else start += size;
    }
  }
  return kept;
}

/** Test that repeats a run, for pasting. `call`: start of the call with the run's options. */
export function testOf({ seed, people, nodes, steps, invariant }: Failing, call = 'run({'): string {
  const lines = steps.map((step) => `      ${JSON.stringify(step)},`);
  return [
    `it(${JSON.stringify(`keeps the invariant "${invariant}" (seed ${seed})`)}, async () => {`,
    `  const { violation } = await ${call}`,
    `    seed: ${seed},`,
    `    people: ${people},`,
    ...(nodes !== undefined && nodes > 1 ? [`    nodes: ${nodes},`] : []),
    '    steps: [',
    ...lines,
    '    ],',
    '  });',
    '  expect(violation).toBeNull();',
    '});',
  ].join('\n');
}
