import type { AbandonCall, SweepCall, SweepResult } from '../children/sweeper.js';
import { interleave, median } from '../harness/interleave.js';
import { formatNumber } from '../harness/table.js';
import type { Workload } from '../workload.js';
import { queueOwners } from '../worlds/worlds.js';

/** Periodic cleanup after tens of thousands of clients disappeared. */
export const sweep: Workload = {
  name: 'sweep',
  async run(lab) {
    const queues = lab.size(50_000, 500);
    const events = lab.size(10_000, 500);
    const works: number[] = [];
    const { stalls } = await interleave(lab.size(3, 1), {
      stalls: async () => {
        const { database, contents } = await lab.copyOf(queueOwners);
        const { realmId, people } = contents;
        const abandoned: AbandonCall = { database, realmId, ownerIds: people.map(({ id }) => id), queues, events };
        const sweeper = lab.start('sweeper', { seat: 'server' });
        await sweeper.call('abandon', abandoned);
        const tidied: SweepCall = { database, realmId };
        const { worstStallMs, worstWorkMs } = await sweeper.call<SweepResult>('sweep', tidied);
        await sweeper.stop();
        works.push(worstWorkMs);
        return worstStallMs;
      },
    });
    const what = `${formatNumber(queues)} abandoned queues and ${formatNumber(events)} expired events`;
    return [
      {
        label: `sweeping ${what}: worst stall of the event loop; for comparison its work, without disk syncs`,
        ours: `${formatNumber(median(stalls))} ms`,
        limit: `${formatNumber(median(works))} ms`,
        value: median(stalls),
        goal: { atMost: 20, unit: 'ms' },
      },
    ];
  },
};
