import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { GroupId, Repositories, Transaction } from '@parley/domain/kernel';
import { aChannel, aUser, createFixtureOn, FixedClock, type Fixture, useUpTimeSlice } from '@parley/testkit';
import type { SqliteStorage } from '../index.js';
import { openNewStorage } from '../testing/new-storage.js';

const directory = mkdtempSync(join(tmpdir(), 'parley-caches-'));
let storage: SqliteStorage;
let fixture: Fixture;
let everyone: GroupId;
let nobody: GroupId;

let count = 0;
beforeEach(async () => {
  const clock = new FixedClock();
  storage = openNewStorage({ path: join(directory, `${count++}.db`), clock });
  fixture = await createFixtureOn(
    storage.uow,
    clock,
    aUser({ name: 'iago' }),
    aChannel({ name: 'general', creator: 'iago' }),
  );
  ({ everyone, nobody } = await storage.uow.read(fixture.realm.id, (r) => r.groups.systemGroupIds(fixture.realm.id)));
});
afterEach(() => storage.close());
afterAll(() => rmSync(directory, { recursive: true }));

/** Returns the anonymous group that contains the channel's creator. */
const administratorsOf = ({ channel }: Fixture): GroupId => channel('general').permissions.canAdministerChannel;

type Change = (tx: Transaction) => Promise<unknown>;
type Look = (r: Repositories) => Promise<unknown>;

/** Cached data, two changes of it with the same resulting version, and a way to observe it. */
const kept: [string, { first: Change; second: Change; look: Look; seen: () => unknown }][] = [
  [
    'a realm',
    {
      first: (tx) => tx.realms.update({ ...fixture.realm, name: 'First' }),
      second: (tx) => tx.realms.update({ ...fixture.realm, name: 'Second' }),
      look: async (r) => (await r.realms.get(fixture.realm.id)).name,
      seen: () => 'Second',
    },
  ],
  [
    'a user',
    {
      first: (tx) => tx.users.update({ ...fixture.user('iago'), fullName: 'First' }),
      second: (tx) => tx.users.update({ ...fixture.user('iago'), fullName: 'Second' }),
      look: async (r) => (await r.users.find(fixture.realm.id, fixture.user('iago').id))?.fullName,
      seen: () => 'Second',
    },
  ],
  [
    'a channel',
    {
      first: (tx) => tx.channels.update({ ...fixture.channel('general'), description: 'First' }),
      second: (tx) => tx.channels.update({ ...fixture.channel('general'), description: 'Second' }),
      look: async (r) => (await r.channels.find(fixture.realm.id, fixture.channel('general').id))?.description,
      seen: () => 'Second',
    },
  ],
  [
    "the values of a channel's permissions",
    {
      first: (tx) => tx.groups.removeMembers(fixture.realm.id, administratorsOf(fixture), [fixture.user('iago').id]),
      second: (tx) => tx.groups.addSubgroups(fixture.realm.id, administratorsOf(fixture), [everyone]),
      look: async (r) =>
        (await r.channels.listViewsWhere(fixture.realm.id, () => true))[0]!.permissions.canAdministerChannel,
      seen: () => ({ directMembers: [fixture.user('iago').id], directSubgroups: [everyone] }),
    },
  ],
  [
    "an actor's role",
    {
      first: (tx) => tx.users.update({ ...fixture.user('iago'), role: 'owner' }),
      second: (tx) => tx.users.update({ ...fixture.user('iago'), role: 'guest' }),
      look: async (r) => (await r.actors.get(fixture.caller('iago'))).role,
      seen: () => 'guest',
    },
  ],
  [
    "an actor's groups",
    {
      first: (tx) => tx.groups.addMembers(fixture.realm.id, nobody, [fixture.user('iago').id]),
      second: (tx) => tx.groups.addMembers(fixture.realm.id, everyone, [fixture.user('iago').id]),
      look: async (r) => (await r.actors.get(fixture.caller('iago'))).groups.has(nobody),
      seen: () => false,
    },
  ],
  [
    'the members of groups',
    {
      first: (tx) => tx.groups.addMembers(fixture.realm.id, nobody, [fixture.user('iago').id]),
      second: (tx) => tx.groups.addMembers(fixture.realm.id, everyone, [fixture.user('iago').id]),
      look: async (r) => {
        const views = await r.groups.listViews(fixture.realm.id);
        const theirs = views.filter(({ memberIds }) => memberIds.includes(fixture.user('iago').id));
        return [nobody, everyone].filter((id) => theirs.some((view) => view.id === id));
      },
      seen: () => [everyone],
    },
  ],
];

