#!/usr/bin/env node
import { existsSync } from 'node:fs';
import { availableParallelism, cpus, loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { hasOwnCores } from './harness/child.js';
import { formatTable } from './harness/table.js';
import { Lab } from './lab.js';
import type { Figure } from './workload.js';
import { WORKLOADS } from './workloads/index.js';

/** Folder of a built checkout of the last release. */
const LAST_RELEASE = fileURLToPath(new URL('../../../../parley-last-release', import.meta.url));

const USAGE = `npm run bench -- [--quick] [--profile FOLDER] [--messages N] [NAME…]

Measures workloads in comparison with limits of the machine, which are measured in the same run, and prints a table.
  --quick           small sizes and one round: checks that everything works; the figures are meaningless
  --beside FOLDER   measures the build of another checkout in turn with this one (workload cpu); default: the last
                    release in ${LAST_RELEASE}, if that folder exists
  --profile FOLDER  writes CPU profiles of the servers for Chrome's developer tools; slows the servers down
  --messages N      size of the workloads import and erasure (twice as many, a fiftieth by one person); default: 100,000
  NAME              one of ${WORKLOADS.map(({ name }) => name).join(', ')}; default: all except ejabberd,
                    which Debian's packages ejabberd and erlang-p1-sqlite3 provide`;

const { values, positionals } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    profile: { type: 'string' },
    beside: { type: 'string' },
    messages: { type: 'string', default: '100000' },
    help: { type: 'boolean', default: false },
  },
  allowPositionals: true,
});
const unknown = positionals.find((name) => !WORKLOADS.some((workload) => workload.name === name));
if (values.help) console.log(USAGE);
else if (unknown !== undefined) {
  console.error(`There is no workload ${unknown}.\n\n${USAGE}`);
  process.exitCode = 1;
} else await bench(positionals);

/** Reports a failing workload and continues with the others. */
async function bench(names: readonly string[]): Promise<void> {
  console.error(describeMachine());
  const lab = new Lab({
    isQuick: values.quick,
    profileFolder: values.profile ?? null,
    messages: Number(values.messages),
    otherBuild: values.beside ?? (existsSync(LAST_RELEASE) ? LAST_RELEASE : null),
    say: (line) => console.error(line),
  });
  const figures: Figure[] = [];
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      lab.removeFiles();
      process.exit(1);
    });
  }
  try {
    for (const workload of WORKLOADS) {
      if (names.length > 0 ? !names.includes(workload.name) : workload.isOnRequest) continue;
      console.error(`${workload.name} …`);
      try {
        figures.push(...(await workload.run(lab)));
      } catch (error) {
        console.error(`${workload.name} failed: ${(error as Error).stack ?? error}`);
        process.exitCode = 1;
      }
      await lab.stopAll();
    }
  } finally {
    await lab.close();
  }
  console.log(formatTable(figures));
  for (const { failure } of figures) {
    if (failure === undefined) continue;
    console.error(failure);
    process.exitCode = 1;
  }
}

function describeMachine(): string {
  const cores = hasOwnCores ? 'server on core 0, client on core 1' : 'not pinned to cores: figures are less stable';
  const load = loadavg()[0]!.toFixed(1);
  return `${cpus()[0]!.model.trim()}, ${availableParallelism()} cores (${cores}), Node ${process.version}, load ${load}`;
}
