import { setTimeout as delay } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { ApiUser } from '../harness/api.js';
import { runCommand } from '../harness/command.js';
import { interleave, median } from '../harness/interleave.js';
import { formatNumber, ratioOf } from '../harness/table.js';
import type { Lab } from '../lab.js';
import type { Workload } from '../workload.js';
import { contentOf, writeHistory } from '../worlds/history.js';
import { type Person, World } from '../worlds/world.js';
import { SENDS_PER_SECOND } from './windows.js';

/** Share of the messages that each erased person wrote. */
const SHARE = 50;

/** Latency of sends while everything that a person wrote is erased. */
export const erasure: Workload = {
  name: 'erasure',
  async run(lab) {
    // The first round is dropped.
    const { database, contents } = await lab.copyOf((path) => archiveOf(path, lab, lab.rounds + 1));
    const { author, channelId, erased, messages } = contents;
    const parley = await lab.serve(database);
    const requests = [(await ApiUser.signIn(parley, author.email)).sends(channelId, contentOf(1), 'now')];
    const load = lab.load();
    const until = { seconds: lab.size(2, 0.2) };
    const p99 = async () =>
      (await load.run({ port: parley.port, requests, inFlight: 64, perSecond: SENDS_PER_SECOND, until })).p99Ms;
    const rows = new Database(database, { readonly: true });
    const unfinished = rows.prepare('SELECT count(*) FROM erasure WHERE ended_at IS NULL').pluck();
    const unstarted = rows.prepare('SELECT count(*) FROM erasure WHERE ended_at IS NULL AND removed_rows = 0').pluck();
    const seconds: number[] = [];
    const rounds = await interleave(lab.rounds, {
      async during() {
        const { id } = erased.pop()!;
        await runCommand([
          'user',
          'erase',
          String(id),
          '--everything-written',
          '--yes',
          `--database=sqlite:${database}`,
        ]);
        // The server finds work of other processes within half a minute.
        while (unstarted.get() !== 0) await delay(100);
        const startedAt = performance.now();
        const windows: number[] = [];
        do windows.push(await p99());
        while (unfinished.get() !== 0);
        seconds.push((performance.now() - startedAt) / 1000);
        return median(windows);
      },
      alone: p99,
    });
    rows.close();
    const what = `a person with ${formatNumber(messages / SHARE)} of ${formatNumber(messages)} messages is erased`;
    return [
      {
        label: `p99 of ${SENDS_PER_SECOND} sends/s while ${what} (${formatNumber(median(seconds))} s) ÷ without`,
        ...ratioOf(rounds.during, rounds.alone, ' ms'),
        goal: { atMost: 2 },
      },
    ];
  },
};

interface Erasable {
  readonly author: Person;
  readonly channelId: number;
  readonly erased: Person[];
  readonly messages: number;
}

/** Creates an archive in which some people wrote an equal share of the messages, and one person the rest. */
async function archiveOf(database: string, lab: Lab, people: number): Promise<Erasable> {
  const world = await World.found(database);
  const author = await world.addOwner();
  const erased = [...(await world.addPeople(people))];
  const channelId = await world.addChannel('general', [author, ...erased]);
  await world.close();
  const messages = 2 * lab.messages;
  await writeHistory(database, {
    ...{ realmId: world.realmId, count: messages, readBy: [author.id] },
    originOf: (n) => ({ channelId, topic: `topic ${n % 40}`, senderId: (erased[n % SHARE] ?? author).id }),
  });
  return { author, channelId, erased, messages };
}
