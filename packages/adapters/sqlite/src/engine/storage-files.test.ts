import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { aChannel, aMessage, aUser, createFixtureOn, FixedClock, type Fixture } from '@parley/testkit';
import Sqlite from 'better-sqlite3';
import { LATEST_VERSION } from '../database.js';
import { openSqliteStorage, type SqliteStorage } from '../index.js';

let directory: string;
let path: string;
let reports: string[];
let storages: SqliteStorage[];
const clock = new FixedClock();

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'parley-files-'));
  path = join(directory, 'data', 'parley.db');
  mkdirSync(join(directory, 'data'));
  reports = [];
  storages = [];
});
afterEach(async () => {
  for (const storage of storages) await storage.close();
  rmSync(directory, { recursive: true });
});

function open(at = path): SqliteStorage {
  const storage = openSqliteStorage({ path: at, clock, report: (problem) => reports.push(problem) });
  storages.push(storage);
  return storage;
}

/** Opens a storage with messages, most of which are only in the log. */
async function opened(): Promise<{
  storage: SqliteStorage;
  fixture: Fixture;
  say: (text: string) => Promise<unknown>;
}> {
  const storage = open();
  const fixture = await createFixtureOn(storage.uow, clock, aUser({ name: 'hamlet' }), aChannel({ name: 'general' }));
  const say = (content: string) =>
    storage.uow.write(fixture.realm.id, (tx) =>
      aMessage({ from: 'hamlet', to: 'general', topic: 'x', content })(fixture, tx),
    );
  await say('before');
  storage.verify();
  return { storage, fixture, say };
}

const contentsOf = (file: string): string[] => {
  const database = new Sqlite(file, { readonly: true });
  expect(database.pragma('integrity_check', { simple: true })).toBe('ok');
  const contents = database.prepare<[], string>('SELECT content FROM message ORDER BY id').pluck().all();
  database.close();
  return contents;
};
const unavailable = expect.objectContaining({ code: 'STORAGE_UNAVAILABLE' });
const rescued = () => readdirSync(join(directory, 'data')).filter((name) => name.includes('.rescued-'));

