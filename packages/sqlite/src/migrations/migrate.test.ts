import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FixedClock } from '@parley/testkit';
import Sqlite from 'better-sqlite3';
import { APPLICATION_ID, LATEST_VERSION, openWriter } from '../database.js';
import { DatabaseRefused } from '../database-refused.js';
import { lastSeqOf } from '../events/event-ids.js';
import { MIGRATIONS } from '../features.js';
import { openSqliteStorage } from '../index.js';
import { BLOB_TABLES } from '../maintenance.js';
import { migrate } from './migrate.js';
import { checksumOf } from './migration.js';
import { fingerprintOf, normalizedSchema } from './recognize.js';

/** A line is never changed, nor is the step it stands for: a new step goes to the end, and gets a line of its own. */
const RELEASED = [
  ['0001-initial', 'b64d050a62bae03f4b91947b2b22b57d936b9990db2414512dad4f8c4b695dee'],
  ['0002-server-address', '853c511763807007878da80f6d6a07f00b2c9cb587fd97b32dfdfafea729a52a'],
  ['0003-event-formats', 'a36f484a21baafcf5189dfe1bbfd2e35f38a40b802a0fd76b8eb078195d39bf9'],
  ['0004-setting-words', 'de0f25ec0610b4055551bac7daaeab99c774d9111ae11cbd7b4a4782b77bab55'],
  ['0005-narrow-indexes', '11b0ba5a3668656726c7a1abbe518d6f03b7bd8e5e0e533002739d85c3ee1e2f'],
  ['0006-jobs', '09453bf665456242581089e0fdd493beba7beb186ad71c40ccdeea68378b1e5f'],
  ['0007-plain-names', '4bb787fe6a332e853d3b0b0d2a64dbebf8cd92208aeb2d26304e5e846d2a8063'],
  ['0008-reactions', '67fc9b91a7d396284435f6f62236ed897bd28a1dfb9bf655bfdfecb65557f5ae'],
  ['0009-search', '13df6ee7e09794616dc50a1601f68437e489989dd7606c049e6c09bdcf0d3ae2'],
  ['0010-bot-storage', '3acc4e30569009abcb45be75a76ed4ac94db8c5237670d4ed573efede483ebac'],
  ['0011-push', '5fd19609d8c2ada7ac2a6e0f6cba08fb31c07787f3f73373afe772a20f74d9a6'],
  ['0012-scheduling', '9a7c32ed36ba83a9f8e96a41e8f71d635c3ccac383ebf8e29b49d4d2c92befb0'],
  ['0013-message-changes', 'ba6a981923b4eb78a5e5041d73c102e1e9033bcbba4b3dc416b2b1f550626645'],
  ['0014-bots', 'f99226392df6a192771ff2226cfada5bb5963854d80398616971d45f6f606a37'],
  ['0015-channel-lists', '050acfaefd92c0c8fa039e678c8ca3a61ffafa7796ae66c667c8f4cacec7652c'],
  ['0016-personal-lists', 'b522a80c75decdee7c8a0e16c9d1a16a6f6263bceb3dc45ef71baf8add762677'],
  ['0017-people', '4b2479ae988a7e79ddb69ed325beb1aea4c930fd9d0bd6998723958f2f5c8856'],
  ['0018-presence', 'fe80176896a9efb018f13162c7ed49576c1f3c295af70e75647a915469911dbd'],
  ['0019-statuses', '3be1a7375ee0782bef4b0baa9e53d78baed1c5d496e8b9956bb3bc8452358b9e'],
  ['0020-organization-lists', 'c33f4121bb7630ef75131d96451ef027f413d394331c05ba0c0c1b4067624a56'],
  ['0021-invitations', 'ef62d3676fc961ff4bc6250e8fae220fa91ee6a51d90413386600895ed1d801e'],
  ['0022-muted-users', '72307135dd732fb9b63a0e874d86d988c5eb20ca5f32c31a958ded816d91a66a'],
  ['0023-anonymous-groups', 'a5c2d37be13bcbdf97709411a090c2bfb528b67c8b35055a5b0f8b02c746c5e5'],
  ['0024-alert-words', '82e7cf7f875a4222d54d72ca7f332a628f30bce26635d0ce095c373a482355a2'],
  ['0025-files', '9a5570a1d79eba217c6a9ada4669d83d507e5285c369c2855de35cadadedb543'],
  ['0026-muted-topics', 'e410dcfedbc1f9b02da314c0c0538ec17eeb51fa68fb8df1f26e0b5e6b0836a3'],
  ['0027-search-terms', 'aeaa2d9145191c0f1e71e6710445e38ad7dd70360dcd6ab981daa47777d28d60'],
  ['0028-pictures', 'ae7e98a76702ba532dfcd24a6a5931c4af92dfcacc360373e3c70fc3e922f1c8'],
  ['0029-host-application', '78b0bf6517170688f2d5f10d5aa3c056a32c499fe2c3670944d2f9ea8eb66656'],
  ['0030-uploads', 'bfaf3ecd9839ad84af5484b343ba70e59265585904b6913e0175163774392a5e'],
  ['0031-topics-policies', '0ff6f4c984d6fdfd2242996fb756c4e39f56de455aedf90583fa3ef1ccf1644a'],
  ['0032-sessions', '92c74de4a15afa792e89c38dc562c9e1fb6133be20037629f99de8948a82cdda'],
  ['0033-thumbnails', '83e5e2adbffbfff143cd0f1acfe4577aeadbf92d35693ae380cba15489c8d3ac'],
  ['0034-confirmations', 'e8beffbc3f02011036a5bd5517d56f2d91ddeb0915eb271d2fa99dfb481bae0e'],
  ['0035-exports', '1d34086f4c5986248fb66d91183ad4fa9d8ddda43a781bb59f844f8fc2834d60'],
  ['0036-space-of-owners', '3d160f65ecce60c38f307754243df67c6b55f09a75cd6042b694b25d19e89d58'],
  ['0037-deleted-users', 'fffc5774aad358968d4d87c4e13830e7ed3781f25e807abf2fc8d48b27ba8014'],
  ['0038-membership-count', '80d143cd97e2466021219ba8ac5d4b027683deb09ebf999db320f803be8aa075'],
  ['0039-imported-messages', 'c59a5cc14486e0f7dfa71a591a4914b5e9fa1d08924a09318d34b8814fe06a79'],
  ['0040-invitation-offers', 'de94b58d5923984aed1e139cbad27180bcd380bb700410a39d28394e831e1b1c'],
  ['0041-permission-holder-count', '4dc02eca96d4ca78fe26ea8d0e6659df93c343ea37aa748643dbc79e8c247fd8'],
  ['0042-setting-values-version', 'dd862407dd09806d26976f525f7b1e543aa2c522a4044e9c79794b5db1236105'],
  ['0043-event-ids', 'adee0d06e654825fc1d9488933a25891032cca55321bc617003d6bc1d2bd7f3b'],
];

