import { setTimeout as sleep } from 'node:timers/promises';
import { UnorderedSends } from '@parley/postgres/testing';
import { hasNatsServer, NatsServer } from '@parley/testkit';
import type { CrowdCall, DeliverCall, Delivery, ReachCall } from '../children/cluster-client.js';
import type { RateCall, SendCost } from '../children/postgres-sends.js';
import { ApiUser } from '../harness/api.js';
import { DatabaseServer, NODE_ENVIRONMENT } from '../harness/database-server.js';
import { interleave, median } from '../harness/interleave.js';
import type { ParleyServer } from '../harness/parley-server.js';
import { formatNumber, ratioOf } from '../harness/table.js';
import type { Lab, WorldBuilder } from '../lab.js';
import type { Figure, Workload } from '../workload.js';
import { World } from '../worlds/world.js';
import { type Team, team } from '../worlds/worlds.js';

const CONNECTIONS = 16;
const CONTENTION = [1, 2, 4, 8, CONNECTIONS];
/** Rate below saturation for measuring costs and delays. */
const PER_SECOND = 200;

/** Sends on PostgreSQL, in process and through one server. */
export const postgres: Workload = {
  name: 'postgres',
  async run(lab) {
    const server = await DatabaseServer.start();
    try {
      return [...(await contention(lab, server)), ...(await costOfSends(lab, server))];
    } finally {
      await lab.stopAll();
      await server.stop();
    }
  },
};

async function contention(lab: Lab, server: DatabaseServer): Promise<readonly Figure[]> {
  const organizations = lab.size(128, 4);
  const child = lab.start('postgres-sends', { seat: 'server' });
  await child.call('found', { database: await server.empty(), organizations });
  const seconds = lab.size(3, 0.2);
  const rate = (call: Partial<RateCall>) => () =>
    child.call<number>('rate', { connections: CONNECTIONS, kind: 'ordered', isOne: true, seconds, ...call });
  const ratio = async (name: string, isOne: boolean, atLeast: number): Promise<readonly Figure[]> => {
    const rounds = await interleave(lab.rounds, {
      ours: rate({ isOne }),
      unordered: rate({ isOne, kind: 'unordered' }),
      replayed: rate({ isOne, kind: 'replayed' }),
    });
    const against = (limit: readonly number[], what: string, goal: Figure['goal']): Figure => ({
      label: `sends of ${name} on PostgreSQL, in process with ${CONNECTIONS} connections ÷ ${what}`,
      ...ratioOf(rounds.ours, limit, '/s'),
      goal,
    });
    return [
      against(rounds.unordered, 'the same without lock and head row', { atLeast }),
      against(rounds.replayed, 'their statements alone, without lock and head row', null),
    ];
  };
  const figures = [
    ...(await ratio('one organization', true, 0.3)),
    ...(await ratio(`${organizations} organizations`, false, 0.9)),
  ];
  for (const [name, isOne] of [
    ['one organization', true],
    [`${organizations} organizations`, false],
  ] as const) {
    const rates: number[] = [];
    for (const connections of CONTENTION) {
      const measured: number[] = [];
      for (let round = 0; round < lab.size(3, 1); round++) measured.push(await rate({ connections, isOne })());
      rates.push(median(measured));
    }
    figures.push({
      label: `sends of ${name} at ${CONTENTION.join(', ')} connections: rate at ${CONNECTIONS} ÷ at 1`,
      ours: `${rates.map(formatNumber).join(', ')}/s`,
      limit: '',
      value: rates.at(-1)! / rates[0]!,
      goal: null,
    });
  }
  const cost = await child.call<SendCost>('cost', lab.size(500, 20));
  const each = (label: string, value: number, atMost: number, unit?: string): Figure => ({
    label: `${label} of a send on PostgreSQL`,
    ours: formatNumber(value),
    limit: '',
    value,
    goal: { atMost, ...(unit !== undefined && { unit }) },
  });
  figures.push(
    each('round trips', cost.roundTrips, 7),
    each('commits', cost.commits, 1),
    each('write-ahead log, without full-page images,', cost.walBytes / 1000, 3, 'kB'),
  );
  await child.stop();
  return figures;
}

