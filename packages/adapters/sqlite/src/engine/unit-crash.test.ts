import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { aChannel, type BuiltScript, buildScript, createFixtureOn } from '@parley/testkit';
import Sqlite from 'better-sqlite3';
import { openSqliteStorage } from '../index.js';
import type { Acknowledged } from './unit-crash.child.js';

const ROUNDS = 8;
const clock = { now: () => Math.floor(Date.now() / 1000), nowMs: Date.now };

let directory: string;
let child: BuiltScript;
let database: string;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'parley-crash-'));
  database = join(directory, 'parley.db');
  child = buildScript(join(__dirname, 'unit-crash.child.ts'), ['better-sqlite3']);
  const storage = openSqliteStorage({ path: database, clock });
  await createFixtureOn(storage.uow, clock, aChannel({ name: 'general' }));
  await storage.close();
});
afterAll(() => {
  child.remove();
  rmSync(directory, { recursive: true });
});

/** Starts a writing child, kills it, and returns the changes it had acknowledged. */
async function writeUntilKilled(prefix: string, acknowledgements: number, delayMs: number): Promise<Acknowledged[]> {
  const writer = child.start(database, prefix);
  let output = '';
  writer.stdout.setEncoding('utf8');
  await new Promise<void>((resolve, reject) => {
    writer.stdout.on('data', (text: string) => {
      output += text;
      if (output.split('\n').length > acknowledgements) resolve();
    });
    writer.once('exit', () => reject(new Error('The writer ended by itself')));
  });
  await new Promise((resolve) => setTimeout(resolve, delayMs));
  writer.kill('SIGKILL');
  await once(writer, 'close');
  // An incomplete line counts as not received.
  return output
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Acknowledged);
}

interface Found {
  readonly integrity: unknown;
  readonly refused: unknown;
  readonly users: readonly string[];
  readonly members: readonly string[];
  readonly keys: readonly string[];
  readonly messages: readonly string[];
  readonly events: readonly string[];
  readonly acknowledged: readonly Acknowledged[];
  readonly last: { readonly user: number; readonly message: number; readonly ordinal: number; readonly seq: number };
}

/** Reads all traces of a run with plain SQL. */
function look(prefix: string): Found {
  const db = new Sqlite(database);
  const column = (sql: string) => db.prepare<unknown[], string>(sql).pluck().all(`${prefix}-%`).sort();
  const found: Found = {
    integrity: [db.pragma('integrity_check', { simple: true }), db.pragma('foreign_key_check')],
    refused: db
      .prepare(
        `SELECT (SELECT count(*) FROM user WHERE email LIKE 'refused%' OR password_hash IS NOT NULL) +
                (SELECT count(*) FROM message WHERE content LIKE 'refused%') +
                (SELECT count(*) FROM api_key WHERE fingerprint LIKE 'refused%')`,
      )
      .pluck()
      .get(),
    users: column('SELECT email FROM user WHERE email LIKE ?'),
    members: column('SELECT u.email FROM group_member m JOIN user u ON u.id = m.user_id WHERE u.email LIKE ?'),
    keys: column('SELECT fingerprint FROM api_key WHERE fingerprint LIKE ?'),
    messages: column('SELECT content FROM message WHERE content LIKE ?'),
    events: column("SELECT payload ->> '$.user.email' AS email FROM event WHERE email LIKE ?"),
    acknowledged: db
      .prepare<unknown[], Acknowledged>(
        `SELECT u.email AS name, u.id AS userId, m.id AS messageId, m.ordinal, e.seq
         FROM user u JOIN message m ON m.sender_id = u.id JOIN event e ON e.message_id = m.id
         WHERE u.email LIKE ?`,
      )
      .all(`${prefix}-%`),
    last: db
      .prepare<unknown[], Found['last']>(
        `SELECT (SELECT max(id) FROM user) AS user, (SELECT max(id) FROM message) AS message,
                (SELECT max(ordinal) FROM message) AS ordinal, (SELECT max(seq) FROM event) AS seq`,
      )
      .get()!,
  };
  db.close();
  return found;
}

/** Deletes the highest ids, which must not be reused. */
async function forgetTheNewest(messageId: number): Promise<void> {
  const storage = openSqliteStorage({ path: database, clock });
  await storage.uow.writeAcross(async (tx) => {
    const realm = (await tx.realms.list())[0]!;
    await tx.messages.remove(realm.id, [messageId as never]);
    await tx.events.prune(realm.id, await tx.events.lastSeq(realm.id), clock.now() + 1, 100_000);
  });
  await storage.close();
}

it('keeps every acknowledged unit and no partial unit after repeated kills', async () => {
  let before: Found['last'] = { user: 0, message: 0, ordinal: 0, seq: 0 };
  for (let round = 0; round < ROUNDS; round++) {
    const prefix = `run${round}`;
    // Kills range from process start to the middle of a checkpoint.
    const acknowledged = await writeUntilKilled(prefix, 10 + round * 40, round * 40);
    const found = look(prefix);

    expect(found.integrity).toEqual(['ok', []]);
    expect(found.refused).toBe(0);
    for (const table of ['members', 'keys', 'messages', 'events'] as const) expect(found[table]).toEqual(found.users);
    expect(acknowledged.length).toBeGreaterThanOrEqual(10);
    const byName = new Map(found.acknowledged.map((unit) => [unit.name, unit]));
    expect(acknowledged.map(({ name }) => byName.get(name))).toEqual(acknowledged);

    for (const number of ['userId', 'messageId', 'ordinal', 'seq'] as const) {
      const drawn = found.acknowledged.map((unit) => unit[number]);
      expect(new Set(drawn).size).toBe(drawn.length);
      const last = { userId: before.user, messageId: before.message, ordinal: before.ordinal, seq: before.seq }[number];
      expect(Math.min(...drawn)).toBeGreaterThan(last);
    }
    // No unit failed for lack of a number, so there are no gaps.
    const seqs = found.acknowledged.map(({ seq }) => seq).sort((a, b) => a - b);
    expect(seqs.at(-1)! - seqs[0]! + 1).toBe(seqs.length);

    before = found.last;
    await forgetTheNewest(found.last.message);
  }
});