let directory: string;
let path: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'parley-migrations-'));
  path = join(directory, 'parley.db');
});
afterEach(() => rmSync(directory, { recursive: true }));

/** A file as it was before steps were recorded. */
function writeUnrecorded(change: (sql: string) => string = (sql) => sql): void {
  const database = new Sqlite(path);
  database.pragma(`application_id = ${APPLICATION_ID}`);
  database.pragma('journal_mode = WAL');
  database.exec(change(MIGRATIONS[0]!.sql));
  database.exec(`
    INSERT INTO realm (version, groups_version, string_id, uuid, name, is_deactivated, created_at, settings,
                       rendered_description, user_defaults, permissions)
    VALUES (1, 1, 'lear', 'u', 'King Lear', 0, 0, '{}', '', '{}', '{}')`);
  database.pragma('user_version = 1');
  database.close();
}

const withoutSubmessages = (sql: string): string =>
  sql.replace(/CREATE TABLE submessage [^;]*;\s*CREATE INDEX submessage_by_message [^;]*;/, '');

/** Of a database made of all steps. */
function schemaOfSteps(): readonly string[] {
  const database = new Sqlite(':memory:');
  migrate(database, MIGRATIONS);
  database.exec('DROP TABLE schema_step');
  return normalizedSchema(database);
}

it('leaves released steps as they are', () => {
  expect(MIGRATIONS.map((migration) => [migration.name, checksumOf(migration)])).toEqual(RELEASED);
});

it("makes the schema that each feature's schema.sql describes", () => {
  const described = new Sqlite(':memory:');
  for (const feature of [
    'realms',
    'users',
    'groups',
    'channels',
    'messages',
    'reactions',
    'bots',
    'push',
    'presence',
    'statuses',
    'scheduling',
    'drafts',
    'snippets',
    'navigation-views',
    'onboarding',
    'alert-words',
    'events',
    'files',
    'pictures',
    'custom-emoji',
    'authentication',
    'jobs',
    'invitations',
    'host-users',
    'confirmations',
    'exports',
  ]) {
    described.exec(readFileSync(join(__dirname, '..', feature, 'schema.sql'), 'utf8'));
  }
  expect(normalizedSchema(described)).toEqual(schemaOfSteps());
});