/** CPU time of a server per send, in microseconds. */
async function costOfSends(lab: Lab, server: DatabaseServer): Promise<readonly Figure[]> {
  const { database, contents } = await lab.copyOf(team);
  const url = await server.filledFrom(database);
  const [onFile, onServer] = [await lab.serve(database), await lab.serve(url, [], NODE_ENVIRONMENT)];
  const load = lab.load();
  const costOn = async (parley: ParleyServer) => {
    const authors = await ApiUser.signInAll(parley, contents.people);
    const requests = authors.map((author) => author.sends(contents.channelId, 'Good morning.'));
    return async () => {
      const before = (await parley.usage()).cpuMs;
      const until = { seconds: lab.size(2, 0.3) };
      const { answers } = await load.run({ port: parley.port, requests, inFlight: 8, until });
      return (((await parley.usage()).cpuMs - before) * 1000) / answers;
    };
  };
  const rounds = await interleave(lab.rounds, { ours: await costOn(onServer), file: await costOn(onFile) });
  return [
    {
      label: 'CPU of a node per send on PostgreSQL ÷ on SQLite',
      ...ratioOf(rounds.ours, rounds.file, ' µs'),
      goal: { atMost: 5.5 },
    },
  ];
}

/** Accounts of the waiting crowd; each has up to a hundred queues. */
const crowdTeam: WorldBuilder<Team> = async function crowdTeam(database, lab) {
  const world = await World.found(database);
  const people = await world.addPeople(lab.size(64, 12));
  const channelId = await world.addChannel('general', people);
  await world.close();
  return { realmId: world.realmId, people, channelId };
};

/** Several servers on one PostgreSQL database. */
export const cluster: Workload = {
  name: 'cluster',
  async run(lab) {
    const server = await DatabaseServer.start();
    const nats = hasNatsServer ? await NatsServer.atFreePort() : null;
    await nats?.start();
    try {
      return [
        ...(await costOfNodes(lab, server, nats)),
        ...(await delivery(lab, server, null)),
        ...(nats ? await delivery(lab, server, nats) : []),
        ...(await death(lab, server, nats)),
      ];
    } finally {
      await lab.stopAll();
      await nats?.kill();
      await server.stop();
    }
  },
};

/** Starts servers on one database and logs in a user for each person. */
async function startNodes(
  lab: Lab,
  url: string,
  count: number,
  nats: NatsServer | null,
  people: readonly { readonly email: string }[],
) {
  const env = { ...NODE_ENVIRONMENT, ...(nats && { PARLEY_BUS: nats.url }) };
  const nodes: ParleyServer[] = [];
  for (let n = 0; n < count; n++) nodes.push(await lab.serve(url, [], env));
  const users = await ApiUser.signInAll(nodes[0]!, people);
  const place = (node: number, user = 0) => ({
    port: nodes[node]!.port,
    authorization: users[user % users.length]!.authorization,
  });
  return { nodes, users, place };
}

async function costOfNodes(lab: Lab, server: DatabaseServer, nats: NatsServer | null): Promise<readonly Figure[]> {
  const { database, contents } = await lab.copyOf(team);
  const { people } = contents;
  const client = lab.start('cluster-client', { seat: 'client' });
  const cost = async (count: number) => {
    const url = await server.filledFrom(database);
    const { nodes, place } = await startNodes(lab, url, count, nats, people);
    const call: DeliverCall = {
      senders: people.map((_, n) => place(n % count, n)),
      receiver: place(count - 1),
      channelId: contents.channelId,
      perSecond: PER_SECOND / 2,
      seconds: lab.size(10, 1),
    };
    const cpu = async () =>
      (await Promise.all(nodes.map((node) => node.usage()))).reduce((sum, each) => sum + each.cpuMs, 0);
    // The compiler warms up equally for one and for four servers.
    await client.call('deliver', { ...call, perSecond: PER_SECOND, seconds: lab.size(5 * count, 1) });
    const before = await cpu();
    const { sent } = await client.call<Delivery>('deliver', call);
    const used = ((await cpu()) - before) * 1000;
    await Promise.all(nodes.map((node) => node.stop()));
    return used / sent;
  };
  const rounds = await interleave(lab.size(3, 1), { four: () => cost(4), one: () => cost(1) });
  return [
    {
      label: `CPU of all nodes per send at ${PER_SECOND / 2} sends/s, with one client that polls, at 4 nodes ÷ at 1`,
      ...ratioOf(rounds.four, rounds.one, ' µs'),
      goal: { atMost: 1.2 },
    },
  ];
}

