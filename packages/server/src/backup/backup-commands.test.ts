import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FolderBlobStore } from '@parley/blobs';
import { type BlobKey, inOneChunk } from '@parley/domain/files';
import { NO_PROXY } from '@parley/node-adapters';
import { createParley } from '../start/create-parley.js';
import { blobStoreOf } from '../start/files-location.js';
import { runCommand } from '../testing/run-command.js';

const ANN = { realm: 'shop', externalId: 'ann' };

const BLOB = 'ab'.padEnd(32, '0') as BlobKey;

let directory: string;
let database: string;
let backups: string;
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'parley-backups-'));
  database = join(directory, 'parley.db');
  backups = join(directory, 'backups');
  mkdirSync(backups);
  const parley = await createParley({ database: `sqlite:${database}`, url: 'http://localhost' });
  await parley.realms.ensure({ name: 'shop', title: 'The Shop' });
  await parley.users.upsert({ ...ANN, name: 'Ann', email: 'ann@example.com' });
  await parley.close();
  await new FolderBlobStore(join(directory, 'files')).put(BLOB, inOneChunk(Buffer.from('some bytes')));
  const row = `INSERT INTO file (realm_id, owner_id, name, path_id, blob, size, content_type, created_at)
    SELECT realm_id, id, 'a.txt', '1/a.txt', '${BLOB}', 10, 'text/plain', 0 FROM "user" LIMIT 1`;
  const driver = JSON.stringify(require.resolve('better-sqlite3'));
  execFileSync(process.execPath, ['-e', `require(${driver})(process.argv[1]).exec(process.argv[2])`, database, row]);
});
afterEach(() => rmSync(directory, { recursive: true }));

const run = async (...args: readonly string[]) => {
  const { code, out } = await runCommand([...args, '--json', `--database=sqlite:${database}`]);
  return { code, ...JSON.parse(out) };
};
const path = (name: string) => join(backups, name);
const backUp = (name: string, ...flags: readonly string[]) => run('backup', path(name), '--pace=0', ...flags);

/** Damages a copy of a backup. Returns its path. */
function damaged(backup: string, name: string, damage: (bytes: Buffer) => Buffer): string {
  writeFileSync(path(name), damage(readFileSync(path(backup))));
  return path(name);
}

function loseFiles(): void {
  const files = join(directory, 'files');
  for (const name of readdirSync(files)) if (/^[0-9a-f]{2}$/.test(name)) rmSync(join(files, name), { recursive: true });
}

