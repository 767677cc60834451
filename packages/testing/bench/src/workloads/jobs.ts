import type { OpenCall, PendingCall, SendCall, SendFigures } from '../children/due-jobs.js';
import { interleave } from '../harness/interleave.js';
import { formatNumber, ratioOf } from '../harness/table.js';
import type { Workload } from '../workload.js';
import { team } from '../worlds/worlds.js';

/** Latency of sends while many reminders and scheduled messages are due at once. */
export const jobs: Workload = {
  name: 'jobs',
  async run(lab) {
    const open = async () => {
      const { database, contents } = await lab.copyOf(team);
      const { realmId, people, channelId } = contents;
      const child = lab.start('due-jobs', { seat: 'server' });
      const opened: OpenCall = { database, realmId, authorIds: people.map(({ id }) => id), channelId };
      await child.call('open', opened);
      return child;
    };
    const sender = await open();
    const due = lab.size(1000, 20);
    const lateness: number[] = [];
    const rounds = await interleave(lab.rounds, {
      during: async () => {
        const call: SendCall = { sends: 0, jobs: due };
        const figures = await sender.call<SendFigures>('sendWhile', call);
        lateness.push(figures.lateness);
        return figures.p99;
      },
      alone: async () => {
        const call: SendCall = { sends: lab.size(1500, 20), jobs: 0 };
        return (await sender.call<SendFigures>('sendWhile', call)).p99;
      },
    });
    await sender.stop();

    const [idle, busy] = [await open(), await open()];
    const pending: PendingCall = { messages: lab.size(100_000, 100) };
    await busy.call('wait', pending);
    const looks = await interleave(lab.rounds, {
      pending: () => busy.call<number>('look'),
      none: () => idle.call<number>('look'),
    });
    return [
      {
        label: `sending in process, p99, while ${formatNumber(due)} scheduled messages are due at once ÷ without them`,
        ...ratioOf(rounds.during, rounds.alone, ' ms'),
        goal: { atMost: 2 },
      },
      {
        label: `the last of ${formatNumber(due)} scheduled messages that are due at once, after that, among ordinary sends`,
        ours: `${formatNumber(Math.max(...lateness))} ms`,
        limit: '5 000 ms',
        value: Math.max(...lateness),
        goal: { atMost: 5000, unit: 'ms' },
      },
      {
        label: `finding that nothing is due, CPU, with ${formatNumber(pending.messages)} scheduled messages ÷ with none`,
        ...ratioOf(looks.pending, looks.none, ' ms'),
        goal: { atMost: 2 },
      },
    ];
  },
};
