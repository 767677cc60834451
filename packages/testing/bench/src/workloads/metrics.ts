import { ApiUser } from '../harness/api.js';
import { interleave } from '../harness/interleave.js';
import { ratioOf } from '../harness/table.js';
import type { Lab } from '../lab.js';
import type { Workload } from '../workload.js';
import { contentOf } from '../worlds/history.js';
import { team } from '../worlds/worlds.js';

const IN_FLIGHT = 64;

/** Cost of metrics: the same sends with and without them. */
export const metrics: Workload = {
  name: 'metrics',
  async run(lab) {
    const watched = await senderTo(lab, ['--metrics', '127.0.0.1:0']);
    const plain = await senderTo(lab, []);
    const rounds = await interleave(lab.rounds, { watched, plain });
    return [
      {
        label: `durable sends with metrics ÷ without, ${IN_FLIGHT} in flight`,
        ...ratioOf(rounds.watched, rounds.plain, '/s'),
        goal: { atLeast: 0.98 },
      },
    ];
  },
};

async function senderTo(lab: Lab, flags: readonly string[]): Promise<() => Promise<number>> {
  const { database, contents } = await lab.copyOf(team);
  const parley = await lab.serve(database, flags);
  const author = await ApiUser.signIn(parley, contents.people[0]!.email);
  const requests = [author.sends(contents.channelId, contentOf(1))];
  const load = lab.load();
  const until = { seconds: lab.size(2, 0.2) };
  return async () => {
    const { answers, seconds } = await load.run({ port: parley.port, requests, inFlight: IN_FLIGHT, until });
    return answers / seconds;
  };
}