async function delivery(lab: Lab, server: DatabaseServer, nats: NatsServer | null): Promise<readonly Figure[]> {
  const { database, contents } = await lab.copyOf(team);
  const url = await server.filledFrom(database);
  const { people } = contents;
  const { nodes, place } = await startNodes(lab, url, 2, nats, people);
  const client = lab.start('cluster-client', { seat: 'client' });
  const call: DeliverCall = {
    senders: people.map((_, n) => place(0, n)),
    receiver: place(1),
    channelId: contents.channelId,
    perSecond: PER_SECOND,
    seconds: lab.size(10, 1),
  };
  await client.call('deliver', { ...call, seconds: lab.size(2, 1) });
  const statistics = new UnorderedSends(url, 1);
  // PostgreSQL publishes its counters after a second.
  await sleep(1500);
  const before = await statistics.logReads();
  const { sent, p50Ms, p99Ms } = await client.call<Delivery>('deliver', call);
  await sleep(1500);
  const reads = (await statistics.logReads()) - before;
  await statistics.close();
  await Promise.all(nodes.map((node) => node.stop()));
  const label = `from the response of a send on one node to the poll on another at ${PER_SECOND} sends/s`;
  const line = (name: string, value: number, atMost: number): Figure => ({
    label: `${name} ${label}, ${nats ? 'with the bus' : 'without a bus'}`,
    ours: `${formatNumber(value)} ms`,
    limit: '',
    value,
    goal: { atMost, unit: 'ms' },
  });
  if (!nats) return [line('p99', p99Ms, 400)];
  return [
    line('p50', p50Ms, 5),
    line('p99', p99Ms, 50),
    {
      label: 'reads of the log per event and node with the bus',
      ours: formatNumber(reads),
      limit: `${formatNumber(sent)} events`,
      value: Math.round((reads / sent / nodes.length) * 100) / 100,
      goal: { atMost: 0 },
    },
  ];
}

/** Kills one of three nodes while clients wait on it. */
async function death(lab: Lab, server: DatabaseServer, nats: NatsServer | null): Promise<readonly Figure[]> {
  const { database, contents } = await lab.copyOf(crowdTeam);
  const url = await server.filledFrom(database);
  const { people } = contents;
  const { nodes, users, place } = await startNodes(lab, url, 3, nats, people);
  const client = lab.start('cluster-client', { seat: 'client' });
  const count = lab.size(5000, 60);
  const crowd: CrowdCall = {
    ports: nodes.map(({ port }) => port),
    authorizations: users.map(({ authorization }) => authorization),
    count,
  };
  await client.call('gather', crowd);
  const reach: ReachCall = { sender: place(0), channelId: contents.channelId };
  await client.call('reach', reach);
  const [killed, ...left] = [nodes[2]!, nodes[0]!, nodes[1]!];
  for (const node of left) await node.watch();
  killed.kill();
  const seconds = await client.call<number>('reach', reach);
  const stalls = await Promise.all(left.map(async (node) => (await node.usage()).worstStallMs));
  const clients = `${formatNumber(count)} waiting clients`;
  return [
    {
      label: `from SIGKILL of one of three nodes under ${clients} and a send until every client has the message`,
      ours: `${formatNumber(seconds)} s`,
      limit: '',
      value: seconds,
      goal: { atMost: 5, unit: 's' },
    },
    {
      label: `longest stall of another node after SIGKILL of one under ${clients}`,
      ours: stalls.map((each) => `${formatNumber(each)} ms`).join(', '),
      limit: '',
      value: Math.max(...stalls),
      goal: { atMost: 250, unit: 'ms' },
    },
  ];
}
