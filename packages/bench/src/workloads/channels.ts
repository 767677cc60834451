import { ApiUser } from '../harness/api.js';
import type { Method } from '../harness/requests.js';
import { formatNumber } from '../harness/table.js';
import type { Lab } from '../lab.js';
import type { Figure, Workload } from '../workload.js';
import { contentOf } from '../worlds/history.js';
import { changingChannel, largeOrganization, manyChannels } from '../worlds/worlds.js';
import { whileSending } from './while-sending.js';

/** What administrators do with large channels, and what many channels cost. */
export const channels: Workload = {
  name: 'channels',
  async run(lab) {
    return [...(await listing(lab)), ...(await subscribing(lab)), await deletingTopic(lab)];
  },
};

async function listing(lab: Lab): Promise<Figure[]> {
  const { database, contents } = await lab.copyOf(manyChannels);
  const parley = await lab.serve(database);
  const member = await ApiUser.signIn(parley, contents.member.email);
  const load = lab.load();
  const list = async (answers: number): Promise<number> => {
    const before = await parley.usage();
    const request = member.text({ method: 'GET', path: '/api/v1/streams' });
    await load.run({ port: parley.port, requests: [request], inFlight: 1, until: { answers } });
    return ((await parley.usage()).cpuMs - before.cpuMs) / answers;
  };
  const what = `${formatNumber(contents.channelCount)} channels are listed`;
  const [cold, warm] = [await list(1), await list(lab.size(30, 2))];
  return [figure(`${what} for the first time, CPU`, cold, null), figure(`${what}, CPU`, warm, 20)];
}

async function subscribing(lab: Lab): Promise<Figure[]> {
  const { database, contents } = await lab.copyOf(largeOrganization);
  const parley = await lab.serve(database);
  const owner = await ApiUser.signIn(parley, contents.owner.email);
  const load = lab.load();
  const took = async (method: Method, path: string, form: Readonly<Record<string, string>>): Promise<number> =>
    (
      await load.run({
        port: parley.port,
        requests: [owner.text({ method, path, form })],
        inFlight: 1,
        until: { answers: 1 },
      })
    ).p50Ms;
  const others = contents.people.slice(10).map(({ id }) => id);
  const subscribed = await took('POST', '/api/v1/users/me/subscriptions', {
    subscriptions: JSON.stringify([{ name: 'few' }]),
    principals: JSON.stringify(others),
  });
  const groups: number[] = [];
  for (let n = 0; n < lab.size(20, 2); n++) {
    groups.push(
      await took('PATCH', `/api/v1/streams/${contents.everybody}`, {
        can_send_message_group: JSON.stringify({
          new: { direct_members: others.slice(n, n + 3), direct_subgroups: [] },
        }),
      }),
    );
  }
  groups.sort((a, b) => a - b);
  return [
    figure(`${formatNumber(others.length)} people are subscribed to a channel, whole request`, subscribed, 1000),
    figure(
      `a permission of a channel of ${formatNumber(contents.people.length)} changes, p50`,
      groups[groups.length >> 1]!,
      20,
    ),
  ];
}

async function deletingTopic(lab: Lab): Promise<Figure> {
  const { database, contents } = await lab.copyOf(changingChannel);
  const { owner, people, everybody } = contents;
  const parley = await lab.serve(database);
  const [author, administrator] = [
    await ApiUser.signIn(parley, people[0]!.email),
    await ApiUser.signIn(parley, owner.email),
  ];
  const count = lab.size(10_000, 50);
  const sendTo = (topic: string) =>
    author.text({
      method: 'POST',
      path: '/api/v1/messages',
      form: { type: 'stream', to: String(everybody), topic, content: contentOf(1) },
    });
  const load = lab.load();
  // A topic for each round, and one for the round that does not count.
  const topics = Array.from({ length: lab.rounds + 1 }, (_, n) => `doomed ${n}`);
  for (const topic of topics) {
    await load.run({ port: parley.port, requests: [sendTo(topic)], inFlight: 64, until: { answers: count } });
  }
  const path = `/api/v1/streams/${everybody}/delete_topic`;
  return whileSending(
    lab,
    parley,
    sendTo('going on'),
    `a topic of ${formatNumber(count)} messages is deleted`,
    async () => {
      const form = { topic_name: topics.pop()! };
      for (let isComplete = false; !isComplete; ) {
        ({ complete: isComplete } = (await administrator.post(path, form)) as { complete: boolean });
      }
    },
  );
}

const figure = (label: string, ms: number, atMost: number | null): Figure => ({
  label,
  ours: `${formatNumber(ms)} ms`,
  limit: '',
  value: ms,
  goal: atMost === null ? null : { atMost, unit: 'ms' },
});
