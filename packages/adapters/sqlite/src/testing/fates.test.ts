import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { changePassword } from '@parley/domain/access';
import { beginBatch } from '@parley/domain/exports';
import {
  InheritFromVisitor,
  KeepVisitorAccount,
  SignOutUser,
  SuspendRealm,
  VisitorTickets,
} from '@parley/domain/log-in';
import { DeactivateUser } from '@parley/domain/membership';
import { NEW_DEVICE } from '@parley/domain/push';
import { type Fate, OCCASIONS, type Occasion, type PersonalData, personsOf } from '@parley/storage';
import { aChannel, aMessage, aUser, createFixtureOn, FakeApiKeyMint, FixedClock, type Fixture } from '@parley/testkit';
import { MergePlaceholder } from '@parley/transfer/imports';
import Sqlite from 'better-sqlite3';
import { FEATURES } from '../features.js';
import { openSqliteStorage, type SqliteStorage } from '../index.js';
import { openNewStorage } from './new-storage.js';

type Declared = PersonalData & { readonly data: string; readonly fate: Fate };

const TABLES = Object.entries(personsOf(FEATURES)).filter((entry): entry is [string, Declared] => !!entry[1].data);

/** Columns that name a person. */
const PERSON =
  /^(user|owner|creator|sender|author|inviter|requester|person|placeholder|acting_user|bot|actor|target)_id$|^deleted_by$/;
/** Values of columns that are read by a use case. */
const VALUES: Readonly<Record<string, string | number>> = {
  'imported_record.kind': 'person',
  'audit_entry.number': 1,
  'audit_detail.number': 1,
};

interface Column {
  readonly name: string;
  readonly type: string;
  readonly notnull: 0 | 1;
  readonly pk: number;
}

/** SQL condition for the rows of a person; null if no column of the table names people. */
function conditionOf(table: string, { erase, keep = {} }: Declared, columns: readonly Column[]): string | null {
  if (table === 'user') return 'id = {id}';
  if (erase?.includes('{id}') || erase?.includes('{email}')) return erase;
  const named = columns.filter(({ name }) => PERSON.test(name) && Object.values(keep).flat().includes(name));
  return named.length > 0 ? named.map(({ name }) => `${name} = {id}`).join(' OR ') : null;
}

let directory: string;
let storage: SqliteStorage;
let fixture: Fixture;
const clock = new FixedClock();

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'parley-fates-'));
});
afterEach(async () => {
  await storage.close();
  rmSync(directory, { recursive: true });
});

const open = () => new Sqlite(join(directory, 'parley.db'));
const columnsOf = (database: Sqlite.Database, table: string) => database.pragma(`table_info("${table}")`) as Column[];

/** Rows by table, in stable form. */
type Rows = ReadonlyMap<string, readonly string[]>;

function rowsOf(name: string): Rows {
  const database = open();
  const { id, email } = fixture.user(name);
  // Users are changed in place.
  const partOf = (table: string) => (table === 'user' ? 'id' : '*');
  const rows = TABLES.flatMap(([table, declared]): [string, string[]][] => {
    const condition = conditionOf(table, declared, columnsOf(database, table));
    if (condition === null) return [];
    const where = condition
      .replaceAll('{id}', String(id))
      .replaceAll('{email}', `'${email}'`)
      .replaceAll('{realm}', String(fixture.realm.id));
    return [
      [
        table,
        database
          .prepare(`SELECT ${partOf(table)} FROM "${table}" WHERE ${where}`)
          .all()
          .map((row) => JSON.stringify(row)),
      ],
    ];
  });
  database.close();
  return new Map(rows);
}