describe.each(kept)('cache of %s', (_, { first, second, look, seen }) => {
  it('does not cache the state of a unit that was rolled back', async () => {
    const failing = storage.uow.write(fixture.realm.id, async (tx) => {
      await first(tx);
      await look(tx);
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    await storage.uow.write(fixture.realm.id, second);
    expect(await storage.uow.read(fixture.realm.id, look)).toEqual(seen());
    expect(await storage.uow.write(fixture.realm.id, look)).toEqual(seen());
  });

  it('does not cache rolled-back state from a later unit of the same batch', async () => {
    const failing = storage.uow.write(fixture.realm.id, async (tx) => {
      await first(tx);
      await look(tx);
      throw new Error('no');
    });
    const [, committed] = await Promise.all([
      expect(failing).rejects.toThrow('no'),
      storage.uow.write(fixture.realm.id, async (tx) => {
        await second(tx);
        return look(tx);
      }),
    ]);
    expect(committed).toEqual(seen());
    expect(await storage.uow.read(fixture.realm.id, look)).toEqual(seen());
  });

  it('keeps the cached state for a read that began before the change', async () => {
    const before = await storage.uow.read(fixture.realm.id, look);
    const seenInside = await storage.uow.readAcross(async (r) => {
      await r.realms.list();
      let isOver = false;
      void storage.uow
        .write(fixture.realm.id, second)
        .then(() => storage.uow.read(fixture.realm.id, look))
        .then(() => {
          isOver = true;
        });
      while (!isOver) {
        useUpTimeSlice();
        await r.realms.list();
      }
      return look(r);
    });
    expect(seenInside).toEqual(before);
    expect(await storage.uow.read(fixture.realm.id, look)).toEqual(seen());
  });
});

it('counts the active subscribers of a channel after any change of subscriptions and users', async () => {
  await fixture.add(aUser({ name: 'hamlet' }), aUser({ name: 'ophelia' }));
  await fixture.add(aChannel({ name: 'elsinore', subscribers: ['hamlet', 'ophelia'] }));
  const { realm } = fixture;
  const { id } = fixture.channel('elsinore');
  const subscribe =
    (isActive: boolean): Change =>
    async (tx) => {
      const [row] = await tx.channels.listSubscriptions(realm.id, fixture.user('hamlet').id);
      await tx.channels.putSubscriptions([{ ...row!, isActive }]);
    };
  const activate =
    (isActive: boolean): Change =>
    async (tx) => {
      await tx.users.update({ ...fixture.user('hamlet'), isActive });
    };
  const counts: number[] = [];
  for (const change of [
    subscribe(true),
    activate(false),
    activate(false),
    subscribe(false),
    activate(true),
    subscribe(true),
    activate(false),
    activate(true),
    subscribe(false),
  ]) {
    await storage.uow.write(realm.id, change);
    await storage.uow.read(realm.id, async (r) => {
      counts.push(await r.channels.countSubscribers(realm.id, id));
      expect((await r.channels.listSubscribers(realm.id, [id])).get(id)).toHaveLength(counts.at(-1)!);
    });
  }
  expect(counts).toEqual([2, 1, 1, 1, 1, 2, 1, 2, 1]);
});
