import { ApiUser } from '../harness/api.js';
import { interleave } from '../harness/interleave.js';
import { ratioOf } from '../harness/table.js';
import type { Workload } from '../workload.js';
import { contentOf } from '../worlds/history.js';
import { team } from '../worlds/worlds.js';

const IN_FLIGHT = 64;

/** Sends of a dozen authors over HTTP, durable before the response, with 64 in progress. */
export const send: Workload = {
  name: 'send',
  async run(lab) {
    const { database, contents } = await lab.copyOf(team);
    const parley = await lab.serve(database);
    const authors = await ApiUser.signInAll(parley, contents.people);
    const ours = authors.map((author) => author.sends(contents.channelId, contentOf(1)));

    const load = lab.load();
    const until = { seconds: lab.size(2, 0.2) };
    const rate = async () => {
      const { answers, seconds } = await load.run({ port: parley.port, requests: ours, inFlight: IN_FLIGHT, until });
      return answers / seconds;
    };

    // The raw writes use rows created by sending.
    await load.run({ port: parley.port, requests: ours, inFlight: IN_FLIGHT, until: { answers: 500 } });
    const sample = lab.start('raw-sqlite', { seat: 'server' });
    const empty = await lab.copyOf(team);
    await sample.call('learnRows', { from: database, to: empty.database, messages: 50 });

    const rounds = await interleave(lab.rounds, {
      parley: rate,
      sqlite: () => sample.call<number>('groupCommit', { perTransaction: 50, seconds: until.seconds }),
    });
    return [
      {
        label: 'durable sends ÷ raw SQLite group commit of the same rows (FULL, 50 per transaction)',
        ...ratioOf(rounds.parley, rounds.sqlite, '/s'),
        goal: { atLeast: 0.15 },
      },
    ];
  },
};
