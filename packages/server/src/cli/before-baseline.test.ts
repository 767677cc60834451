import { createWriteStream, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { gunzipSync } from 'node:zlib';
import { readArchive } from '../backup/backup.js';
import { createParley } from '../start/create-parley.js';
import { runCommand } from '../testing/run-command.js';

/** Backup made by the last version before the baseline (43 schema steps), with the same organization as the export. */
const BACKUP = join(__dirname, 'fixtures/backup-before-baseline.tar.gz');
const EXPORT = join(__dirname, 'fixtures/export-before-baseline.tar.gz');

const THE_GHOST = [
  ['Prince Hamlet', 'Angels and ministers of grace, **defend** us!'],
  ['Gertrude', 'Alas, how is it with you?'],
];

let directory: string;
let database: string;
let backup: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'parley-before-baseline-'));
  database = join(directory, 'data', 'parley.db');
  backup = join(directory, 'backup.tar');
  mkdirSync(join(directory, 'data'));
  writeFileSync(backup, gunzipSync(readFileSync(BACKUP)));
});
afterEach(() => rmSync(directory, { recursive: true }));

async function run(...args: readonly string[]) {
  const { code, out, err } = await runCommand([...args, `--database=sqlite:${database}`]);
  return { code, out: out || err };
}

/** Extracts the database file and its secret, as left behind by the previous version. */
async function unpackDatabase(): Promise<void> {
  await readArchive(backup, async ({ name, content }) => {
    if (name.startsWith('parley.db')) {
      await pipeline(content, createWriteStream(join(directory, 'data', name), { mode: 0o600 }));
    }
  });
}

/** Opens the database with this version, reads existing messages and sends new ones. */
async function expectConversation(realm: string): Promise<void> {
  const parley = await createParley({ database: `sqlite:${database}`, url: 'http://localhost' });
  try {
    const users = await parley.users.list({ realm }).toArray();
    const hamlet = parley.as({ realm, userId: users.find(({ name }) => name === 'Prince Hamlet')!.id });
    const list = async (selection: Parameters<typeof hamlet.messages.list>[0]) =>
      (await hamlet.messages.list(selection).toArray()).map(({ sender, content }) => [sender.name, content]);
    expect(await list({ channel: 'rampart', topic: 'the ghost' })).toEqual(THE_GHOST);
    expect(await list({ search: 'nunnery' })).toEqual([['Prince Hamlet', 'Get thee to a nunnery']]);
    const { id } = await hamlet.messages.send({
      channel: 'rampart',
      topic: 'the ghost',
      content: 'O my prophetic soul!',
    });
    expect(await hamlet.messages.get(id)).toMatchObject({ content: 'O my prophetic soul!', topic: 'the ghost' });
  } finally {
    await parley.close();
  }
}

it('runs on a database from before the baseline', async () => {
  await unpackDatabase();
  await expectConversation('');
  expect(await run('migrate', '--check')).toMatchObject({ code: 0 });
});

it('migrates a database from before the baseline by command', async () => {
  await unpackDatabase();
  expect(await run('migrate', '--check')).toMatchObject({ code: 3, out: expect.stringContaining('pending: baseline') });
  // The archive of this test has no files.
  expect(await run('backup', join(directory, 'another.tar'))).toMatchObject({ code: 3 });
  expect(await run('migrate')).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^Applied: baseline, authentication\.002\b/),
  });
  expect(await run('migrate')).toMatchObject({ code: 0, out: 'The schema is up to date.' });
  await expectConversation('');
});

it.each([
  ['user', 'list'],
  ['user', 'api-key', 'hamlet@example.com', '--rotate'],
  ['realm', 'create', 'lear', 'King Lear'],
  ['import', EXPORT, '--as=elsinore'],
])('refuses %s %s on an older schema, which a running server may use', async (...command) => {
  await unpackDatabase();
  const before = readFileSync(database);
  expect(await run(...command)).toEqual({
    code: 1,
    out:
      'parley: The database has an older schema, which only parley serve and parley migrate change. ' +
      'Upgrade the server first, or use the command of the version that runs.',
  });
  expect(readFileSync(database).equals(before)).toBe(true);
});

it('restores a backup from before the baseline', async () => {
  expect(await run('restore', backup)).toMatchObject({ code: 0 });
  expect(await run('doctor', '--thorough')).toMatchObject({
    code: 0,
    out: expect.stringContaining('the content of 1 file exists'),
  });
  expect(await run('migrate')).toMatchObject({ code: 0 });
  expect(await run('user', 'api-key', 'hamlet@example.com')).toEqual({
    code: 0,
    out: 'wTzVJKARo1MZSoCMKyenSFepxQMJeBlF',
  });
  await expectConversation('');
});

it('imports an export from before the baseline', async () => {
  expect(await run('import', EXPORT, '--as=elsinore', '--new-database')).toMatchObject({
    code: 0,
    out: expect.stringContaining('6 users, 1 channel, 5 messages, 1 file'),
  });
  await expectConversation('elsinore');
});
