import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { ApiUser } from '../harness/api.js';
import { interleave, median } from '../harness/interleave.js';
import { formatNumber, ratioOf } from '../harness/table.js';
import type { Workload } from '../workload.js';
import { reachableOrganization } from '../worlds/worlds.js';

const IN_FLIGHT = 64;
const MEGABYTE = 1024 * 1024;
/** Pause between measured sends, longer than a send. */
const PAUSE_MS = 20;

/** Latency from a send to a local push service, and sends during a notification to everyone. */
export const notifications: Workload = {
  name: 'notifications',
  async run(lab) {
    const { database, contents } = await lab.copyOf(reachableOrganization);
    const service = lab.start('push-stand-in', { seat: 'client' });
    const url = `http://127.0.0.1:${await service.call<number>('listen')}`;
    const env = { PARLEY_PUSH_SERVICE: url, PARLEY_PUSH_ORG_ID: 'id', PARLEY_PUSH_ORG_KEY: 'key' };
    const parley = await lab.serve(database, [], env);
    const owner = await ApiUser.signIn(parley, contents.owner.email);
    const arrived = (count: number) => service.call<readonly (readonly [string, number])[]>('arrived', count);

    const sentAt = new Map<string, number>();
    const sends = lab.size(500, 10);
    for (let n = 0; n < sends; n++) {
      const content = `notification ${n}`;
      sentAt.set(content, performance.timeOrigin + performance.now());
      await owner.post('/api/v1/messages', { type: 'direct', to: `[${contents.people[n]!.id}]`, content });
      await delay(PAUSE_MS);
    }
    const times = (await arrived(sends)).map(([content, at]) => at - sentAt.get(content)!).sort((a, b) => a - b);
    const [p50, p99] = [times[Math.floor(times.length / 2)]!, times[Math.floor(times.length * 0.99)]!];

    const { people, everybody, few } = contents;
    const author = await ApiUser.signIn(parley, people[0]!.email);
    const requests = [author.sends(few, 'nobody is due')];
    const load = lab.load();
    const p99Of = async (seconds: number) =>
      (await load.run({ port: parley.port, requests, inFlight: IN_FLIGHT, until: { seconds } })).p99Ms;
    const seconds = lab.size(5, 0.2);
    await p99Of(lab.size(2, 0.2));
    await parley.watch();
    const took: number[] = [];
    const rounds = await interleave(lab.size(3, 1), {
      during: async () => {
        const waited = p99Of(seconds);
        const startedAt = performance.now();
        const burst = { type: 'stream', to: String(everybody), topic: 'burst', content: '@**all** look' };
        await owner.post('/api/v1/messages', burst);
        const result = await waited;
        await arrived(people.length);
        took.push((performance.now() - startedAt) / 1000);
        return result;
      },
      alone: () => p99Of(seconds),
    });
    const { growth } = await parley.usage();
    const burst = `${formatNumber(people.length)} notifications are due at once`;
    const latency = (name: string, value: number, atMost: number) => ({
      label: `a send to the arrival of its notification at a push service on this machine, ${name}`,
      ours: `${formatNumber(value)} ms`,
      limit: '',
      value,
      goal: { atMost, unit: 'ms' },
    });
    return [
      latency('p50', p50, 50),
      latency('p99', p99, 500),
      {
        label: `p99 of sends, ${IN_FLIGHT} in flight, while ${burst} (delivered in ${formatNumber(median(took))} s) ÷ without`,
        ...ratioOf(rounds.during, rounds.alone, ' ms'),
        goal: { atMost: 2 },
      },
      {
        label: `memory that such bursts take among sends`,
        ours: `${formatNumber(growth / MEGABYTE)} MB`,
        limit: '',
        value: growth / MEGABYTE,
        goal: { atMost: 50, unit: 'MB' },
      },
    ];
  },
};
