import { copyFileSync } from 'node:fs';
import type { Requests, ReturnResult } from '../children/returning-clients.js';
import { ApiUser, inTurns } from '../harness/api.js';
import type { Usage } from '../harness/parley-server.js';
import { formatNumber } from '../harness/table.js';
import type { Lab } from '../lab.js';
import type { Figure, Workload } from '../workload.js';
import { contentOf } from '../worlds/history.js';
import { returningCrowd } from '../worlds/worlds.js';

const MEGABYTE = 1024 * 1024;

/** All clients reconnect at the same time after a server outage and fetch missed events. */
export const reconnect: Workload = {
  name: 'reconnect',
  async run(lab) {
    const { database, contents } = await lab.copyOf(returningCrowd);
    const messages = lab.size(5000, 50);
    const { clients, lastId } = await leaveAndMiss(lab, database, contents, messages);
    const again = lab.newFile();
    copyFileSync(database, again);
    const polls = await comeBack(lab, database, clients.polls, lastId);
    const streams = await comeBack(lab, again, clients.streams, lastId);
    const events = clients.polls.length * messages;
    const figures = (kind: string, { worstStallMs, growth, peakRss, seconds, bytes }: Return): readonly Figure[] => {
      const who = `${formatNumber(clients.polls.length)} ${kind} return after ${formatNumber(messages)} messages`;
      return [
        {
          label: `${who}: worst stall of the event loop`,
          ours: `${formatNumber(worstStallMs)} ms`,
          limit: '',
          value: worstStallMs,
          goal: { atMost: 250, unit: 'ms' },
        },
        {
          label: `${who}: peak added memory; for comparison the resident set, including each mapping of the database`,
          ours: `${formatNumber(growth / MEGABYTE)} MB`,
          limit: `${formatNumber(peakRss / MEGABYTE)} MB`,
          value: growth / MEGABYTE,
          goal: { atMost: 200, unit: 'MB' },
        },
        {
          label: `${who}: events per second until every queue has received all; for comparison megabytes per second`,
          ours: `${formatNumber(events / seconds)}/s`,
          limit: `${formatNumber(bytes / MEGABYTE / seconds)} MB/s`,
          value: events / seconds,
          goal: null,
        },
      ];
    };
    return [
      ...figures('queues', polls),
      ...figures('streams', streams),
      {
        label: 'CPU of the same for an event of a stream, with acknowledgements ÷ of a poll',
        ours: `${formatNumber((streams.cpuMs * 1000) / events)} µs`,
        limit: `${formatNumber((polls.cpuMs * 1000) / events)} µs`,
        value: streams.cpuMs / polls.cpuMs,
        goal: { atMost: 1 },
      },
    ];
  },
};

type Return = ReturnResult & Usage;

async function comeBack(lab: Lab, database: string, clients: readonly Requests[], lastId: number): Promise<Return> {
  const parley = await lab.serve(database);
  const crowd = lab.start('returning-clients', { seat: 'client' });
  const { cpuMs } = await parley.watch();
  const result = await crowd.call<ReturnResult>('comeBack', { port: parley.port, clients, lastId });
  const usage = await parley.usage();
  await lab.stopAll();
  return { ...result, ...usage, cpuMs: usage.cpuMs - cpuMs };
}

/** Stops all users, sends messages, and returns the requests of all users with the id of the last missed event. */
async function leaveAndMiss(
  lab: Lab,
  database: string,
  { people, channelId }: Awaited<ReturnType<typeof returningCrowd>>,
  messages: number,
): Promise<{
  readonly clients: Readonly<Record<'polls' | 'streams', readonly Requests[]>>;
  readonly lastId: number;
}> {
  const parley = await lab.serve(database);
  const users = await ApiUser.signInAll(parley, people);
  const register = async (user: ApiUser) =>
    ((await user.post('/api/v1/register', REGISTRATION)) as { queue_id: string }).queue_id;
  const queues = await inTurns(users, register);
  const position = (n: number) => `queue_id=${queues[n]}&last_event_id={last}`;
  const polls = users.map((user, n) => ({
    request: user.text({ method: 'GET', path: `/api/v1/events?${position(n)}&dont_block=true` }),
  }));
  const streams = users.map((user, n) => ({
    request: user.text({ method: 'GET', path: `/api/v1/events/stream?${position(n)}` }),
    acknowledgement: user.text({ method: 'POST', path: `/api/v1/events/acknowledge?${position(n)}`, form: {} }),
  }));
  const author = users[0]!;
  const own = await register(author);
  const requests = Array.from({ length: 100 }, (_, n) => author.sends(channelId, contentOf(n)));
  await lab.load().run({ port: parley.port, requests, inFlight: 32, until: { answers: messages } });
  let lastId = -1;
  for (;;) {
    const path = `/api/v1/events?queue_id=${own}&last_event_id=${lastId}&dont_block=true`;
    const { events } = (await author.get(path)) as { events: readonly { readonly id: number }[] };
    if (events.length === 0) break;
    lastId = events.at(-1)!.id;
  }
  await lab.stopAll();
  return { clients: { polls, streams }, lastId };
}

/** Only messages, like the registration of a bot. */
const REGISTRATION = {
  event_types: JSON.stringify(['message']),
  fetch_event_types: JSON.stringify([]),
};
