import { register } from 'node:module';
import type { Planting } from './hook.js';

/** Plays seeds with a planted fault until an invariant fails, and prints how it was found. */
const { planting, nodes, seeds } = JSON.parse(process.argv[2]!) as {
  planting: Planting;
  nodes?: number;
  seeds: number;
};
register('./hook.js', import.meta.url, { data: planting });
const { plan, run } = await import('../simulate.js');
const WEEK = { days: 3, people: 4, faults: 1 };

for (let seed = 1; seed <= seeds; seed++) {
  const { violation, steps } = await run({
    ...{ seed, people: WEEK.people, steps: plan({ seed, ...WEEK }) },
    ...(nodes !== undefined && { nodes }),
  });
  if (!violation) continue;
  console.log(`${violation.invariant}, seed ${seed}, step ${steps}`);
  process.exit(0);
}
