import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { callsInto } from './derived/calls.js';
import { Coverage, type Covered, nameOf } from './derived/coverage.js';
import { EVENT_KINDS, ROUTES } from './derived/routes.js';
import { pageOf } from './page.js';
import { shrink, testOf } from './shrink.js';
import { plan, run } from './simulate.js';

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    seeds: { type: 'string', default: '1' },
    days: { type: 'string', default: '7' },
    people: { type: 'string', default: '10' },
    faults: { type: 'string', default: '0' },
    nodes: { type: 'string', default: '1' },
    calls: { type: 'string', default: '6' },
    coverage: { type: 'boolean', default: false },
    until: { type: 'string' },
    trace: { type: 'boolean', default: false },
    page: { type: 'string' },
    shrink: { type: 'boolean', default: false },
    jobs: { type: 'string', default: '1' },
  },
});

const first = values.seed === undefined ? Math.floor(Math.random() * 1e9) : Number(values.seed);
const end = first + Number(values.seeds);
const jobs = Number(values.jobs);
const coverage = new Coverage();
if (jobs > 1) await divide(Math.ceil((end - first) / jobs));
else await playSeeds();
// A process that plays a part of the seeds hands its coverage over.
if (process.send) process.send(coverage.toJSON());
else for (const line of coverage.describe(ROUTES.map(nameOf), EVENT_KINDS, values.coverage)) console.log(line);

type Four = [number, number, number, number];

/** Plays the seeds in several processes, with so many seeds in each. */
async function divide(count: number): Promise<void> {
  const starts = Array.from({ length: Math.ceil((end - first) / count) }, (_, index) => first + index * count);
  const codes = starts.map(async (start) => {
    const range = ['--seed', `${start}`, '--seeds', `${Math.min(count, end - start)}`, '--jobs', '1'];
    const script = fileURLToPath(import.meta.url);
    const child = spawn(process.execPath, [script, ...process.argv.slice(2), ...range], {
      stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    });
    child.on('message', (covered: Covered) => coverage.addAll(covered));
    const [code] = await once(child, 'close');
    return code as number | null;
  });
  if ((await Promise.all(codes)).some((code) => code !== 0)) process.exitCode = 1;
}

async function playSeeds(): Promise<void> {
  const [days, people, faults, calls] = [values.days, values.people, values.faults, values.calls].map(Number) as Four;
  const options = { days, people, faults, calls };
  for (let seed = first; seed < end; seed++) {
    const steps = plan({ seed, ...options });
    const lines: string[] = [];
    const outcome = await run({
      ...{ calls: callsInto(coverage), seed, people: options.people, steps, nodes: Number(values.nodes) },
      ...(values.until !== undefined && { until: Number(values.until) }),
      onTrace: (line) => {
        if (values.trace) console.log(line);
        if (values.page !== undefined) lines.push(line);
      },
    });
    const { violation, digest, ...counts } = outcome;
    if (values.page !== undefined) {
      writeFileSync(values.page, pageOf({ ...outcome, seed, people: options.people, plan: steps, lines }));
    }
    const done = `seed ${seed}: ${counts.steps} of ${steps.length} steps, ${counts.calls} requests, ${counts.messages} messages`;
    console.log(`${done}, ${counts.crashes} crashes, trace ${digest}`);
    if (!violation) continue;
    console.error(`Step ${counts.steps}: ${violation.message}`);
    process.exitCode = 1;
    if (!values.shrink) continue;
    const { invariant } = violation;
    const { people } = options;
    const failing = { seed, people, nodes: Number(values.nodes), steps: steps.slice(0, counts.steps), invariant };
    const uncounted = callsInto(new Coverage());
    const kept = await shrink(failing, (shorter) => run({ ...shorter, calls: uncounted }));
    console.error(testOf({ ...failing, steps: kept }, 'run({ calls: callsInto(new Coverage()),'));
  }
}