/** Adds a row of the person to each table that has none. */
function fillTables(name: string): void {
  const { id, email } = fixture.user(name);
  const present = rowsOf(name);
  const database = open();
  database.pragma('foreign_keys = OFF');
  for (const [table, rows] of present) {
    if (rows.length > 0) continue;
    const columns = columnsOf(database, table).filter(
      ({ name: column, notnull, pk }) => notnull || pk || PERSON.test(column),
    );
    const fill = ({ name: column, type, pk }: Column): string | number => {
      if (column === 'realm_id') return fixture.realm.id;
      if (PERSON.test(column)) return id;
      const value = VALUES[`${table}.${column}`];
      if (value !== undefined) return value;
      if (column === 'email') return email;
      if (type === 'INTEGER' || type === 'REAL') return pk && column !== 'message_id' ? 9999 : 1;
      return '[]';
    };
    const names = columns.map((column) => `"${column.name}"`).join();
    database
      .prepare(`INSERT INTO "${table}" (${names}) VALUES (${columns.map(() => '?').join()})`)
      .run(columns.map(fill));
  }
  database.close();
}

/** Gives a user rows that use cases read. */
async function addKeys(name: string): Promise<void> {
  const { realm, user, uow } = fixture;
  const { id: userId, email } = user(name);
  const [realmId, now] = [realm.id, clock.now()];
  const owner = { realmId, userId };
  await uow.write(realmId, async (tx) => {
    await tx.apiKeys.put({ ...owner, generation: 3, seed: 'seed' as never }, 'key');
    const times = { createdAt: now, lastUsedAt: now, expiresAt: now + 60 };
    await tx.sessions.add(
      { ...owner, ...times, userAgent: '', ip: null, method: null, serviceSession: null },
      'session',
    );
    const scope = { actions: [], conversations: [], origin: null, readers: null, fingerprint: 'token' };
    await tx.accessTokens.add({ ...owner, ...scope, createdAt: now, expiresAt: now + 60, lastUsedAt: null });
    await tx.devices.add({ realmId, userId, ...NEW_DEVICE });
    await tx.pushTokens.add(realmId, userId, { kind: 'fcm', token: 'phone', iosAppId: null });
    const browser = { endpoint: 'https://push.example.com/1', publicKey: 'k', authSecret: 's' };
    await tx.webPush.put({ ...owner, sessionId: null, ...browser });
    await tx.confirmations.add({
      ...{
        realmId,
        purpose: 'emailChange',
        subject: String(userId),
        email,
        userId,
        invitationId: null,
        status: 'open',
      },
      expiresAt: now + 60,
    } as never);
    const offer = { channelIds: [], groupIds: [], includesDefaultChannels: true, welcomeText: null };
    const invitation = { realmId, kind: 'email', invitedAt: now, expiresAt: null, role: 'member' } as const;
    await tx.invitations.add({ ...invitation, ...offer, inviterId: userId, status: 'open', notifiesInviter: false }, [
      'guest@example.com',
    ]);
    const [message] = fixture.messages;
    await tx.reactions.add(realmId, message!.id, { type: 'unicode', code: '1f44d', name: '+1', userId });
  });
}

/** Organization in which Ann has rows in each table, and Ben has none. */
async function stage(): Promise<void> {
  const path = join(directory, 'parley.db');
  storage = openNewStorage({ path, clock });
  fixture = await createFixtureOn(
    storage.uow,
    clock,
    aUser({ name: 'owner', role: 'owner' }),
    aUser({ name: 'ann', role: 'guest', email: 'ann@users.parley.invalid' }),
    aUser({ name: 'ben', role: 'guest' }),
    aChannel({ name: 'question', subscribers: ['owner', 'ann'] }),
    aMessage({ from: 'ann', to: 'question' }),
    aMessage({ from: 'ann', to: ['owner'] }),
  );
  await addKeys('ann');
  await storage.close();
  fillTables('ann');
  storage = openSqliteStorage({ path, clock });
  fixture = Object.assign(Object.create(fixture), { uow: storage.uow });
}

const assign = (externalId: string) =>
  fixture.uow.write(fixture.realm.id, (tx) =>
    tx.externalIds.assign(fixture.realm.id, fixture.user('ann').id, externalId),
  );