describe('parley backup', () => {
  it('exits with 3 and names the archive as incomplete if files are missing', async () => {
    loseFiles();
    const made = await backUp('1.tar');
    expect(made).toMatchObject({ code: 3, path: path('1.tar.incomplete'), missingFiles: [expect.any(String)] });
    expect(readdirSync(backups)).toEqual(['1.tar.incomplete']);
    expect(await run('backup', 'verify', path('1.tar.incomplete'))).toMatchObject({
      code: 3,
      problem: 'is incomplete: files are missing or altered',
    });
  });

  it('shows the newest complete backup, and a failure of the last one, in the metrics of the server', async () => {
    const parley = await createParley({ database: `sqlite:${database}`, url: 'http://localhost', metrics: true });
    const read = async () => {
      const text = await parley.metrics();
      return ['timestamp_seconds', 'failed'].map((name) =>
        Number(new RegExp(`^parley_backup_${name} (\\d+)$`, 'm').exec(text)![1]),
      );
    };
    expect(await read()).toEqual([0, 0]);
    await runCommand(['backup', join(directory, 'nowhere', '1.tar'), `--database=sqlite:${database}`]);
    expect(await read()).toEqual([0, 1]);
    const { takenAt } = await backUp('1.tar');
    const seconds = Math.floor(Date.parse(takenAt) / 1000);
    expect(await read()).toEqual([seconds, 0]);
    loseFiles();
    await backUp('2.tar');
    expect(await read()).toEqual([seconds, 1]);
    writeFileSync(`${database}.last-backup`, '{');
    expect(await read()).toEqual([0, 0]);
    await parley.close();
  });

  it('succeeds and reports that the result cannot be recorded', async () => {
    mkdirSync(`${database}.last-backup`);
    const made = await runCommand(['backup', path('1.tar'), `--database=sqlite:${database}`]);
    expect(made).toMatchObject({ code: 0, err: expect.stringContaining('could not be recorded for the metrics') });
    expect(readdirSync(directory).filter((name) => /last-backup\.\d/.test(name))).toEqual([]);
  });

  it('names files that are missing after restoring an incomplete archive', async () => {
    const restore = (archive: string, folder: string) => {
      const target = `--database=sqlite:${join(directory, folder, 'parley.db')}`;
      return runCommand(['restore', path(archive), target]);
    };
    await backUp('1.tar');
    expect(await restore('1.tar', 'whole')).toMatchObject({
      code: 0,
      out: expect.stringMatching(/ with 1 file, as of [^ ]+\. Start the server now\.\n/),
    });
    loseFiles();
    await backUp('2.tar');
    expect(await restore('2.tar.incomplete', 'incomplete')).toMatchObject({
      code: 0,
      out: expect.stringMatching(
        / with 0 files, as of [^ ]+\. The restored server is incomplete: the content of 1 file is missing or altered, such as ab0+; see parley doctor --thorough\.\n/,
      ),
    });
  });

  it('keeps the newest complete backups of a series, and other archives', async () => {
    await backUp('parley-before-upgrade.tar');
    for (const day of [1, 2, 3]) {
      await backUp(`parley-2026-07-0${day}.tar`);
      utimesSync(path(`parley-2026-07-0${day}.tar`), day, day);
    }
    copyFileSync(path('parley-2026-07-03.tar'), path('parley-2026-07-04.tar.incomplete'));
    writeFileSync(path('parley-2026-07-05.tar'), 'notes');
    const { removed } = await backUp('parley-2026-07-31.tar', '--keep=3');
    expect(removed.sort()).toEqual([path('parley-2026-07-01.tar'), path('parley-2026-07-04.tar.incomplete')]);
    loseFiles();
    const incomplete = await backUp('parley-2026-08-01.tar', '--keep=3');
    expect(incomplete).toMatchObject({ code: 3, removed: [] });
    expect(readdirSync(backups)).toEqual([
      'parley-2026-07-02.tar',
      'parley-2026-07-03.tar',
      'parley-2026-07-05.tar',
      'parley-2026-07-31.tar',
      'parley-2026-08-01.tar.incomplete',
      'parley-before-upgrade.tar',
    ]);
  });

  it.each(['0', '-1', 'all'])('rejects --keep=%s', async (keep) => {
    const { code, err } = await runCommand([
      'backup',
      path('1.tar'),
      `--keep=${keep}`,
      `--database=sqlite:${database}`,
    ]);
    expect([code, err]).toEqual([2, expect.stringContaining('--keep must be a number of backups')]);
  });
});

