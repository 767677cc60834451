import { register } from 'node:module';
import type { Planting } from './hook.js';

/** Plays seeds with a planted fault until an invariant fails, and prints how it was found. */
const {
  planting,
  nodes,
  seeds,
  shrinks = true,
} = JSON.parse(process.argv[2]!) as {
  planting: Planting;
  nodes?: number;
  seeds: number;
  shrinks?: boolean;
};
register('./hook.js', import.meta.url, { data: planting });
const { plan, run } = await import('../simulate.js');
const { shrink } = await import('../shrink.js');
/** Steps that are few enough to read. */
const FEW_STEPS = 30;
const WEEK = { days: 3, people: 4, faults: 1 };

for (let seed = 1; seed <= seeds; seed++) {
  const options = { seed, people: WEEK.people, ...(nodes !== undefined && { nodes }) };
  const planned = plan({ seed, ...WEEK });
  const { violation, steps } = await run({ ...options, steps: planned });
  if (!violation) continue;
  const { invariant } = violation;
  const failing = planned.slice(0, steps);
  const kept = shrinks ? await shrink({ ...options, steps: failing, invariant }, run, FEW_STEPS) : failing;
  console.log(`${invariant}, seed ${seed}, step ${steps}, shrunk to ${kept.length}`);
  process.exit(0);
}
