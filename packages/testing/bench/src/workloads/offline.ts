import { statSync } from 'node:fs';
import type { ChannelId } from '@parley/domain/kernel';
import { ApiUser } from '../harness/api.js';
import { interleave, median, medianRatio } from '../harness/interleave.js';
import { formatNumber } from '../harness/table.js';
import type { Lab } from '../lab.js';
import type { Workload } from '../workload.js';
import { contentOf } from '../worlds/history.js';
import { type LargeOrganization, largeOrganization } from '../worlds/worlds.js';

/** Cost of a message while no user is online, in a large and a small channel. */
export const offline: Workload = {
  name: 'offline',
  async run(lab) {
    const many = await senderTo(lab, (organization) => organization.everybody);
    const few = await senderTo(lab, (organization) => organization.few);
    const cpu = await interleave(lab.rounds, { many: many.cpuOfSending, few: few.cpuOfSending });
    await Promise.all([many.stop(), few.stop()]);
    const subscribers = `${formatNumber(many.subscribers)} offline subscribers ÷ to ${few.subscribers}`;
    return [
      {
        label: `send to ${subscribers}, CPU`,
        ours: `${formatNumber(median(cpu.many) * 1000)} µs`,
        limit: `${formatNumber(median(cpu.few) * 1000)} µs`,
        value: medianRatio(cpu.many, cpu.few),
        goal: { atMost: 1.1 },
      },
      {
        label: `send to ${subscribers}, bytes on disk`,
        ours: `${formatNumber(many.bytesPerMessage())} B`,
        limit: `${formatNumber(few.bytesPerMessage())} B`,
        value: many.bytesPerMessage() / few.bytesPerMessage(),
        goal: { atMost: 1.1 },
      },
    ];
  },
};

interface Sender {
  readonly subscribers: number;
  /** Milliseconds per message. */
  readonly cpuOfSending: () => Promise<number>;
  /** Available after `stop`. */
  readonly bytesPerMessage: () => number;
  readonly stop: () => Promise<void>;
}

/** Uses a separate server and database per measurement, since growth in a shared one cannot be attributed. */
async function senderTo(lab: Lab, channelOf: (organization: LargeOrganization) => ChannelId): Promise<Sender> {
  const { database, contents } = await lab.copyOf(largeOrganization);
  const sizeBefore = statSync(database).size;
  const parley = await lab.serve(database);
  const author = await ApiUser.signIn(parley, contents.people[0]!.email);
  const channelId = channelOf(contents);
  const requests = [author.sends(channelId, contentOf(1))];
  const load = lab.load();
  let sent = 0;
  return {
    subscribers: channelId === contents.everybody ? contents.people.length : 10,
    async cpuOfSending() {
      const before = await parley.usage();
      const { answers } = await load.run({
        port: parley.port,
        requests,
        inFlight: 32,
        until: { answers: lab.size(4000, 100) },
      });
      sent += answers;
      return ((await parley.usage()).cpuMs - before.cpuMs) / answers;
    },
    bytesPerMessage: () => (statSync(database).size - sizeBefore) / sent,
    stop: () => parley.stop(),
  };
}
