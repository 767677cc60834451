import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type GroupId, type Repositories, settingValues } from '@parley/domain/kernel';
import { STORED_REALM_SETTINGS, USER_SETTINGS } from '@parley/domain/realms';
import { Quarantine } from '@parley/storage';
import { aChannel, aMessage, aRealm, aUser, createFixtureOn, FixedClock, type Fixture } from '@parley/testkit';
import Sqlite from 'better-sqlite3';
import { openSqliteStorage, type SqliteStorage } from '../index.js';

const directory = mkdtempSync(join(tmpdir(), 'parley-quarantine-'));
let files = 0;
let path: string;
let storage: SqliteStorage;
let reports: string[];
let fixture: Fixture;
let healthy: Fixture;
const clock = new FixedClock();

const open = () => openSqliteStorage({ path, clock, report: (problem) => reports.push(problem) });

beforeEach(async () => {
  path = join(directory, `${++files}.db`);
  reports = [];
  storage = open();
  fixture = await createFixtureOn(
    storage.uow,
    clock,
    aUser({ name: 'hamlet', role: 'owner' }),
    aUser({ name: 'iago' }),
    aChannel({ name: 'general', subscribers: ['hamlet', 'iago'] }),
    aMessage({ from: 'hamlet', to: 'general' }),
  );
  healthy = await createFixtureOn(storage.uow, clock, aRealm({ stringId: 'healthy' }), aUser({ name: 'cordelia' }));
});
afterEach(() => storage.close());
afterAll(() => rmSync(directory, { recursive: true }));

/** Damages the database like bit rot or a careless editor. */
async function damage(statement: string, ...parameters: unknown[]): Promise<void> {
  await storage.close();
  const database = new Sqlite(path);
  expect(database.prepare(statement).run(...parameters).changes).toBeGreaterThan(0);
  database.close();
  storage = open();
}
const read = <T>(work: (r: Repositories) => Promise<T>) => storage.uow.read(fixture.realm.id, work);
const told = (where: string) => [expect.stringContaining(`(${where}: `)];

it.each(['{', '[]', 'null', '"x"', ''])('reads unreadable settings %j of a realm as the defaults', async (json) => {
  const { id } = fixture.realm;
  await damage('UPDATE realm SET settings = ? WHERE id = ?', json, id);
  const realms = await read((r) => r.realms.list());
  expect(realms.map((realm) => realm.id)).toEqual([id, healthy.realm.id]);
  expect(realms[0]!.settings).toEqual(settingValues(STORED_REALM_SETTINGS, {}));
  expect(realms[1]).toEqual(healthy.realm);
  expect(reports).toEqual(told(`realm ${id}, settings`));
});

it('keeps the readable settings of a realm', async () => {
  const { id } = fixture.realm;
  const json = JSON.stringify({
    waitingPeriodThreshold: 'x',
    gifRatingPolicy: 9,
    inviteRequired: 0,
    description: 'kept',
  });
  await damage('UPDATE realm SET settings = ? WHERE id = ?', json, id);
  expect((await read((r) => r.realms.get(id))).settings).toEqual({
    ...settingValues(STORED_REALM_SETTINGS, {}),
    description: 'kept',
  });
  expect(reports).toEqual([expect.stringContaining(`(realm ${id}, settings: no value of gifRatingPolicy)`)]);
});

