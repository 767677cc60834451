import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { readLedger } from '../backup/erasure-ledger.js';
import { createParley } from '../start/create-parley.js';
import { runCommand } from '../testing/run-command.js';

const WORDS = /q[a-z]+jxk/gi;
/** Word in a message, which stays if only the person is erased. */
const WRITTEN = 'qdirectjxk';

let directory: string;
let database: string;
let backups: string;
let backup: string;
let erasedId: number;
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'parley-erased-backups-'));
  database = join(directory, 'parley.db');
  backups = join(directory, 'backups');
  backup = join(backups, '1.tar');
  await run('realm', 'create', '', 'King Lear', '--new-database');
  await run('user', 'create', 'ann@example.com', 'Ann', '--role=owner');
  ({ id: erasedId } = await run('user', 'create', 'qmailjxk@example.com', 'Qnamejxk', '--role=owner'));
  await withServer(async (parley) => {
    const ann = (await parley.users.list({ realm: '' }).toArray()).find(({ name }) => name === 'Ann')!;
    const as = parley.as({ realm: '', userId: ann.id });
    await parley.as({ realm: '', userId: erasedId }).messages.send({ to: [ann.id], content: WRITTEN });
    await as.messages.send({ to: [ann.id], content: `@**Qnamejxk|${erasedId}** and @**Qnamejxk**` });
  });
  await run('backup', join(directory, '1.tar'), '--pace=0');
  mkdirSync(backups);
  renameSync(join(directory, '1.tar'), backup);
});
afterEach(() => rmSync(directory, { recursive: true }));

/** Runs a command and returns its data. @throws Error if the command fails */
async function run(...args: readonly string[]) {
  const { code, out, err } = await runCommand([...args, '--json', `--database=sqlite:${database}`]);
  if (code !== 0) throw new Error(err);
  return JSON.parse(out);
}

async function withServer(work: (parley: Awaited<ReturnType<typeof createParley>>) => Promise<unknown>) {
  const parley = await createParley({ database: `sqlite:${database}`, url: 'http://localhost' });
  try {
    await work(parley);
  } finally {
    await parley.close();
  }
}

const erase = (id = erasedId) => run('user', 'erase', String(id), '--yes');

/** Moves the database away, as an operator does before a restore. */
function moveAway(): void {
  for (const name of readdirSync(directory)) {
    if (/^parley\.db(-wal|-shm)?$/.test(name)) renameSync(join(directory, name), join(directory, `former-${name}`));
  }
}

/** Words of the person in the rows that a server would read. */
function tracesInRows(): readonly string[] {
  const rows = new Database(database, { readonly: true });
  const tables = rows
    .prepare<[], { name: string }>("SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE '%fts5%'")
    .all();
  const text = tables.map(({ name }) => JSON.stringify(rows.prepare(`SELECT * FROM ${name}`).all()));
  rows.close();
  return [...new Set<string>(text.join('').match(WORDS) ?? [])];
}

