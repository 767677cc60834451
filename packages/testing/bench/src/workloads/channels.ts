import type { Transaction } from '@parley/domain/kernel';
import { htmlMessages } from '@parley/markdown';
import { openSqliteStorage } from '@parley/sqlite';
import { ApiUser } from '../harness/api.js';
import { median } from '../harness/interleave.js';
import type { Method } from '../harness/requests.js';
import { formatNumber } from '../harness/table.js';
import type { Lab } from '../lab.js';
import type { Figure, Workload } from '../workload.js';
import { clock, contentOf } from '../worlds/history.js';
import { changingChannel, largeOrganization, manyChannels } from '../worlds/worlds.js';
import { cpuOf, firstAnswer } from './first-answer.js';
import { whileSending } from './while-sending.js';

/** Administrative operations on large channels, and the cost of many channels. */
export const channels: Workload = {
  name: 'channels',
  async run(lab) {
    return [...(await listing(lab)), ...(await subscribing(lab)), await deletingTopic(lab)];
  },
};

const LISTING = { method: 'GET', path: '/api/v1/streams' } as const;

async function listing(lab: Lab): Promise<Figure[]> {
  const { database, contents } = await lab.copyOf(manyChannels);
  const first = await firstAnswer(lab, database, LISTING, contents.member.email);

  const parley = await lab.serve(database);
  const member = await ApiUser.signIn(parley, contents.member.email);
  const load = lab.load();
  const list = (answers = 1): Promise<number> =>
    cpuOf(parley, () =>
      load.run({ port: parley.port, requests: [member.text(LISTING)], inFlight: 1, until: { answers } }),
    );
  const times = lab.size(30, 2);
  await list(times);
  const warm = (await list(times)) / times;

  // Another process changes data cached by the server, like a second server.
  const storage = openSqliteStorage({ path: database, clock, words: htmlMessages });
  const listedAfter = async (change: (tx: Transaction) => Promise<unknown>): Promise<number> => {
    const rounds: number[] = [];
    for (let round = 0; round <= lab.rounds; round++) {
      await storage.uow.write(contents.realmId, change);
      const ms = await list();
      if (round > 0) rounds.push(ms);
    }
    return median(rounds);
  };
  const { realmId, owner } = contents;
  const { moderators } = await storage.uow.read(realmId, (r) => r.groups.systemGroupIds(realmId));
  let isModerator = false;
  const afterGroup = await listedAfter((tx) => {
    isModerator = !isModerator;
    return isModerator
      ? tx.groups.addMembers(realmId, moderators, [owner.id])
      : tx.groups.removeMembers(realmId, moderators, [owner.id]);
  });
  const afterOne = await listedAfter(async (tx) => tx.channels.update((await tx.channels.listAll(realmId))[0]!));
  const afterAll = await listedAfter(async (tx) => {
    for (const channel of await tx.channels.listAll(realmId)) await tx.channels.update(channel);
  });
  await storage.close();

  const what = `${formatNumber(contents.channelCount)} channels are listed`;
  return [
    figure(`${what} for the first time after a start, CPU`, first, null),
    figure(`${what}, CPU`, warm, 45),
    figure(`${what} after one of them was changed, CPU`, afterOne, 45),
    figure(`${what} after somebody joined or left a group, CPU`, afterGroup, 45),
    figure(`${what} after every one of them was changed, CPU`, afterAll, 45),
  ];
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
  const sendTo = (topic: string) => author.sends(everybody, contentOf(1), topic);
  const load = lab.load();
  // One topic per round plus one for the dropped round.
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