it('grants an unreadable permission to nobody', async () => {
  const { id } = fixture.realm;
  const general = fixture.channel('general');
  await damage("UPDATE realm SET permissions = '{' WHERE id = ?", id);
  await damage(
    `UPDATE channel SET permissions = json_set(permissions, '$.canSubscribe', 'x') WHERE id = ?`,
    general.id,
  );
  await damage("UPDATE user_group SET permissions = '7' WHERE realm_id = ? AND system_name = 'members'", id);
  const { nobody, members } = await read((r) => r.groups.systemGroupIds(id));
  const realm = await read((r) => r.realms.get(id));
  expect(new Set(Object.values(realm.permissions))).toEqual(new Set([nobody]));
  const channel = (await read((r) => r.channels.find(id, general.id)))!;
  expect(channel.permissions).toEqual({ ...general.permissions, canSubscribe: nobody });
  const [view] = await read((r) => r.channels.listViews(id, [general.id]));
  expect(view!.permissions.canSubscribe).toBe(nobody);
  const group = (await read((r) => r.groups.find(id, members)))!;
  expect(new Set(Object.values(group.permissions!))).toEqual(new Set([nobody]));
  expect(await read((r) => r.groups.listViews(id))).toHaveLength(8);
  expect(reports).toHaveLength(3);
});

it('reads a user with unreadable values as a guest with default settings', async () => {
  const { id } = fixture.user('hamlet');
  const realmId = fixture.realm.id;
  await damage(
    "UPDATE user SET role = 'king', settings = '{]', edited_settings = '[7]', special_permissions = '{}', avatar_source = '?' WHERE id = ?",
    id,
  );
  const user = (await read((r) => r.users.find(realmId, id)))!;
  expect(user).toMatchObject({
    role: 'guest',
    specialPermissions: [],
    editedSettings: [],
    avatar: { source: 'generated' },
  });
  expect(user.settings).toEqual(settingValues(USER_SETTINGS, {}));
  expect((await read((r) => r.actors.get({ realmId, userId: id }))).role).toBe('guest');
  const heads = await read((r) => r.users.listEntries(realmId));
  const users = await read((r) =>
    r.users.list(
      realmId,
      heads.map((head) => head.id),
    ),
  );
  expect(users.map(({ email }) => email)).toEqual(['hamlet', 'iago'].map((name) => fixture.user(name).email));
  const [message] = fixture.messages;
  expect(await read((r) => r.pages.listViews(realmId, [message!.id]))).toHaveLength(1);
  expect(new Set(reports).size).toBe(reports.length);
  expect(reports).toHaveLength(5);
});

it('reads a channel of unknown privacy as private and drops unknown links of a message', async () => {
  const general = fixture.channel('general');
  const [message] = fixture.messages;
  await damage("UPDATE channel SET privacy = '?', topics_policy = '?' WHERE id = ?", general.id);
  await damage("UPDATE message SET topic_links = '[7]' WHERE id = ?", message!.id);
  const channels = await read((r) => r.channels.listAll(fixture.realm.id));
  expect(channels).toEqual([
    { ...general, privacy: 'privateProtectedHistory', topicsPolicy: 'inherit', version: expect.any(Number) },
  ]);
  expect((await read((r) => r.messages.find(fixture.realm.id, message!.id)))!.topicLinks).toEqual([]);
  expect(reports).toHaveLength(3);
});

it('reports each location once up to a maximum', () => {
  const lines: string[] = [];
  const quarantine = new Quarantine((line) => lines.push(line));
  for (let i = 0; i < 3000; i++) quarantine.report({ table: 'user', id: i >> 1, column: 'settings' }, 'no JSON');
  expect(lines).toHaveLength(1000);
  expect(lines[0]).toBe(
    'The database contains an invalid value (user 0, settings: no JSON), which is replaced by a harmless one.',
  );
  expect(new Set(lines).size).toBe(1000);
  expect(quarantine.word('owner', ['owner', 'guest'], 'guest', 'user', 1, 'role')).toBe('owner');
});

it('grants permissions to no group in a realm without system groups', async () => {
  await damage("UPDATE realm SET permissions = '' WHERE id = ?", fixture.realm.id);
  await damage('UPDATE user_group SET system_name = NULL WHERE realm_id = ?', fixture.realm.id);
  const realm = await read((r) => r.realms.get(fixture.realm.id));
  expect(new Set(Object.values(realm.permissions))).toEqual(new Set([0 as GroupId]));
});
