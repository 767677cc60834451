import { ApiUser } from '../harness/api.js';
import { interleave, median, medianRatio } from '../harness/interleave.js';
import { requestText } from '../harness/requests.js';
import { formatNumber } from '../harness/table.js';
import type { Workload } from '../workload.js';
import { smallArchive } from '../worlds/worlds.js';
import { pagePath } from './pages.js';

const IN_FLIGHT = 32;

/** Page that a client requests when opening a channel. */
export const history: Workload = {
  name: 'history',
  async run(lab) {
    const { database, contents } = await lab.copyOf(smallArchive);
    const parley = await lab.serve(database);
    const reader = await ApiUser.signIn(parley, contents.reader.email);
    const path = pagePath(contents.channelIds[0]!, 'newest');
    const bytes = await reader.bytesOf(path);

    const express = lab.start('express-limit', { seat: 'server' });
    const expressPort = await express.call<number>('listen');
    await express.call('serve', bytes);

    const load = lab.load();
    const until = { seconds: lab.size(2, 0.2) };
    const rate = async (port: number, request: string) => {
      const { answers, seconds } = await load.run({ port, requests: [request], inFlight: IN_FLIGHT, until });
      return answers / seconds;
    };
    const rounds = await interleave(lab.rounds, {
      parley: () => rate(parley.port, reader.text({ method: 'GET', path })),
      express: () => rate(expressPort, requestText({ method: 'GET', path: '/api/v1/messages' })),
    });
    return [
      {
        label: `history page, newest 100 (${formatNumber(bytes.length / 1000)} kB) ÷ Express send of the same bytes`,
        ours: `${formatNumber(median(rounds.parley))}/s`,
        limit: `${formatNumber(median(rounds.express))}/s`,
        value: medianRatio(rounds.parley, rounds.express),
        goal: { atLeast: 0.5 },
      },
    ];
  },
};