describe('parley backup with checksums', () => {
  const file = () => join(directory, 'files/ab', BLOB);
  const recorded = () => readFileSync(`${database}.checksums`, 'utf8');
  const CHECKSUM = createHash('sha256').update('some bytes').digest('hex');
  const LINE = `${CHECKSUM}  ${BLOB}\n`;
  /** Stores the file as a server does. */
  const upload = () =>
    blobStoreOf({ database: { kind: 'sqlite', path: database }, files: null, outgoingProxy: NO_PROXY }).put(
      BLOB,
      inOneChunk(Buffer.from('some bytes')),
    );
  const expectAltered = async (name: string) => {
    expect(await backUp(`${name}.tar`, '--keep=1')).toMatchObject({
      code: 3,
      path: path(`${name}.tar.incomplete`),
      missingFiles: [BLOB],
    });
    const { out } = await runCommand(['doctor', '--thorough', `--database=sqlite:${database}`]);
    expect(out).toContain(`PROBLEM  files: the content of 1 of 1 file is missing or altered, such as ${BLOB}`);
  };

  it('finds a byte that was altered after the upload, like parley doctor --thorough', async () => {
    await upload();
    expect(recorded()).toBe(LINE);
    writeFileSync(file(), 'same bytes');
    await expectAltered('1');
    await expectAltered('2');
    writeFileSync(file(), 'some bytes');
    expect(await backUp('3.tar')).toMatchObject({ code: 0, missingFiles: [] });
  });

  it('lets parley restore replace an altered file, or name it if the archive has only the altered bytes', async () => {
    const restore = async (archive: string) => {
      rmSync(database);
      return [(await run('restore', path(archive))).missingFiles, readFileSync(file(), 'utf8')];
    };
    await backUp('1.tar');
    writeFileSync(file(), 'same bytes');
    await expectAltered('2');
    expect(await restore('1.tar')).toEqual([[], 'some bytes']);
    expect(await restore('2.tar.incomplete')).toEqual([[], 'some bytes']);
    rmSync(file());
    expect(await restore('2.tar.incomplete')).toEqual([[BLOB], 'same bytes']);
  });

  it('finds a byte of a file of an earlier release that was altered after a backup, which stays', async () => {
    expect(await backUp('1.tar')).toMatchObject({ code: 0 });
    expect(recorded()).toBe(LINE);
    writeFileSync(file(), 'same bytes');
    await expectAltered('2');
    expect(readdirSync(backups)).toEqual(['1.tar', '2.tar.incomplete']);
    rmSync(file());
    expect(await backUp('3.tar')).toMatchObject({ code: 3, missingFiles: [BLOB] });
    expect(recorded()).toBe(LINE);
  });

  it('drops the checksums of removed files, and ignores damaged lines', async () => {
    const removed = `${CHECKSUM}  ${'cd'.padEnd(32, '0')}\n`;
    writeFileSync(`${database}.checksums`, `${removed}${CHECKSUM.slice(1)}  ${BLOB}\n${LINE.slice(0, 40)}`);
    expect(await backUp('1.tar')).toMatchObject({ code: 0 });
    expect(recorded()).toBe(LINE);
  });

  it('succeeds if checksums cannot be written', async () => {
    mkdirSync(`${database}.checksums.${process.pid}`);
    expect(await backUp('1.tar')).toMatchObject({ code: 0 });
  });
});

describe('parley backup verify', () => {
  it('accepts a whole backup, and the newest one of a folder', async () => {
    await backUp('1.tar');
    const whole = { code: 0, path: path('1.tar'), files: 1, problem: null };
    expect(await run('backup', 'verify', path('1.tar'))).toMatchObject(whole);
    writeFileSync(path('notes.txt'), '');
    expect(await run('backup', 'verify', backups, '--max-age=1')).toMatchObject(whole);
  });

  it.each<[string, (bytes: Buffer) => Buffer, RegExp]>([
    ['is empty', () => Buffer.alloc(0), /is not a backup or is damaged/],
    ['lacks its end', (bytes) => bytes.subarray(0, bytes.length / 2), /is not a backup or is damaged/],
    ['has another byte', (bytes) => bytes.fill(7, 100_000, 100_001), /modified/],
  ])('exits with 3 for an archive that %s', async (_, damage, problem) => {
    await backUp('1.tar');
    const other = damaged('1.tar', '2.tar', damage);
    expect(await run('backup', 'verify', other)).toMatchObject({ code: 3, problem: expect.stringMatching(problem) });
    expect(await run('backup', 'verify', backups)).toMatchObject({ code: 3, path: other });
  });

  it('exits with 3 for a backup that is too old, and for a folder without backups', async () => {
    expect(await run('backup', 'verify', backups)).toMatchObject({
      code: 3,
      problem: 'there is no backup in the folder',
    });
    await backUp('1.tar');
    expect(await run('backup', 'verify', backups, '--max-age=0')).toMatchObject({
      code: 3,
      problem: 'it is 0 hours old',
    });
  });
});

describe('parley backup list', () => {
  it('names empty, truncated, altered and incomplete archives', async () => {
    await backUp('1.tar');
    damaged('1.tar', '2.tar', () => Buffer.alloc(0));
    damaged('1.tar', '3.tar', (bytes) => bytes.subarray(0, bytes.length / 2));
    damaged('1.tar', '4.tar', (bytes) => bytes.fill(7, 100_000, 100_001));
    copyFileSync(path('1.tar'), path('5.tar.incomplete'));
    const { code, backups: listed } = await run('backup', 'list', backups);
    expect(code).toBe(3);
    expect(listed.map(({ problem }: { problem: string | null }) => problem)).toEqual([
      null,
      'is empty',
      expect.stringContaining('damaged'),
      expect.stringContaining('modified'),
      'is incomplete: files are missing or altered',
    ]);
  });
});