const USE_CASES: Readonly<Record<Occasion, () => Promise<unknown>>> = {
  become: async () => {
    await assign('parley-visitor:1');
    const tokens = {
      sign: () => '',
      find: async (id: string, load: (ticket: never) => Promise<never>) =>
        load({ realmId: fixture.realm.id, id: Number(id), expiresAt: clock.now() + 1 } as never),
    };
    const keep = new KeepVisitorAccount(
      fixture.uow,
      new VisitorTickets(tokens as never, clock),
      new FakeApiKeyMint(),
      clock,
    );
    await keep.execute({ realmId: fixture.realm.id, token: String(fixture.user('ann').id), externalId: 'a' });
  },
  inherit: async () => {
    await assign('parley-visitor:1');
    const [visitorId, userId] = [fixture.user('ann').id, fixture.user('ben').id];
    await new InheritFromVisitor(fixture.uow, clock).execute({ realmId: fixture.realm.id, visitorId, userId });
  },
  merge: async () => {
    const { realm, uow, user, messages } = fixture;
    await uow.write(realm.id, async (tx) => {
      const former = await tx.users.get(realm.id, user('ann').id);
      await tx.users.update({ ...former, isActive: false, email: 'imported-1@parley.invalid' });
      const batch = { realmId: realm.id, source: 'chat', startedAt: 1, createdRealm: false };
      const { id: batchId } = await beginBatch(tx, batch);
      const record = { batchId, kind: 'message', hash: '', editedAt: null, reactions: 0 } as const;
      await tx.importedRecords.put(
        realm.id,
        messages.map(({ id }) => ({ ...record, recordId: `m${id}`, targetId: id })),
      );
    });
    const people = { placeholderId: user('ann').id, userId: user('ben').id };
    await new MergePlaceholder(uow).execute({ realmId: realm.id, ...people, isDryRun: false });
  },
  deactivation: () =>
    new DeactivateUser(fixture.uow, clock).execute(fixture.caller('owner'), { userId: fixture.user('ann').id }),
  signOut: () =>
    new SignOutUser(fixture.uow, new FakeApiKeyMint(), clock).execute(fixture.caller('owner'), fixture.user('ann').id),
  password: () =>
    fixture.uow.write(fixture.realm.id, (tx) => changePassword(tx, fixture.user('ann'), 'hash', { now: clock.now() })),
  realmDeactivation: () => new SuspendRealm(fixture.uow).execute({ stringId: fixture.realm.stringId }),
};

/** Returns what the tables show to have happened to the rows. */
function fatesBetween(before: Rows, after: Rows, gained: Rows): Record<string, string> {
  const fates = [...before].map(([table, rows]) => {
    const left = after.get(table)!;
    if (gained.get(table)!.length > 0) return [table, 'follows'];
    return [table, rows.some((row) => left.includes(row)) ? 'stays' : 'ends'];
  });
  return Object.fromEntries(fates);
}

describe('declared fates of personal data', () => {
  it.each(Object.keys(OCCASIONS) as Occasion[])(
    'are what remains in each table after this occasion: %s',
    async (occasion) => {
      await stage();
      const [before, others] = [rowsOf('ann'), rowsOf('ben')];
      expect([...before].filter(([, rows]) => rows.length === 0)).toEqual([]);
      await USE_CASES[occasion]();
      const gained = new Map(
        [...rowsOf('ben')].map(([table, rows]) => [table, rows.filter((row) => !others.get(table)!.includes(row))]),
      );
      const declared = TABLES.filter(([table]) => before.has(table)).map(([table, { fate }]) => {
        if (fate.follows?.includes(occasion)) return [table, 'follows'];
        return [table, fate.ends?.includes(occasion) ? 'ends' : 'stays'];
      });
      expect(fatesBetween(before, rowsOf('ann'), gained)).toEqual(Object.fromEntries(declared));
    },
  );
});
