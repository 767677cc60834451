import { setTimeout as sleep } from 'node:timers/promises';
import { interleave, median } from '../harness/interleave.js';
import { formatNumber } from '../harness/table.js';
import type { Lab } from '../lab.js';
import type { Figure, Workload } from '../workload.js';
import { demo } from '../worlds/worlds.js';

const MEGABYTE = 1024 * 1024;

/** Resident memory of a small idle server a few seconds after its start. */
export const memory: Workload = {
  name: 'memory',
  async run(lab) {
    const { database } = await lab.copyOf(demo);
    const { again, first } = await interleave(lab.size(2, 1), {
      again: () => idleMegabytes(lab, database),
      first: () => idleMegabytes(lab, lab.newFile()),
    });
    return [
      figure('idle memory of the demo server (RSS)', median(again)),
      figure('the same after the start that creates the demo organization', median(first)),
    ];
  },
};

async function idleMegabytes(lab: Lab, database: string): Promise<number> {
  const server = await lab.serve(database, ['--demo']);
  await sleep(lab.size(3000, 100));
  const { rss } = await server.usage();
  await server.stop();
  return rss / MEGABYTE;
}

const figure = (label: string, megabytes: number): Figure => ({
  label,
  ours: `${formatNumber(megabytes)} MB`,
  limit: '',
  value: megabytes,
  goal: { atMost: 85, unit: 'MB' },
});
