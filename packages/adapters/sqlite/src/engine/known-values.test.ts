import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EventSeq, Transaction } from '@parley/domain/kernel';
import { aUser, createFixtureOn, FixedClock, type Fixture } from '@parley/testkit';
import Sqlite from 'better-sqlite3';
import { openSqliteStorage, type SqliteStorage } from '../index.js';

const directory = mkdtempSync(join(tmpdir(), 'parley-known-'));
const path = join(directory, 'parley.db');
const clock = new FixedClock();
let storage: SqliteStorage;
let other: SqliteStorage;
let fixture: Fixture;
let statements: string[] = [];

beforeAll(async () => {
  storage = openSqliteStorage({ path, clock, trace: (sql) => statements.push(sql) });
  fixture = await createFixtureOn(storage.uow, clock, aUser({ name: 'iago' }));
  other = openSqliteStorage({ path, clock });
});
afterAll(async () => {
  await storage.close();
  await other.close();
  rmSync(directory, { recursive: true });
});

const write = <T>(work: (tx: Transaction) => Promise<T>, to = storage) => to.uow.write(fixture.realm.id, work);
const append = async (tx: Transaction): Promise<EventSeq> => {
  await tx.events.append(fixture.realm.id, { event: { type: 'blank' }, audience: { kind: 'nobody' } });
  return tx.events.lastSeq(fixture.realm.id);
};
const nameSeenBy = async (tx: Pick<Transaction, 'users'>) =>
  (await tx.users.find(fixture.realm.id, fixture.user('iago').id))!.fullName;
const rename = (fullName: string) => (tx: Transaction) => tx.users.update({ ...fixture.user('iago'), fullName });

describe('values known to a connection', () => {
  it('spare later units the statements that read them', async () => {
    const work = async (tx: Transaction) => {
      await tx.actors.get(fixture.caller('iago'));
      await tx.realms.get(fixture.realm.id);
      await nameSeenBy(tx);
      await tx.alertWords.hasAny(fixture.realm.id);
      await append(tx);
    };
    await write(work);
    statements = [];
    await write(work);
    expect(statements.map((sql) => sql.trim().slice(0, 12))).toEqual([
      'BEGIN IMMEDI',
      'PRAGMA data_',
      'INSERT INTO ',
      'COMMIT',
    ]);
  });

  it('include commits of other processes', async () => {
    const before = await write(append);
    await write(nameSeenBy);
    await write(rename('Iago of Venice'), other);
    expect(await write(append, other)).toBe(before + 1);
    expect(await write(nameSeenBy)).toBe('Iago of Venice');
    expect(await write(append)).toBe(before + 2);
  });

  it('include group members added by another process, even one of the previous release', async () => {
    const { realm, user, caller } = fixture;
    const groupsSeen = () => storage.uow.read(realm.id, async (r) => (await r.actors.get(caller('iago'))).groups);
    const system = await storage.uow.read(realm.id, (r) => r.groups.systemGroupIds(realm.id));
    await groupsSeen();
    await write((tx) => tx.groups.addMembers(realm.id, system.moderators, [user('iago').id]), other);
    expect([...(await groupsSeen())]).toContain(system.moderators);
    // The previous release changes no version of the user.
    const former = new Sqlite(path);
    former.prepare('INSERT INTO group_member VALUES (?, ?, ?)').run(system.owners, user('iago').id, realm.id);
    former.prepare('UPDATE realm SET groups_version = groups_version + 1 WHERE id = ?').run(realm.id);
    former.close();
    expect([...(await groupsSeen())]).toContain(system.owners);
  });

  it('do not outlive a unit that fails', async () => {
    const before = await write(append);
    const failing = async (tx: Transaction) => {
      await append(tx);
      throw new Error('no');
    };
    const [, seq] = await Promise.allSettled([write(failing), write(append), write(failing)]);
    expect(seq).toMatchObject({ value: before + 1 });
    await expect(write(failing)).rejects.toThrow('no');
    expect(await write(append)).toBe(before + 2);
  });

  it('are read again after a change, even if it fails', async () => {
    await write(rename('Honest Iago'));
    const failing = async (tx: Transaction) => {
      await rename('Other Iago')(tx);
      expect(await nameSeenBy(tx)).toBe('Other Iago');
      throw new Error('no');
    };
    const [, name] = await Promise.allSettled([write(failing), write(nameSeenBy)]);
    expect(name).toMatchObject({ value: 'Honest Iago' });
    expect(await write(nameSeenBy)).toBe('Honest Iago');
  });

  it('belong to one organization', async () => {
    await write(nameSeenBy);
    const { id } = fixture.user('iago');
    expect(await storage.uow.writeAcross((tx) => tx.users.find((fixture.realm.id + 1) as never, id))).toBeNull();
  });

  it('do not count pruned events', async () => {
    const { realm } = fixture;
    const last = await write(append);
    await write((tx) => tx.events.shrink(realm.id, 0));
    await expect(
      write(async (tx) => {
        await append(tx);
        await tx.events.shrink(realm.id, 0);
        await tx.events.lastSeq(realm.id);
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
    expect(await write(append)).toBe(last + 1);
    expect(await write((tx) => tx.events.seqBeyond(realm.id, 0))).toBe(last + 1);
  });
});
