import type { Transaction } from '@parley/domain/kernel';
import { aChannel, aUser, createFixtureOn, FixedClock, type Fixture } from '@parley/testkit';
import { openPostgresStorage, type PostgresStorage } from '../database.js';
import { createDatabase, type TestDatabase } from '../testing/databases.js';

const clock = new FixedClock();
let database: TestDatabase;
let here: PostgresStorage;
let elsewhere: PostgresStorage;
let fixture: Fixture;
const statements: string[] = [];

beforeAll(async () => {
  database = await createDatabase();
  here = await openPostgresStorage({ url: database.url, clock, trace: (sql) => statements.push(sql) });
  elsewhere = await openPostgresStorage({ url: database.url, clock });
  fixture = await createFixtureOn(
    here.uow,
    clock,
    aUser({ name: 'a' }),
    aChannel({ name: 'general', subscribers: ['a'] }),
  );
});
afterAll(async () => {
  await here.close();
  await elsewhere.close();
  await database.drop();
});

const seenHere = () =>
  here.uow.read(fixture.realm.id, async ({ actors, channels, groups, users, alertWords }) => ({
    isModerator: (await actors.get(fixture.caller('a'))).groups.has(
      (await groups.systemGroupIds(fixture.realm.id)).moderators,
    ),
    topicsPolicy: (await channels.findByName(fixture.realm.id, 'general'))!.topicsPolicy,
    isSubscribed: await channels.isSubscribed(fixture.realm.id, fixture.channel('general').id, fixture.user('a').id),
    name: (await users.find(fixture.realm.id, fixture.user('a').id))!.fullName,
    hasAlertWords: await alertWords.hasAny(fixture.realm.id),
  }));

async function rename(tx: Transaction, fullName: string): Promise<void> {
  const user = (await tx.users.find(fixture.realm.id, fixture.user('a').id))!;
  await tx.users.update({ ...user, fullName });
}

async function subscribe(tx: Transaction, isActive: boolean): Promise<void> {
  const { realm } = fixture;
  const existing = await tx.channels.findSubscription(realm.id, fixture.channel('general').id, fixture.user('a').id);
  await tx.channels.putSubscriptions([{ ...existing!, isActive }]);
}

async function setPolicy(tx: Transaction, topicsPolicy: 'inherit' | 'emptyTopicOnly'): Promise<void> {
  const channel = (await tx.channels.find(fixture.realm.id, fixture.channel('general').id))!;
  await tx.channels.update({ ...channel, topicsPolicy });
}

it('reads no versions while cached data is unchanged', async () => {
  await seenHere();
  statements.length = 0;
  await seenHere();
  expect(statements.map((sql) => sql.trim().split(/\s/)[0])).toEqual(['BEGIN', 'SELECT', 'COMMIT']);
});

it('sees changes by another server', async () => {
  const before = await seenHere();
  await elsewhere.uow.write(fixture.realm.id, (tx) => setPolicy(tx, 'emptyTopicOnly'));
  expect(await seenHere()).toEqual({ ...before, topicsPolicy: 'emptyTopicOnly' });
  await elsewhere.uow.writeAcross((tx) => rename(tx, 'Across'));
  expect(await seenHere()).toMatchObject({ name: 'Across' });
  await elsewhere.uow.write(fixture.realm.id, (tx) =>
    tx.alertWords.add(fixture.realm.id, fixture.user('a').id, ['lunch']),
  );
  expect(await seenHere()).toMatchObject({ hasAlertWords: true });
});

it('sees group members added and removed by another server', async () => {
  const change = (op: 'addMembers' | 'removeMembers') =>
    elsewhere.uow.write(fixture.realm.id, async (tx) => {
      const { moderators } = await tx.groups.systemGroupIds(fixture.realm.id);
      await tx.groups[op](fixture.realm.id, moderators, [fixture.user('a').id]);
    });
  const before = await seenHere();
  await change('addMembers');
  expect(await seenHere()).toEqual({ ...before, isModerator: true });
  await change('removeMembers');
  expect(await seenHere()).toEqual(before);
});

it.each(['write', 'writeAcross'] as const)(
  'sees subscription changes by another server through %s, and reads no other versions',
  async (how) => {
    const before = await seenHere();
    const change = (isActive: boolean) =>
      how === 'write'
        ? elsewhere.uow.write(fixture.realm.id, (tx) => subscribe(tx, isActive))
        : elsewhere.uow.writeAcross((tx) => subscribe(tx, isActive));
    await change(false);
    statements.length = 0;
    expect(await seenHere()).toEqual({ ...before, isSubscribed: false });
    if (how === 'write') expect(statements.filter((sql) => /version/.test(sql))).toEqual([]);
    await change(true);
    expect(await seenHere()).toEqual(before);
  },
);

it('finds a channel only under its new name', async () => {
  const rename = (name: string) =>
    elsewhere.uow.write(fixture.realm.id, async (tx) => {
      const channel = (await tx.channels.find(fixture.realm.id, fixture.channel('general').id))!;
      await tx.channels.update({ ...channel, name });
    });
  const isFound = (name: string) =>
    here.uow.read(
      fixture.realm.id,
      async ({ channels }) => (await channels.findByName(fixture.realm.id, name)) !== null,
    );
  expect(await isFound('general')).toBe(true);
  await rename('renamed');
  expect(await isFound('general')).toBe(false);
  expect(await isFound('renamed')).toBe(true);
  await rename('general');
});

it('sees its own changes within the unit, but not those of a failed unit', async () => {
  const before = await seenHere();
  const failing = here.uow.write(fixture.realm.id, async (tx) => {
    await rename(tx, 'Never');
    expect((await tx.users.find(fixture.realm.id, fixture.user('a').id))!.fullName).toBe('Never');
    throw new Error('fails');
  });
  await expect(failing).rejects.toThrow('fails');
  expect(await seenHere()).toEqual(before);
});