describe('the restore of a backup that contains people who were erased later', () => {
  it('erases them again before a server opens the database', async () => {
    await erase();
    moveAway();
    expect(await run('restore', backup)).toMatchObject({ hasLedger: true, erasedAgain: 1 });
    expect(tracesInRows()).toEqual([WRITTEN]);
    expect(await run('user', 'show', String(erasedId))).toMatchObject({ name: 'Deleted user', active: false });
    await withServer(async (parley) => {
      expect(await parley.users.erase({ realm: '', userId: erasedId })).toMatchObject({ endedAt: expect.any(Date) });
    });
    expect(readdirSync(directory).filter((name) => name.includes('restoring'))).toEqual([]);
  });

  it('deletes everything that they wrote again', async () => {
    await run('user', 'erase', String(erasedId), '--yes', '--everything-written');
    moveAway();
    expect(await run('restore', backup)).toMatchObject({ erasedAgain: 1 });
    expect(tracesInRows()).toEqual([]);
    const { erasures } = await run('erasure', 'list');
    expect(erasures).toMatchObject([{ everythingWritten: true, endedAt: expect.any(Number) }]);
    await withServer(async (parley) => {
      const [ann] = await parley.users.list({ realm: '' }).toArray();
      const messages = await parley.as({ realm: '', userId: ann!.id }).messages.list({ last: 10 }).toArray();
      expect(messages.map(({ sender }) => sender.id)).not.toContain(erasedId);
      expect(messages.length).toBeGreaterThan(0);
    });
  });

  it.each([[[]], [['--everything-written']]])(
    'erases them at once if the clock is behind that of the ledger: %j',
    async (flags) => {
      await run('user', 'erase', String(erasedId), '--yes', ...flags);
      moveAway();
      const ledger = `${database}.erasures`;
      const ahead = (await readLedger(ledger)).map((entry) => ({ ...entry, requestedAt: entry.requestedAt + 446 }));
      writeFileSync(ledger, ahead.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
      expect(await run('restore', backup)).toMatchObject({ erasedAgain: 1 });
      expect(tracesInRows()).toEqual(flags.length === 0 ? [WRITTEN] : []);
      expect(await run('erasure', 'list')).toMatchObject({ erasures: [{ endedAt: expect.any(Number) }] });
    },
  );

  it('reads the erasures from the former database if the ledger is lost', async () => {
    await erase();
    moveAway();
    rmSync(`${database}.erasures`);
    expect(await run('restore', backup, '--erasures', join(directory, 'former-parley.db'))).toMatchObject({
      erasedAgain: 1,
    });
    expect(tracesInRows()).toEqual([WRITTEN]);
    expect(await readLedger(`${database}.erasures`)).toMatchObject([{ personId: erasedId }]);
  });

  it('says that later erasures are unknown without a ledger', async () => {
    moveAway();
    expect(await run('restore', backup)).toMatchObject({ hasLedger: false, erasedAgain: 0 });
    expect(tracesInRows()).toContain('qmailjxk');
  });

  it('can be repeated with the same backup', async () => {
    await erase();
    for (let times = 0; times < 2; times++) {
      moveAway();
      expect(await run('restore', backup)).toMatchObject({ erasedAgain: 1 });
      expect(tracesInRows()).toEqual([WRITTEN]);
    }
    expect(await readLedger(`${database}.erasures`)).toHaveLength(1);
  });

  it('starts again after a restore that was killed while it erased', async () => {
    await erase();
    moveAway();
    writeFileSync(`${database}.restoring`, 'unfinished');
    writeFileSync(`${database}.restoring-wal`, 'unfinished');
    expect(await run('restore', backup)).toMatchObject({ erasedAgain: 1 });
    expect(tracesInRows()).toEqual([WRITTEN]);
  });

  it('leaves no database behind if an erasure cannot be repeated', async () => {
    await erase();
    moveAway();
    writeFileSync(`${database}.erasures`, `${readFileSync(`${database}.erasures`, 'utf8')}not a line\n`);
    await expect(run('restore', backup)).rejects.toThrow(/is not a ledger of erasures or is damaged: line 2/);
    expect(existsSync(database)).toBe(false);
  });

  it('erases the last owner of the backup and says that the organization needs another one', async () => {
    const former = await run('user', 'create', 'heir@example.com', 'Heir', '--role=owner');
    await run('user', 'set-role', 'ann@example.com', 'member');
    await run('user', 'set-role', 'heir@example.com', 'member');
    await run('backup', join(backups, '2.tar'), '--pace=0');
    await run('user', 'set-role', 'heir@example.com', 'owner');
    await erase();
    moveAway();
    const { out } = await runCommand(['restore', join(backups, '2.tar'), `--database=sqlite:${database}`]);
    expect(out).toMatch(/The last owner of King Lear is erased/);
    expect(await run('user', 'show', String(former.id))).toMatchObject({ role: 'member', active: true });
  });

  it('spares somebody who joined after the erasure under the same id', async () => {
    moveAway();
    const entry = { ...(await firstEntry()), requestedAt: Math.floor(Date.now() / 1000) - 60 };
    writeFileSync(`${database}.erasures`, `${JSON.stringify(entry)}\n`);
    expect(await run('restore', backup)).toMatchObject({ erasedAgain: 0 });
    expect(await run('user', 'show', String(erasedId))).toMatchObject({ active: true });
  });
});

/** Entry that an erasure of the person would add to the ledger. */
async function firstEntry() {
  const copy = join(directory, 'parley.db');
  await run('restore', backup);
  await erase();
  const [entry] = await readLedger(`${copy}.erasures`);
  for (const end of ['', '.erasures']) rmSync(`${copy}${end}`);
  return entry!;
}

describe('the replay of a ledger', () => {
  it('erases the people of the ledger from a database that was restored by other means', async () => {
    const ledger = join(directory, 'ledger');
    await erase();
    expect(await run('erasure', 'ledger', ledger)).toMatchObject({ erasures: 1 });
    moveAway();
    rmSync(`${database}.erasures`);
    await run('restore', backup);
    for (const erasedAgain of [1, 0]) expect(await run('erasure', 'replay', ledger)).toMatchObject({ erasedAgain });
    expect(await run('erasure', 'list')).toMatchObject({ erasures: [{ personId: erasedId, endedAt: null }] });
    expect(await run('user', 'show', String(erasedId))).toMatchObject({ name: 'Deleted user' });
  });
});

describe('the list of backups', () => {
  it('says which backups contain people who were erased later', async () => {
    await erase();
    await new Promise((resolve) => setTimeout(resolve, 1100));
    await run('backup', join(backups, '2.tar'), '--pace=0');
    writeFileSync(join(backups, 'notes.txt'), 'no backup');
    const { backups: listed } = await run('backup', 'list', backups);
    expect(listed).toMatchObject([
      { path: backup, newerErasures: 1 },
      { path: join(backups, '2.tar'), newerErasures: 0 },
    ]);
  });
});
