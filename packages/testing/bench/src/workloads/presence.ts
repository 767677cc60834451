import { setTimeout as pause } from 'node:timers/promises';
import { ApiUser } from '../harness/api.js';
import { interleave, median } from '../harness/interleave.js';
import { formatNumber, ratioOf } from '../harness/table.js';
import type { Workload } from '../workload.js';
import { largeOrganization } from '../worlds/worlds.js';

const IN_FLIGHT = 32;
/** More frequent reports have no effect. */
const MIN_UPDATE_MS = 56_000;
const MINUTE_MS = 60_000;
const PING = { status: 'active', ping_only: 'true' };

/** Every user of a large organization reports presence once a minute, and one requests all presence. */
export const presence: Workload = {
  name: 'presence',
  async run(lab) {
    const { database, contents } = await lab.copyOf(largeOrganization);
    const parley = await lab.serve(database);
    const people = await ApiUser.signInAll(parley, contents.people);
    const requests = people.map((user) => user.text({ method: 'POST', path: '/api/v1/users/me/presence', form: PING }));
    const load = lab.load();
    const { port } = parley;
    /** Total server cost per minute in CPU milliseconds. */
    const costOfMinute = async () => {
      const before = await parley.usage();
      await load.run({ port, requests, inFlight: IN_FLIGHT, until: { answers: requests.length } });
      await pause(lab.size(2000, 0));
      return (await parley.usage()).cpuMs - before.cpuMs;
    };
    await costOfMinute();
    const costs: number[] = [];
    for (let round = 0; round < lab.size(3, 1); round++) {
      await pause(lab.size(MIN_UPDATE_MS, 0));
      costs.push(await costOfMinute());
    }
    const share = (median(costs) / MINUTE_MS) * 100;

    const path = '/api/v1/realm/presence';
    const stringify = lab.start('stringify', { seat: 'server' });
    await stringify.call('load', JSON.stringify(await people[0]!.get(path)));
    const times = lab.size(10, 2);
    const lists = [people[0]!.text({ method: 'GET', path })];
    const rounds = await interleave(lab.rounds, {
      parley: async () => (await load.run({ port, requests: lists, inFlight: 1, until: { answers: times } })).p50Ms,
      stringify: () => stringify.call<number>('stringify', times),
    });
    const users = `${formatNumber(people.length)} users`;
    return [
      {
        label: `${users} report presence once a minute: share of a core, including requests and storage`,
        ours: `${formatNumber((median(costs) * 1000) / people.length)} µs a report`,
        limit: '',
        value: share,
        goal: { atMost: 3, unit: '%' },
      },
      {
        label: `presence of ${users} ÷ JSON.stringify of the same object`,
        ...ratioOf(rounds.parley, rounds.stringify, ' ms'),
        goal: { atMost: 3 },
      },
    ];
  },
};
