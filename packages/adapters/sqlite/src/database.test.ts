import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseRefused } from '@parley/storage';
import Sqlite from 'better-sqlite3';
import { APPLICATION_ID, LATEST_VERSION, openReader, openWriter } from './database.js';

let temporary: string;
let directory: string;
let path: string;
beforeEach(() => {
  temporary = mkdtempSync(join(tmpdir(), 'parley-database-'));
  directory = temporary;
  path = join(directory, 'parley.db');
});
afterEach(() => rmSync(temporary, { recursive: true }));

/** Returns all files of the directory with their content. */
const contents = () => readdirSync(directory).map((name) => [name, readFileSync(join(directory, name), 'latin1')]);

function expectRefusal(reason: string | RegExp): void {
  const before = contents();
  let refused: unknown;
  try {
    openWriter(path).close();
  } catch (error) {
    refused = error;
  }
  expect(refused).toBeInstanceOf(DatabaseRefused);
  expect((refused as Error).message).toMatch(reason);
  expect((refused as Error).message).toContain(path);
  expect((refused as Error).message).not.toContain('\n');
  expect(contents()).toEqual(before);
}

it('creates a new database and reopens it', () => {
  const first = openWriter(path);
  first.exec("INSERT INTO server_fact VALUES ('kept', 'yes')");
  first.close();
  const again = openWriter(path);
  expect(again.pragma('application_id', { simple: true })).toBe(APPLICATION_ID);
  expect(again.pragma('user_version', { simple: true })).toBe(LATEST_VERSION);
  expect(again.pragma('journal_mode', { simple: true })).toBe('wal');
  expect(again.pragma('synchronous', { simple: true })).toBe(2); // FULL
  expect(again.pragma('foreign_keys', { simple: true })).toBe(1);
  expect(again.prepare("SELECT value FROM server_fact WHERE name = 'kept'").pluck().get()).toBe('yes');
  again.close();
});

it('creates the file with access for its owner only', () => {
  openWriter(path).close();
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

it('uses a file that was created but never written', () => {
  writeFileSync(path, '');
  openWriter(path).close();
  expect(readFileSync(path).readUInt32BE(68)).toBe(APPLICATION_ID);
});

it('continues a creation that was interrupted before one of its first statements', () => {
  const copies: string[] = [];
  let latest = '';
  const copy = () => {
    if (copies.length === 20) return;
    const suffixes = ['', '-journal', '-wal'].filter((suffix) => existsSync(path + suffix));
    const state = JSON.stringify(suffixes.map((suffix) => [suffix, readFileSync(path + suffix, 'latin1')]));
    if (state === latest) return;
    latest = state;
    const folder = join(directory, String(copies.length));
    mkdirSync(folder);
    for (const suffix of suffixes) copyFileSync(path + suffix, join(folder, `parley.db${suffix}`));
    copies.push(join(folder, 'parley.db'));
  };
  openWriter(path, { trace: copy }).close();
  expect(copies.length).toBe(20);
  for (const interrupted of copies) {
    const again = openWriter(interrupted);
    expect(again.pragma('user_version', { simple: true })).toBe(LATEST_VERSION);
    expect(again.pragma('auto_vacuum', { simple: true })).toBe(2); // INCREMENTAL
    again.close();
  }
});

it('repeats a creation that was interrupted before its first commit', () => {
  const interrupted = new Sqlite(path);
  interrupted.pragma('auto_vacuum = INCREMENTAL');
  interrupted.pragma(`application_id = ${APPLICATION_ID}`);
  interrupted.close();
  // Rollback journal of an empty database, https://sqlite.org/fileformat2.html#the_rollback_journal
  const journal = Buffer.alloc(512);
  Buffer.from('d9d505f920a163d7', 'hex').copy(journal);
  journal.writeUInt32BE(0, 16); // initial number of pages
  journal.writeUInt32BE(512, 20); // sector size
  journal.writeUInt32BE(4096, 24); // page size
  writeFileSync(`${path}-journal`, journal);
  const again = openWriter(path);
  expect(again.pragma('auto_vacuum', { simple: true })).toBe(2); // INCREMENTAL
  again.close();
  expect(readFileSync(path).readUInt32BE(68)).toBe(APPLICATION_ID);
  openWriter(path).close();
});

it('rejects a database with a log deleted after a crash until its log index is deleted too', () => {
  const original = path;
  const writer = openWriter(original);
  writer.exec("INSERT INTO server_fact VALUES ('kept', 'in the log')");
  mkdirSync(join(directory, 'crashed'));
  path = join(directory, 'crashed', 'parley.db');
  for (const suffix of ['', '-wal', '-shm']) copyFileSync(original + suffix, path + suffix);
  writer.close();
  directory = join(directory, 'crashed');
  for (const length of [1000, null]) {
    if (length === null) rmSync(`${path}-wal`);
    else truncateSync(`${path}-wal`, length);
    expectRefusal(/its write-ahead log .*parley\.db-wal was deleted or shortened.* delete .*parley\.db-shm\.$/);
  }
  rmSync(`${path}-shm`);
  openWriter(path).close();
});

it('opens readers that cannot write to the database', () => {
  const writer = openWriter(path);
  const reader = openReader(path);
  expect(() => reader.exec("INSERT INTO server_fact VALUES ('a', 'b')")).toThrow('readonly');
  reader.close();
  writer.close();
});

it('rejects the database of another program', () => {
  const other = new Sqlite(path);
  other.exec('CREATE TABLE recipe (name TEXT)');
  other.close();
  expectRefusal('belongs to another program');
});

it('rejects a file that is not an SQLite database', () => {
  writeFileSync(path, 'Dear diary, today I opened a chat server.');
  expectRefusal('belongs to another program');
});

it('rejects a database from a newer version', () => {
  const newer = openWriter(path);
  newer.pragma(`user_version = ${LATEST_VERSION + 1}`);
  newer.close();
  expectRefusal(/newer version of Parley/);
});

it('rejects a newer database even if a crash left its version in the log', () => {
  const newer = openWriter(path);
  newer.pragma('wal_checkpoint(TRUNCATE)');
  newer.pragma(`user_version = ${LATEST_VERSION + 1}`);
  mkdirSync(join(directory, 'crashed'));
  const crashed = join(directory, 'crashed', 'parley.db');
  for (const suffix of ['', '-wal']) copyFileSync(path + suffix, crashed + suffix);
  newer.close();
  expect(readFileSync(crashed).readUInt32BE(60)).toBe(LATEST_VERSION);
  const before = [readFileSync(crashed, 'latin1'), readFileSync(`${crashed}-wal`, 'latin1')];
  expect(() => openWriter(crashed)).toThrow(/newer version of Parley/);
  expect([readFileSync(crashed, 'latin1'), readFileSync(`${crashed}-wal`, 'latin1')]).toEqual(before);
});

it('rejects a directory, and a path in a missing directory', () => {
  path = join(directory, 'nowhere', 'parley.db');
  expectRefusal('directory does not exist');
  path = directory;
  expectRefusal('it is a directory');
});
