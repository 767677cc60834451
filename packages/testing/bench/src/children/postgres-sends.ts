import { performance } from 'node:perf_hooks';
import { openPostgresStorage } from '@parley/postgres';
import { type Recording, recordStatements, UnorderedSends, withoutOrder } from '@parley/postgres/testing';
import { aChannel, aRealm, aUser, createFixtureOn, type Fixture, sending } from '@parley/testkit';
import { clock } from '../worlds/history.js';
import { answerCalls } from './answer-calls.js';

export interface RateCall {
  readonly connections: number;
  /**
   * `ordered`: normal units. `unordered`: units without lock and head row. `replayed`: only the statements of unordered
   * units.
   */
  readonly kind: 'ordered' | 'unordered' | 'replayed';
  /** True for one organization with an author per connection, false for many organizations with one author each. */
  readonly isOne: boolean;
  readonly seconds: number;
}

/** In-process cost of a send on an otherwise idle machine. */
export interface SendCost {
  readonly roundTrips: number;
  readonly commits: number;
  readonly walBytes: number;
}

/** Maximum number of connections and authors. */
const AUTHORS = 16;

type PostgresStorage = Awaited<ReturnType<typeof openPostgresStorage>>;
type Send = () => Promise<{ readonly id: number }>;

let url: string;
let commits = 0;
const one: Send[] = [];
const many: Send[] = [];
const storages = new Map<number, PostgresStorage>();
const fixtures: Fixture[] = [];
const unordered = new Map<number, UnorderedSends>();
/** Recorded sends of `one` and `many`. */
const recorded: { readonly one: Recording[]; readonly many: Recording[] } = { one: [], many: [] };

const open = (connections: number) =>
  openPostgresStorage({ url, clock, limits: { connections }, onCommit: () => commits++ });

answerCalls({
  async found({ database, organizations }: { readonly database: string; readonly organizations: number }) {
    url = database;
    const storage = await open(AUTHORS);
    storages.set(AUTHORS, storage);
    for (let n = 0; n < organizations; n++) {
      const authors = Array.from({ length: n === 0 ? AUTHORS : 1 }, (_, author) => `author${author}`);
      const steps = authors.flatMap((name) => [
        aUser({ name }),
        aChannel({ name: `of ${name}`, subscribers: [name, 'reader'] }),
      ]);
      fixtures.push(
        await createFixtureOn(
          storage.uow,
          clock,
          aRealm({ stringId: `r${n}`, name: 'Bench' }),
          aUser({ name: 'reader' }),
          ...steps,
        ),
      );
    }
    use(storage);
    for (const [sends, recordings] of [
      [one, recorded.one],
      [many, recorded.many],
    ] as const) {
      for (const send of sends) {
        // The first sends open the topic and fill caches.
        for (let n = 0; n < 3; n++) await send();
        recordings.push(await recordStatements(send));
      }
    }
    await rawOf(1).prepare();
  },

  /** Sends per second. */
  async rate({ connections, kind, isOne, seconds }: RateCall): Promise<number> {
    let storage = storages.get(connections);
    if (!storage) {
      storage = await open(connections);
      storages.set(connections, storage);
    }
    use(storage);
    const sends = isOne ? one : many;
    const recordings = isOne ? recorded.one : recorded.many;
    const raw = rawOf(connections);
    const run = kind === 'replayed' ? (n: number) => raw.send(recordings[n]!) : (n: number) => sends[n]!();
    const count = async () => {
      const startedAt = performance.now();
      let done = 0;
      await Promise.all(
        Array.from({ length: connections }, async (_, connection) => {
          for (let n = connection; performance.now() - startedAt < seconds * 1000; n += connections) {
            await run(n % sends.length);
            done++;
          }
        }),
      );
      return (done * 1000) / (performance.now() - startedAt);
    };
    return kind === 'unordered' ? withoutOrder(count) : count();
  },

  async cost(count: number): Promise<SendCost> {
    const { gauges } = storages.get(AUTHORS)!;
    const before = { roundTrips: gauges().sessions!.roundTrips, commits, wal: await rawOf(1).walBytes() };
    for (let n = 0; n < count; n++) await one[0]!();
    return {
      roundTrips: (gauges().sessions!.roundTrips - before.roundTrips) / count,
      commits: (commits - before.commits) / count,
      walBytes: ((await rawOf(1).walBytes()) - before.wal) / count,
    };
  },
});

function rawOf(connections: number): UnorderedSends {
  let raw = unordered.get(connections);
  if (!raw) {
    raw = new UnorderedSends(url, connections);
    unordered.set(connections, raw);
  }
  return raw;
}

/** Switches the storage used for sends. */
function use({ uow }: PostgresStorage): void {
  one.splice(0);
  many.splice(0);
  fixtures.forEach((fixture, index) => {
    const send = sending({ uow, clock, caller: (name) => fixture.caller(name) });
    const by = (name: string): Send => {
      const id = fixture.channel(`of ${name}`).id;
      return () => send(name, { kind: 'channelId', id });
    };
    if (index === 0) for (let n = 0; n < AUTHORS; n++) one.push(by(`author${n}`));
    many.push(by('author0'));
  });
}
