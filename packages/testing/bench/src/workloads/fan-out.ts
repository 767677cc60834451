import { interleave, median, medianRatio } from '../harness/interleave.js';
import { formatNumber } from '../harness/table.js';
import { bareClients, clientsOf, type WaitingClients } from '../harness/waiting-clients.js';
import type { Workload } from '../workload.js';
import { largeOrganization } from '../worlds/worlds.js';

/** Delivery of one message to all users, each waiting on a separate connection and queue. */
export const fanOut: Workload = {
  name: 'fan-out',
  async run(lab) {
    const { database, contents } = await lab.copyOf(largeOrganization);
    const polls = await clientsOf(lab, await lab.serve(database), contents);
    await lastOf(polls);
    const bare = await bareClients(lab, polls.count, await polls.sample());
    const rounds = await interleave(lab.rounds, { parley: () => lastOf(polls), bare: () => lastOf(bare) });
    return [
      {
        label: `last of ${formatNumber(polls.count)} waiting polls receives a message ÷ bare node:http, same bytes`,
        ours: `${formatNumber(median(rounds.parley))} ms`,
        limit: `${formatNumber(median(rounds.bare))} ms`,
        value: medianRatio(rounds.parley, rounds.bare),
        goal: { atMost: 3 },
      },
    ];
  },
};

/** Milliseconds until the last waiting client has a message. */
async function lastOf(clients: WaitingClients): Promise<number> {
  await clients.park();
  return clients.fire();
}