it('has blobs in tables alone that backups know', () => {
  const database = new Sqlite(':memory:');
  migrate(database, MIGRATIONS);
  const tables = database
    .prepare(
      `SELECT t.name FROM sqlite_schema t JOIN pragma_table_info(t.name) c
       WHERE t.type = 'table' AND c.name = 'blob' AND t.name <> 'unfinished_upload' ORDER BY t.name`,
    )
    .pluck()
    .all();
  expect(tables).toEqual([...BLOB_TABLES].sort());
});

it('gives the policies of topics their words, and leaves what else organizations have set', () => {
  const database = new Sqlite(':memory:');
  migrate(database, MIGRATIONS.slice(0, 30));
  const settings = { topicsPolicy: 'disable_empty_topic', description: 'A castle', inlineImagePreview: true };
  const insert = database.prepare(`
    INSERT INTO realm (version, groups_version, string_id, uuid, name, is_deactivated, created_at, settings,
                       rendered_description, user_defaults, permissions)
    VALUES (1, 1, ?, ?, 'King Lear', 0, 0, ?, '', '{}', '{}')`);
  insert.run('lear', 'u', JSON.stringify(settings));
  insert.run('other', 'v', '{}');
  migrate(database, MIGRATIONS);
  const stored = database.prepare<[], string>('SELECT settings FROM realm ORDER BY id').pluck().all();
  expect(stored.map((text) => JSON.parse(text))).toEqual([{ ...settings, topicsPolicy: 'emptyTopicRefused' }, {}]);
});

it('keeps what invitations offer apart from them, and the ids that were given', () => {
  const database = new Sqlite(':memory:');
  migrate(database, MIGRATIONS.slice(0, 39));
  database.exec(`
    INSERT INTO realm (version, groups_version, string_id, uuid, name, is_deactivated, created_at, settings,
                       rendered_description, user_defaults, permissions)
    VALUES (1, 1, 'lear', 'u', 'King Lear', 0, 0, '{}', '', '{}', '{}')`);
  const insert = database.prepare(`
    INSERT INTO invitation (realm_id, kind, inviter_id, status, invited_at, expires_at, role, channel_ids, group_ids,
                            includes_default_channels, welcome_text, email, notifies_inviter)
    VALUES (1, ?, 7, 'open', 1000, NULL, 'member', ?, '[5]', 1, 'Welcome', ?, 1)`);
  insert.run('link', '[1,2]', null);
  insert.run('email', '[3]', 'kent@example.com');
  insert.run('email', '[]', 'oswald@example.com');
  database.exec('DELETE FROM invitation WHERE id = 3');
  migrate(database, MIGRATIONS);
  const stored = database
    .prepare(
      'SELECT i.id, kind, email, channel_ids, group_ids FROM invitation i JOIN invitation_offer o ON o.id = offer_id',
    )
    .raw();
  expect(stored.all()).toEqual([
    [1, 'link', null, '[1,2]', '[5]'],
    [2, 'email', 'kent@example.com', '[3]', '[5]'],
  ]);
  database.exec(`INSERT INTO invitation (realm_id, kind, inviter_id, status, invited_at, role, notifies_inviter, offer_id)
                 VALUES (1, 'link', 7, 'open', 1000, 'member', 0, 1)`);
  expect(database.prepare('SELECT max(id) FROM invitation').pluck().get()).toBe(4);
});

it('keeps events, and the numbers that realms have given, where all events are pruned too', () => {
  const database = new Sqlite(':memory:');
  migrate(database, MIGRATIONS.slice(0, 42));
  database.exec(`
    INSERT INTO realm (version, groups_version, string_id, uuid, name, is_deactivated, created_at, settings,
                       rendered_description, user_defaults, permissions)
    SELECT 1, 1, 'realm' || value, 'u', 'A realm', 0, 0, '{}', '', '{}', '{}' FROM json_each('[1, 2, 3]');
    INSERT INTO event_counter VALUES (1, 7, 5), (2, 9, 9), (3, 0, 0);
    INSERT INTO event (realm_id, seq, at, message_id, audience, payload, format)
    VALUES (1, 7, 1001, 4, 'b', 'q', 2), (1, 6, 1000, NULL, 'a', 'p', 1);`);
  migrate(database, MIGRATIONS);
  const rows = (sql: string) => database.prepare(sql).raw().all();
  expect(rows('SELECT realm_id, seq, at, message_id, audience, payload, format FROM event')).toEqual([
    [1, 6, 1000, null, 'a', 'p', 1],
    [1, 7, 1001, 4, 'b', 'q', 2],
  ]);
  expect(rows('SELECT * FROM event_log_start')).toEqual([
    [1, 5],
    [2, 9],
    [3, 0],
  ]);
  expect(rows(`SELECT ${lastSeqOf('realm.id')} FROM realm`)).toEqual([[7], [9], [0]]);
});

