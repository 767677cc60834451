import { ApiUser } from '../harness/api.js';
import { interleave, median, medianRatio } from '../harness/interleave.js';
import { requestText } from '../harness/requests.js';
import { formatNumber } from '../harness/table.js';
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
    const form = {
      type: 'stream',
      to: String(contents.channelId),
      topic: 'beginning',
      content: contentOf(1),
    };
    const ours = authors.map((author) => author.text({ method: 'POST', path: '/api/v1/messages', form }));

    const express = lab.start('express-limit', { seat: 'server' });
    const expressPort = await express.call<number>('listen');
    const theirs = [requestText({ method: 'POST', path: '/api/v1/messages', form })];

    const load = lab.load();
    const until = { seconds: lab.size(2, 0.2) };
    const rate = async (port: number, requests: readonly string[]) => {
      const { answers, seconds } = await load.run({ port, requests, inFlight: IN_FLIGHT, until });
      return answers / seconds;
    };

    // The raw writes use rows created by sending.
    await load.run({ port: parley.port, requests: ours, inFlight: IN_FLIGHT, until: { answers: 500 } });
    const sample = lab.start('raw-sqlite', { seat: 'server' });
    const empty = await lab.copyOf(team);
    await sample.call('learnRows', { from: database, to: empty.database, messages: 50 });

    const rounds = await interleave(lab.rounds, {
      parley: () => rate(parley.port, ours),
      express: () => rate(expressPort, theirs),
      sqlite: () => sample.call<number>('groupCommit', { perTransaction: 50, seconds: until.seconds }),
    });
    const sends = `${formatNumber(median(rounds.parley))}/s`;
    return [
      {
        label: `durable sends, ${IN_FLIGHT} in flight ÷ empty Express POST handler, same body`,
        ours: sends,
        limit: `${formatNumber(median(rounds.express))}/s`,
        value: medianRatio(rounds.parley, rounds.express),
        goal: { atLeast: 0.85 },
      },
      {
        label: 'durable sends ÷ raw SQLite group commit of the same rows (FULL, 50 per transaction)',
        ours: sends,
        limit: `${formatNumber(median(rounds.sqlite))}/s`,
        value: medianRatio(rounds.parley, rounds.sqlite),
        goal: { atLeast: 0.15 },
      },
    ];
  },
};
