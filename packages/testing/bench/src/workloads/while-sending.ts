import { setTimeout as delay } from 'node:timers/promises';
import { interleave } from '../harness/interleave.js';
import type { ParleyServer } from '../harness/parley-server.js';
import { ratioOf } from '../harness/table.js';
import type { Lab } from '../lab.js';
import type { Figure } from '../workload.js';

/** Latency of 64 concurrent sends during a large operation. */
export async function whileSending(
  lab: Lab,
  parley: ParleyServer,
  send: string,
  what: string,
  change: () => Promise<unknown>,
): Promise<Figure> {
  const senders = lab.load();
  const seconds = lab.size(2, 0.2);
  const p99 = async () =>
    (await senders.run({ port: parley.port, requests: [send], inFlight: 64, until: { seconds } })).p99Ms;
  const rounds = await interleave(lab.rounds, {
    during: async () => {
      const waited = p99();
      await delay(seconds * 250);
      await change();
      return await waited;
    },
    alone: p99,
  });
  return {
    label: `p99 of sends while ${what} ÷ without`,
    ...ratioOf(rounds.during, rounds.alone, ' ms'),
    goal: { atMost: 2 },
  };
}