/** Runs statements in another process, which closes the database as if it were the last user. */
function elsewhere(statements: string): void {
  const script = `
    const database = require(${JSON.stringify(require.resolve('better-sqlite3'))})(${JSON.stringify(path)});
    database.exec(${JSON.stringify(statements)});
    database.close();
  `;
  const { status, stderr } = spawnSync(process.execPath, ['-e', script], { encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
}

describe('StorageFiles after loss of a file in use', () => {
  const replace = (file: string) => {
    copyFileSync(file, `${file}.copy`);
    renameSync(`${file}.copy`, file);
  };
  it.each<[string, string, () => void]>([
    ['the database is deleted', 'parley.db was deleted or moved', () => rmSync(path)],
    ['the database is replaced by a copy', 'parley.db was replaced', () => replace(path)],
    ['the log is deleted', 'parley.db-wal was deleted or moved', () => rmSync(`${path}-wal`)],
    ['the log is replaced by a copy', 'parley.db-wal was replaced', () => replace(`${path}-wal`)],
    ['the index of the log is deleted', 'parley.db-shm was deleted or moved', () => rmSync(`${path}-shm`)],
    [
      'all files are deleted',
      'parley.db was deleted or moved',
      () => {
        for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix);
      },
    ],
    [
      'another database replaces it',
      'parley.db was replaced',
      () => {
        const other = join(directory, 'other.db');
        new Sqlite(other).exec('CREATE TABLE t (x)').close();
        renameSync(other, path);
      },
    ],
  ])('detects the loss and saves all acknowledged data: %s', async (_, problem, harm) => {
    const { storage, say } = await opened();
    harm();
    expect(() => storage.verify()).toThrow(unavailable);
    await expect(say('after')).rejects.toEqual(unavailable);
    await expect(storage.uow.readAcross(({ realms }) => realms.list())).rejects.toEqual(unavailable);
    expect(() => storage.verify()).toThrow(unavailable);
    await storage.close();

    const [copy, ...more] = rescued();
    expect(more).toEqual([]);
    expect(contentsOf(join(directory, 'data', copy!))).toEqual(['before']);
    expect(statSync(join(directory, 'data', copy!)).mode & 0o777).toBe(0o600);
    expect(reports).toEqual([
      expect.stringMatching(new RegExp(`${problem}.* in use\\. All access has stopped\\. Stop the server`)),
      expect.stringContaining(`is saved in ${join(directory, 'data', copy!)}`),
    ]);
  });

  it.each([
    ['the database', ''],
    ['the log', '-wal'],
  ])('detects the loss at the first write without acknowledging it: %s', async (_, suffix) => {
    const { storage, say } = await opened();
    rmSync(path + suffix);
    await expect(say('after')).rejects.toEqual(unavailable);
    await expect(storage.uow.readAcross(({ realms }) => realms.list())).rejects.toEqual(unavailable);
    expect(reports[0]).toContain('was deleted or moved');
  });

  it('detects that the whole directory was moved', async () => {
    const { storage } = await opened();
    renameSync(join(directory, 'data'), join(directory, 'elsewhere'));
    expect(() => storage.verify()).toThrow(unavailable);
    await storage.close();
    expect(reports).toEqual([
      expect.stringContaining('was deleted or moved'),
      expect.stringMatching(/could not be saved in .*ENOENT/),
    ]);
    expect(contentsOf(join(directory, 'elsewhere', 'parley.db'))).toEqual(['before']);
  });

  it('leaves the replacement file unchanged', async () => {
    const { storage } = await opened();
    const other = join(directory, 'other.db');
    new Sqlite(other).exec('CREATE TABLE t (x)').close();
    renameSync(other, path);
    const before = readFileSync(path, 'latin1');
    expect(() => storage.verify()).toThrow(unavailable);
    await storage.close();
    expect(readFileSync(path, 'latin1')).toBe(before);
  });

  it('loses no data if only the log was deleted, because closing checkpoints it', async () => {
    const { storage } = await opened();
    rmSync(`${path}-wal`);
    expect(() => storage.verify()).toThrow(unavailable);
    await storage.close();
    expect(contentsOf(path)).toEqual(['before']);
  });
});

describe('StorageFiles after damage to a file in use', () => {
  it.each<[string, string, () => void]>([
    ['the database is emptied', 'parley.db was truncated', () => truncateSync(path)],
    ['the database is truncated', 'parley.db was truncated', () => truncateSync(path, statSync(path).size - 4096)],
    ['the log is emptied', 'parley.db-wal was truncated', () => truncateSync(`${path}-wal`)],
    [
      'the log is truncated',
      'parley.db-wal was truncated',
      () => truncateSync(`${path}-wal`, statSync(`${path}-wal`).size - 1),
    ],
    [
      'the log is overwritten',
      'parley.db-wal was overwritten',
      () => writeSync(openSync(`${path}-wal`, 'r+'), Buffer.alloc(32)),
    ],
  ])('detects the damage: %s', async (_, problem, harm) => {
    const { storage, say } = await opened();
    harm();
    expect(() => storage.verify()).toThrow(unavailable);
    await expect(say('after')).rejects.toEqual(unavailable);
    expect(reports).toEqual([expect.stringMatching(new RegExp(`${problem}\\. All access has stopped`))]);
  });

  it('detects a foreign header at the second check', async () => {
    const { storage } = await opened();
    writeSync(openSync(path, 'r+'), Buffer.from([9, 9, 9, 9]), 0, 4, 24);
    storage.verify();
    expect(() => storage.verify()).toThrow(unavailable);
    expect(reports).toEqual([expect.stringContaining('parley.db was overwritten')]);
  });
});

describe('StorageFiles after a legitimate change of a file in use', () => {
  it.each([
    ['writes', "INSERT INTO server_fact VALUES ('a', 'b')"],
    ['writes much and checkpoints the log', 'CREATE TABLE t AS SELECT randomblob(9000000); DROP TABLE t'],
    ['empties the log', 'PRAGMA wal_checkpoint(TRUNCATE)'],
    ['restarts the log', "PRAGMA wal_checkpoint(RESTART); INSERT INTO server_fact VALUES ('a', 'b')"],
    [
      'rewrites the whole file',
      'CREATE TABLE t AS SELECT randomblob(900000); DROP TABLE t; VACUUM; PRAGMA wal_checkpoint(TRUNCATE)',
    ],
  ])('raises no alarm when another process %s', async (_, statements) => {
    const { storage, say } = await opened();
    for (let i = 0; i < 3; i++) {
      elsewhere(`DELETE FROM server_fact WHERE name = 'a'; ${statements}`);
      for (let j = 0; j < 3; j++) storage.verify();
      await say(`${i}`);
      storage.verify();
    }
    await storage.close();
    expect(contentsOf(path)).toEqual(['before', '0', '1', '2']);
    expect(reports).toEqual([]);
  });

  it('raises no alarm if the disk is too full for a checkpoint', async () => {
    const { storage, say } = await opened();
    elsewhere('PRAGMA wal_checkpoint(TRUNCATE)');
    await say('x'.repeat(2_000_000));
    // The header page changes and is checkpointed first.
    elsewhere(`PRAGMA wal_autocheckpoint = 0; PRAGMA user_version = 0; PRAGMA user_version = ${LATEST_VERSION}`);
    storage.verify();
    const before = readFileSync(path).subarray(0, 100);
    const fold = `require(${JSON.stringify(require.resolve('better-sqlite3'))})(${JSON.stringify(path)}).pragma('wal_checkpoint(PASSIVE)')`;
    const blocks = Math.ceil(statSync(path).size / 1024) + 16;
    const { stderr } = spawnSync('bash', ['-c', `ulimit -f ${blocks}; "$0" -e "$1"`, process.execPath, fold], {
      encoding: 'utf8',
    });
    expect(stderr).toContain('SqliteError');
    expect(readFileSync(path).subarray(0, 100).equals(before)).toBe(false);
    for (let i = 0; i < 3; i++) storage.verify();
    await say('after');
    await storage.close();
    expect(contentsOf(path)).toHaveLength(3);
    expect(reports).toEqual([]);
  });

  it('raises no alarm while this process writes heavily', async () => {
    const { storage, say } = await opened();
    for (let i = 0; i < 40; i++) {
      await say(`${i} ${'x'.repeat(200_000)}`);
      storage.verify();
    }
    expect(reports).toEqual([]);
  });

  it('raises no alarm for a database opened through a link', async () => {
    const link = join(directory, 'link.db');
    open();
    symlinkSync(path, link);
    const storage = open(link);
    storage.verify();
    expect(() => storages[0]!.verify()).not.toThrow();
    rmSync(link);
    writeFileSync(link, '');
    expect(() => storage.verify()).toThrow(unavailable);
    expect(reports[0]).toContain('link.db was replaced');
  });
});

it('keeps its locks when another storage opens and closes the same file in this process', async () => {
  const { storage, say } = await opened();
  await open().close();
  expect(() =>
    openSqliteStorage({
      path,
      clock,
      admit: () => {
        throw new Error('not you');
      },
    }),
  ).toThrow('not you');
  // Without locks, a process that closes the database would assume that it is the last user and delete the log.
  elsewhere("INSERT INTO server_fact VALUES ('a', 'b')");
  expect(existsSync(`${path}-wal`)).toBe(true);
  await say('after');
  storage.verify();
  await storage.close();
  expect(contentsOf(path)).toEqual(['before', 'after']);
});

it('checks admission before it changes the database', async () => {
  await open().close();
  const before = [readFileSync(path, 'latin1'), readdirSync(join(directory, 'data'))];
  const seen: unknown[] = [];
  const refuse = () =>
    openSqliteStorage({
      path,
      clock,
      admit: (known) => {
        seen.push(known);
        throw new TypeError('not you');
      },
    });
  elsewhere("INSERT INTO server_fact VALUES ('secret fingerprint', 'f')");
  const changed = [readFileSync(path, 'latin1'), readdirSync(join(directory, 'data'))];
  expect(changed).not.toEqual(before);
  expect(refuse).toThrow(new TypeError('not you'));
  expect([readFileSync(path, 'latin1'), readdirSync(join(directory, 'data'))]).toEqual(changed);
  expect(seen).toEqual([{ secretFingerprint: 'f', pendingSteps: 0 }]);
});
