import { ApiUser } from '../harness/api.js';
import { interleave, median } from '../harness/interleave.js';
import { requestText } from '../harness/requests.js';
import { formatNumber } from '../harness/table.js';
import type { Workload } from '../workload.js';
import { contentOf } from '../worlds/history.js';
import { team } from '../worlds/worlds.js';
import { SENDS_PER_SECOND } from './windows.js';

const VISITS_PER_SECOND = 50;
const CONNECTIONS = 64;

/** Log-in page while people send messages, compared with the server settings. */
export const logIn: Workload = {
  name: 'log-in',
  async run(lab) {
    const { database, contents } = await lab.copyOf(team);
    const parley = await lab.serve(database);
    const { port } = parley;
    const author = await ApiUser.signIn({ port }, contents.people[0]!.email);
    const sends = [author.sends(contents.channelId, contentOf(1))];
    const [senders, visitors] = [lab.load(), lab.load()];
    const until = { seconds: lab.size(4, 0.3) };
    const p99Of = (path: string) => async (): Promise<number> => {
      const visits = [requestText({ method: 'GET', path })];
      const [{ p99Ms }] = await Promise.all([
        visitors.run({ port, requests: visits, inFlight: CONNECTIONS, perSecond: VISITS_PER_SECOND, until }),
        senders.run({ port, requests: sends, inFlight: CONNECTIONS, perSecond: SENDS_PER_SECOND, until }),
      ]);
      return p99Ms;
    };
    /** CPU milliseconds per response. */
    const cpuOf = (path: string) => async (): Promise<number> => {
      const answers = lab.size(500, 20);
      const visits = [requestText({ method: 'GET', path })];
      const before = (await parley.usage()).cpuMs;
      await visitors.run({ port, requests: visits, inFlight: 1, until: { answers } });
      return ((await parley.usage()).cpuMs - before) / answers;
    };
    const costs = await interleave(lab.rounds, { page: cpuOf('/login/'), settings: cpuOf('/api/v1/server_settings') });
    const rounds = await interleave(lab.rounds, {
      page: p99Of('/login/'),
      settings: p99Of('/api/v1/server_settings'),
    });
    return [
      {
        label: `p99 of the log-in page at ${SENDS_PER_SECOND} sends/s − that of /server_settings`,
        ours: `${formatNumber(median(rounds.page))} ms`,
        limit: `${formatNumber(median(rounds.settings))} ms`,
        value: Math.max(0, median(rounds.page.map((it, round) => it - rounds.settings[round]!))),
        goal: { atMost: 20, unit: 'ms' },
      },
      {
        label: 'the log-in page, CPU; for comparison /server_settings',
        ours: `${formatNumber(median(costs.page))} ms`,
        limit: `${formatNumber(median(costs.settings))} ms`,
        value: median(costs.page),
        goal: null,
      },
    ];
  },
};
