import type { ReturnResult } from '../children/returning-clients.js';
import { ApiUser, inTurns } from '../harness/api.js';
import { formatNumber } from '../harness/table.js';
import type { Lab } from '../lab.js';
import type { Workload } from '../workload.js';
import { contentOf } from '../worlds/history.js';
import { returningCrowd } from '../worlds/worlds.js';

const MEGABYTE = 1024 * 1024;

/** All clients reconnect at the same time after a server outage and fetch missed events. */
export const reconnect: Workload = {
  name: 'reconnect',
  async run(lab) {
    const { database, contents } = await lab.copyOf(returningCrowd);
    const messages = lab.size(5000, 50);
    const { polls, lastId } = await leaveAndMiss(lab, database, contents, messages);
    const parley = await lab.serve(database);
    const crowd = lab.start('returning-clients', { seat: 'client' });
    await parley.watch();
    const { seconds, bytes } = await crowd.call<ReturnResult>('comeBack', { port: parley.port, polls, lastId });
    const { worstStallMs, growth, peakRss } = await parley.usage();
    const who = `${formatNumber(polls.length)} queues return after ${formatNumber(messages)} messages`;
    const perSecond = (polls.length * messages) / seconds;
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
        ours: `${formatNumber(perSecond)}/s`,
        limit: `${formatNumber(bytes / MEGABYTE / seconds)} MB/s`,
        value: perSecond,
        goal: null,
      },
    ];
  },
};

/** Stops all users, sends messages, and returns the polls of all users with the id of the last missed event. */
async function leaveAndMiss(
  lab: Lab,
  database: string,
  { people, channelId }: Awaited<ReturnType<typeof returningCrowd>>,
  messages: number,
): Promise<{ readonly polls: readonly string[]; readonly lastId: number }> {
  const parley = await lab.serve(database);
  const users = await ApiUser.signInAll(
    parley,
    people.map(({ email }) => email),
  );
  const register = async (user: ApiUser) =>
    ((await user.post('/api/v1/register', REGISTRATION)) as { queue_id: string }).queue_id;
  const polls = await inTurns(users, async (user) =>
    user.text({
      method: 'GET',
      path: `/api/v1/events?queue_id=${await register(user)}&last_event_id={last}&dont_block=true`,
    }),
  );
  const author = users[0]!;
  const own = await register(author);
  const requests = Array.from({ length: 100 }, (_, n) =>
    author.text({
      method: 'POST',
      path: '/api/v1/messages',
      form: { type: 'stream', to: String(channelId), topic: 'beginning', content: contentOf(n) },
    }),
  );
  await lab.load().run({ port: parley.port, requests, inFlight: 32, until: { answers: messages } });
  let lastId = -1;
  for (;;) {
    const path = `/api/v1/events?queue_id=${own}&last_event_id=${lastId}&dont_block=true`;
    const { events } = (await author.get(path)) as { events: readonly { readonly id: number }[] };
    if (events.length === 0) break;
    lastId = events.at(-1)!.id;
  }
  await lab.stopAll();
  return { polls, lastId };
}

/** Only messages, like the registration of a bot. */
const REGISTRATION = {
  event_types: JSON.stringify(['message']),
  fetch_event_types: JSON.stringify([]),
};
