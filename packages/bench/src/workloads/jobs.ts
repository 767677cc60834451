import type { OpenCall, SendCall } from '../children/due-jobs.js';
import { interleave, median, medianRatio } from '../harness/interleave.js';
import { formatNumber } from '../harness/table.js';
import type { Workload } from '../workload.js';
import { team } from '../worlds/worlds.js';

/** Many reminders and scheduled messages may be due at nine o'clock; who writes at that moment should not notice. */
export const jobs: Workload = {
  name: 'jobs',
  async run(lab) {
    const { database, contents } = await lab.copyOf(team);
    const { realmId, people, channelId } = contents;
    const sender = lab.start('due-jobs', { seat: 'server' });
    const opened: OpenCall = { database, realmId, authorIds: people.map(({ id }) => id), channelId };
    await sender.call('open', opened);
    const due = lab.size(1000, 20);
    const p99 = (call: SendCall) => sender.call<number>('sendWhile', call);
    const rounds = await interleave(lab.rounds, {
      during: () => p99({ sends: 0, jobs: due }),
      alone: () => p99({ sends: lab.size(1500, 20), jobs: 0 }),
    });
    return [
      {
        label: `sending in process, p99, while ${formatNumber(due)} jobs are due at once ÷ while none is`,
        ours: `${formatNumber(median(rounds.during))} ms`,
        limit: `${formatNumber(median(rounds.alone))} ms`,
        value: medianRatio(rounds.during, rounds.alone),
        goal: { atMost: 2 },
      },
    ];
  },
};