it('counts whom the values of permissions name', () => {
  const database = new Sqlite(':memory:');
  migrate(database, MIGRATIONS.slice(0, 40));
  const insert = database.prepare(`
    INSERT INTO realm (version, groups_version, string_id, uuid, name, is_deactivated, created_at, settings,
                       rendered_description, user_defaults, permissions)
    VALUES (1, 1, ?, ?, 'King Lear', 0, 0, '{}', '', '{}', '{}')`);
  insert.run('lear', 'u');
  insert.run('other', 'v');
  database.pragma('foreign_keys = OFF');
  database.exec(`
    INSERT INTO user_group (realm_id, is_deactivated, name, name_key, description)
    VALUES (1, 0, 'Daughters', 'daughters', ''), (1, 0, NULL, NULL, ''), (1, 0, NULL, NULL, '');
    INSERT INTO group_member VALUES (1, 10, 1), (1, 11, 1), (2, 10, 1), (3, 10, 1), (3, 11, 1);
    INSERT INTO group_subgroup VALUES (2, 1, 1), (1, 3, 1);`);
  migrate(database, MIGRATIONS);
  expect(database.prepare('SELECT permission_holder_count FROM realm ORDER BY id').pluck().all()).toEqual([4, 0]);
});

describe('steps', () => {
  const steps = [
    { name: 'a', sql: 'CREATE TABLE a (x)' },
    { name: 'b', sql: 'CREATE TABLE b (x); INSERT INTO b VALUES (1)' },
    { name: 'c', sql: 'CREATE TABLE c (x); SELECT no_such_function()' },
  ];
  const state = (database: Sqlite.Database) => [
    database.pragma('user_version', { simple: true }),
    database.prepare('SELECT name FROM sqlite_schema ORDER BY name').pluck().all(),
    database.prepare('SELECT number, name FROM schema_step ORDER BY number').raw().all(),
  ];
  const afterB = [
    2,
    ['a', 'b', 'schema_step'],
    [
      [1, 'a'],
      [2, 'b'],
    ],
  ];

  it('run each once, in order', () => {
    const database = new Sqlite(path);
    migrate(database, steps.slice(0, 1));
    migrate(database, steps.slice(0, 2));
    migrate(database, steps.slice(0, 2));
    expect(state(database)).toEqual(afterB);
    expect(database.prepare('SELECT count(*) FROM b').pluck().get()).toBe(1);
    database.close();
  });

  it('leave the steps before one that fails, and nothing of it', () => {
    const database = new Sqlite(path);
    expect(() => migrate(database, steps)).toThrow('no_such_function');
    expect(state(database)).toEqual(afterB);
    database.close();
  });

  it('are refused when one that has run was edited since', () => {
    const database = new Sqlite(path);
    migrate(database, steps.slice(0, 2));
    const edited = [steps[0]!, { name: 'b', sql: 'CREATE TABLE b (x, y)' }, { name: 'c', sql: 'CREATE TABLE c (x)' }];
    expect(() => migrate(database, edited)).toThrow(
      /^step 2 of its schema \(b\) is not the one of this version, .*; open it with the version that wrote it/,
    );
    expect(state(database)).toEqual(afterB);
    database.close();
  });

  it('need no write lock when all of them have run', () => {
    openWriter(path).close();
    const other = new Sqlite(path);
    other.exec('BEGIN IMMEDIATE');
    // The lock is not given back, so that waiting for it would fail.
    openWriter(path).close();
    other.exec('ROLLBACK');
    other.close();
  });
});

