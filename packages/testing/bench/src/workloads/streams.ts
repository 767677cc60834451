import { setTimeout as sleep } from 'node:timers/promises';
import { interleave, median, type Rounds } from '../harness/interleave.js';
import type { ParleyServer } from '../harness/parley-server.js';
import { formatNumber, ratioOf } from '../harness/table.js';
import { bareClients, clientsOf, type WaitingClients } from '../harness/waiting-clients.js';
import type { Lab } from '../lab.js';
import type { Figure, Workload } from '../workload.js';
import { type LargeOrganization, largeOrganization } from '../worlds/worlds.js';

/** Event streams compared with polls of the same people. Each kind has its own server. */
export const streams: Workload = {
  name: 'streams',
  async run(lab) {
    const few = await compare(lab, lab.size(100, 10));
    await lab.stopAll();
    const all = await compare(lab, lab.size(10_000, 50));
    return [
      lastPoll(all),
      lastReceiver(all, 'bare', 'polls of bare node:http'),
      lastReceiver(few, 'polls', 'polls'),
      ...costs(all),
      await idle(lab, all.streamed),
    ];
  },
};

interface Crowd {
  readonly server: ParleyServer;
  readonly clients: WaitingClients;
  /** Memory of a waiting client, in bytes. */
  readonly bytesEach: number;
  /** Microseconds of CPU to deliver a message to a client and make it wait again, by round. */
  readonly cpu: number[];
}

interface Comparison {
  readonly polled: Crowd;
  readonly streamed: Crowd;
  /** Milliseconds until the last client has a message. */
  readonly lastMs: Rounds<'polls' | 'streams' | 'bare'>;
}

async function compare(lab: Lab, count: number): Promise<Comparison> {
  const streamed = await crowdOf(lab, count, 'streams');
  // Second, because the server closes idle connections of polls while streams are prepared.
  const polled = await crowdOf(lab, count, 'polls');
  await polled.clients.fire();
  const bare = await bareClients(lab, count, await polled.clients.sample());
  const lastMs = await interleave(lab.rounds, {
    polls: () => lastOf(polled.clients, polled.cpu),
    streams: () => lastOf(streamed.clients, streamed.cpu),
    bare: () => lastOf(bare),
  });
  return { polled, streamed, lastMs };
}

const lastPoll = ({ polled, lastMs }: Comparison): Figure => ({
  label: `last of ${formatNumber(polled.clients.count)} waiting polls receives a message ÷ bare node:http, same bytes`,
  ...ratioOf(lastMs.polls, lastMs.bare, ' ms'),
  goal: { atMost: 3 },
});

function lastReceiver({ streamed, lastMs }: Comparison, limit: 'polls' | 'bare', name: string): Figure {
  return {
    label: `last of ${formatNumber(streamed.clients.count)} streams receives a message ÷ ${name}`,
    ...ratioOf(lastMs.streams, lastMs[limit], ' ms'),
    goal: { atMost: 0.5 },
  };
}

function costs({ polled, streamed }: Comparison): readonly Figure[] {
  const [streamCpu, pollCpu] = [median(streamed.cpu), median(polled.cpu)];
  const one = `one of ${formatNumber(streamed.clients.count)} streams`;
  return [
    {
      label: `a message to ${one} ÷ to a poll, with the next poll, CPU`,
      ours: `${formatNumber(streamCpu)} µs`,
      limit: `${formatNumber(pollCpu)} µs`,
      value: streamCpu / pollCpu,
      goal: { atMost: 0.25 },
    },
    {
      label: `memory of ${one} ÷ of a waiting poll`,
      ours: `${formatNumber(streamed.bytesEach / 1000)} kB`,
      limit: `${formatNumber(polled.bytesEach / 1000)} kB`,
      value: streamed.bytesEach / polled.bytesEach,
      goal: { atMost: 1 },
    },
  ];
}

async function crowdOf(lab: Lab, count: number, kind: 'polls' | 'streams'): Promise<Crowd> {
  const { database, contents } = await lab.copyOf(largeOrganization);
  const people: LargeOrganization['people'] = contents.people.slice(0, count);
  const server = await lab.serve(database);
  const clients = await clientsOf(lab, server, { ...contents, people }, kind);
  const before = await server.heldBytes();
  await clients.park();
  // Freed garbage may exceed the memory of few clients.
  const bytes = Math.max(1, (await server.heldBytes()) - before);
  return { server, clients, bytesEach: bytes / count, cpu: [] };
}

/** Milliseconds until the last client has a message. Adds the microseconds of CPU per client to `cpu`. */
async function lastOf(clients: WaitingClients, cpu: number[] = []): Promise<number> {
  const before = await clients.server.usage();
  await clients.park();
  const lastMs = await clients.fire();
  const after = await clients.server.usage();
  cpu.push(((after.cpuMs - before.cpuMs) * 1000) / clients.count);
  return lastMs;
}

/** The duration is one heartbeat interval. */
async function idle(lab: Lab, { server, clients }: Crowd): Promise<Figure> {
  const seconds = lab.size(45, 1);
  const before = await server.usage();
  await sleep(seconds * 1000);
  const after = await server.usage();
  return {
    label: `${formatNumber(clients.count)} idle streams: share of a core`,
    ours: '',
    limit: '',
    value: (after.cpuMs - before.cpuMs) / seconds / 10,
    goal: { atMost: 1, unit: '%' },
  };
}
