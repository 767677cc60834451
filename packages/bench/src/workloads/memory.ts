import { setTimeout as sleep } from 'node:timers/promises';
import { interleave, median } from '../harness/interleave.js';
import { formatNumber } from '../harness/table.js';
import type { Workload } from '../workload.js';
import { demo } from '../worlds/worlds.js';

const MEGABYTE = 1024 * 1024;

/** What a small server takes while nobody is there: its resident set, a few seconds after its start. */
export const memory: Workload = {
  name: 'memory',
  async run(lab) {
    const { database } = await lab.copyOf(demo);
    const { rss } = await interleave(lab.size(2, 1), {
      rss: async () => {
        const server = await lab.serve(database, ['--demo']);
        await sleep(lab.size(3000, 100));
        const usage = await server.usage();
        await server.stop();
        return usage.rss / MEGABYTE;
      },
    });
    const megabytes = median(rss);
    return [
      {
        label: 'idle memory of the demo server (RSS)',
        ours: `${formatNumber(megabytes)} MB`,
        limit: '',
        value: megabytes,
        goal: { atMost: 110, unit: 'MB' },
      },
    ];
  },
};