describe('a file of the time before steps were recorded', () => {
  /** What readers and writers of every table get to see. */
  async function open() {
    const storage = openSqliteStorage({ path, clock: new FixedClock() });
    const [realm] = await storage.uow.read(({ realms }) => realms.list());
    const views = await storage.uow.read(({ pages }) => pages.listViews(realm!.id, []));
    await storage.close();
    return { realm: realm!, views };
  }

  it.each([
    ['of the last form', (sql: string) => sql],
    ['of the form without polls', withoutSubmessages],
    ['with other blanks and comments', (sql: string) => sql.replace(/\n {2}/g, '\n\t-- as it was\n  ')],
  ])('is taken over: %s', async (_, change) => {
    writeUnrecorded(change);
    expect((await open()).realm).toMatchObject({ stringId: 'lear', isAtServerAddress: true });
    const database = new Sqlite(path, { readonly: true });
    expect(database.prepare('SELECT number, name FROM schema_step ORDER BY number').raw().all()).toEqual(
      MIGRATIONS.map(({ name }, index) => [index + 1, name]),
    );
    expect(database.pragma('user_version', { simple: true })).toBe(LATEST_VERSION);
    expect(database.prepare('SELECT count(*) FROM submessage').pluck().get()).toBe(0);
    database.close();
  });

  it.each([
    ['a column more', (sql: string) => sql.replace('name TEXT NOT NULL,', 'name TEXT NOT NULL, motto TEXT,')],
    ['an index less', (sql: string) => sql.replace(/CREATE INDEX user_by_name [^;]*;/, '')],
    ['a table more', (sql: string) => `${sql}; CREATE TABLE note (text TEXT)`],
  ])('is refused when no release made it, and left as it is: %s', (_, change) => {
    writeUnrecorded(change);
    const before = readFileSync(path);
    expect(() => openWriter(path)).toThrow(DatabaseRefused);
    expect(() => openWriter(path)).toThrow(
      /its schema \(version 1\) is none that a release of Parley has made; open it/,
    );
    expect(readFileSync(path)).toEqual(before);
    expect(readdirSync(directory)).toEqual(['parley.db']);
  });

  it('is recognized by its schema, whatever its formatting', () => {
    const [one, other] = [new Sqlite(':memory:'), new Sqlite(':memory:')];
    one.exec('CREATE TABLE a (x TEXT -- the only one\n)');
    other.exec('CREATE  TABLE a(x\nTEXT)');
    expect(fingerprintOf(one)).toBe(fingerprintOf(other));
    other.exec('CREATE INDEX i ON a (x)');
    expect(fingerprintOf(one)).not.toBe(fingerprintOf(other));
  });
});

it('replaces the numbers of settings by words, and changes nothing else', () => {
  const database = new Sqlite(':memory:');
  migrate(database, MIGRATIONS.slice(0, 3));
  const settings = {
    emailAddressVisibility: 3,
    webHomeView: 'all_messages',
    enterSends: true,
    twentyFourHourTime: null,
    webFontSizePx: 3,
    timezone: 'Europe/Berlin',
  };
  database
    .prepare(
      `INSERT INTO realm (version, groups_version, string_id, uuid, name, is_deactivated, created_at, settings,
                          rendered_description, user_defaults, permissions)
       VALUES (1, 1, 'lear', 'u', 'King Lear', 0, 0, ?, '', ?, '{}')`,
    )
    .run('{"organizationType":10,"digestWeekday":1}', JSON.stringify(settings));
  const addUser = database.prepare(
    `INSERT INTO user (realm_id, version, role, is_active, email, email_key, full_name, name_key, name_likeness, joined_at,
                       avatar_source, avatar_version, special_permissions, settings)
     VALUES (1, 1, 'member', 1, @email, @email, 'n', 'n', 'n', 0, 'gravatar', 1, '[]', @settings)`,
  );
  addUser.run({ email: 'a', settings: JSON.stringify(settings) });
  addUser.run({ email: 'b', settings: '{}' });
  migrate(database, MIGRATIONS);
  const words = { ...settings, emailAddressVisibility: 'administrators', webHomeView: 'allMessages' };
  const realm = database.prepare('SELECT settings, user_defaults FROM realm').raw().get() as string[];
  expect(realm.map((json) => JSON.parse(json))).toEqual([{ organizationType: 'business', digestWeekday: 1 }, words]);
  expect(database.prepare('SELECT version, settings, edited_settings FROM user ORDER BY email').raw().all()).toEqual([
    [2, JSON.stringify(words), '[]'],
    [1, '{}', '[]'],
  ]);
  expect(database.prepare('SELECT name FROM sqlite_temp_schema').all()).toEqual([]);
});
