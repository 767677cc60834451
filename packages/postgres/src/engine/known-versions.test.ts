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
  fixture = await createFixtureOn(here.uow, clock, aUser({ name: 'a' }), aChannel({ name: 'general' }));
});
afterAll(async () => {
  await here.close();
  await elsewhere.close();
  await database.drop();
});

const seenHere = () =>
  here.uow.read(fixture.realm.id, async ({ channels, users, alertWords }) => ({
    topicsPolicy: (await channels.find(fixture.realm.id, fixture.channel('general').id))!.topicsPolicy,
    name: (await users.find(fixture.realm.id, fixture.user('a').id))!.fullName,
    hasAlertWords: await alertWords.hasAny(fixture.realm.id),
  }));

async function rename(tx: Transaction, fullName: string): Promise<void> {
  const user = (await tx.users.find(fixture.realm.id, fixture.user('a').id))!;
  await tx.users.update({ ...user, fullName });
}

async function setPolicy(tx: Transaction, topicsPolicy: 'inherit' | 'emptyTopicOnly'): Promise<void> {
  const channel = (await tx.channels.find(fixture.realm.id, fixture.channel('general').id))!;
  await tx.channels.update({ ...channel, topicsPolicy });
}

it('asks for no versions while nothing that is cached changes', async () => {
  await seenHere();
  statements.length = 0;
  await seenHere();
  expect(statements.map((sql) => sql.split(' ')[0])).toEqual(['BEGIN', 'SELECT', 'COMMIT']);
});

it('sees what another server has changed', async () => {
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

it('sees its own changes within the unit, and not those of a unit that fails', async () => {
  const before = await seenHere();
  const failing = here.uow.write(fixture.realm.id, async (tx) => {
    await rename(tx, 'Never');
    expect((await tx.users.find(fixture.realm.id, fixture.user('a').id))!.fullName).toBe('Never');
    throw new Error('fails');
  });
  await expect(failing).rejects.toThrow('fails');
  expect(await seenHere()).toEqual(before);
});
