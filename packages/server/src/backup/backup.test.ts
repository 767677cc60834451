import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { FolderBlobStore } from '@parley/blobs';
import type { BlobKey } from '@parley/domain/files';
import type { ErasureRecord } from '@parley/domain/kernel';
import { CreateRealm } from '@parley/domain/log-in';
import { createParley } from '../start/create-parley.js';
import { findSecret, secretPathFor } from '../start/secret.js';
import { type ArchiveEntry, BACKUP_ENTRIES, createBackup, writeArchive } from './backup.js';
import { restoreBackup } from './restore-backup.js';

const SECRET = 'a secret with blanks';
const OPTIONS = { takenAt: new Date(0), bytesPerSecond: null };

describe('parley backup and restore', () => {
  let directory: string;
  let source: Parameters<typeof createBackup>[0];
  let backup: string;
  const blob = 'ab'.padEnd(32, '0') as BlobKey;
  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'parley-backup-'));
    const database = join(directory, 'parley.db');
    backup = join(directory, 'backup.tar');
    const parley = await createParley({ database: `sqlite:${database}`, url: 'http://localhost', secret: SECRET });
    await parley.useCase(CreateRealm).execute({ stringId: 'lear', name: 'King Lear' });
    await parley.close();
    const blobs = new FolderBlobStore(join(directory, 'files'));
    await blobs.put(blob, chunks('some bytes'));
    source = { database, secret: SECRET, blobs, version: '1.2.3', url: null };
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  async function* chunks(...texts: readonly string[]) {
    for (const text of texts) yield Buffer.from(text);
  }

  const target = (folder = 'restored', secret: string | null = null) => {
    const database = join(directory, folder, 'parley.db');
    return {
      database,
      secretPath: secretPathFor(database),
      secret,
      blobs: new FolderBlobStore(join(directory, folder, 'files')),
      filesFolder: join(directory, folder, 'files'),
      requireOwnFiles: async () => {},
      erasures: [],
      replay: async () => ({ repeated: [], withoutOwner: [] }),
      ...{ endsSessions: true, isCopy: null, url: null },
      now: OPTIONS.takenAt,
    };
  };

  /** Runs SQL in a separate process. */
  const runSql = (database: string, sql: string) =>
    execFileSync(process.execPath, [
      '-e',
      `require(${JSON.stringify(require.resolve('better-sqlite3'))})(${JSON.stringify(database)}).exec(${JSON.stringify(sql)})`,
    ]);

  const contentOf = (folder: string): readonly string[] => {
    try {
      return readdirSync(join(directory, folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => statSync(join(directory, folder, name)).isFile())
        .sort();
    } catch {
      return [];
    }
  };

  it('restores the database, the secret and the files', async () => {
    const made = await createBackup(source, backup, OPTIONS);
    expect(made).toMatchObject({ version: '1.2.3', files: 1, missingFiles: [], takenAt: '1970-01-01T00:00:00.000Z' });
    expect(statSync(backup).mode & 0o077).toBe(0);
    expect(await restoreBackup(backup, target())).toMatchObject({ files: 1, version: '1.2.3' });
    const { database } = target();
    expect(findSecret({ secret: null, database: { kind: 'sqlite', path: database } })).toBe(SECRET);
    expect(readFileSync(join(directory, 'restored/files/ab', blob), 'utf8')).toBe('some bytes');
    const parley = await createParley({ database: `sqlite:${database}`, url: 'http://localhost' });
    expect(await parley.findRealm('lear')).not.toBeNull();
    await parley.close();
  });

  it('replaces altered files at their location, and keeps others', async () => {
    const other = 'cd'.padEnd(32, '0') as BlobKey;
    await source.blobs.put(other, chunks('other bytes'));
    await createBackup(source, backup, OPTIONS);
    const { blobs } = target();
    const put = jest.spyOn(blobs, 'put');
    for (const [key, content] of [
      [blob, 'same bytes'],
      [other, 'other bytes'],
    ] as const)
      await blobs.put(key, chunks(content));
    await restoreBackup(backup, { ...target(), blobs });
    expect(readFileSync(join(directory, 'restored/files/ab', blob), 'utf8')).toBe('some bytes');
    expect(put.mock.calls.map(([key]) => key)).toEqual([blob, other, blob]);
  });

  it('ends the event queues, so that clients register again instead of asking for events that the backup lacks', async () => {
    const queue = `INSERT INTO event_queue SELECT 'q', realm_id, id, '{}', '{}', 1, 1, 1, 1, 600 FROM "user" LIMIT 1`;
    runSql(source.database, queue);
    expect(() => runSql(source.database, queue)).toThrow('UNIQUE');
    await createBackup(source, backup, OPTIONS);
    await restoreBackup(backup, target());
    // Fails if the queue is there.
    runSql(target().database, queue);
  });

  it('writes an archive with checksums that other programs can read', async () => {
    await createBackup(source, backup, OPTIONS);
    const names = [...readFileSync(backup, 'latin1').matchAll(/^[0-9a-f]{64} {2}(.+)$/gm)].map(([, name]) => name);
    expect(names).toEqual(expect.arrayContaining(['parley.db', 'parley.db.secret', `files/${blob}`]));
  });

  it('rejects an existing target file and a secret that does not match the database', async () => {
    writeFileSync(backup, 'another');
    await expect(createBackup(source, backup, OPTIONS)).rejects.toThrow(/already exists/);
    rmSync(backup);
    const wrong = { ...source, secret: 'another secret' };
    await expect(createBackup(wrong, backup, OPTIONS)).rejects.toThrow(/The secret is not the secret of the database/);
    expect(contentOf('.')).not.toContain('backup.tar');
  });

  it('contains everything committed before it began, despite concurrent writes', async () => {
    const parley = await createParley({
      database: `sqlite:${source.database}`,
      url: 'http://localhost',
      secret: SECRET,
    });
    await parley.useCase(CreateRealm).execute({ stringId: 'before', name: 'Before' });
    let isDone = false;
    const writing = (async () => {
      for (let n = 0; !isDone; n++) {
        await parley.useCase(CreateRealm).execute({ stringId: `during-${n}`, name: 'During' });
      }
    })();
    await createBackup(source, backup, OPTIONS);
    isDone = true;
    await writing;
    await parley.close();
    await restoreBackup(backup, target());
    const restored = await createParley({ database: `sqlite:${target().database}`, url: 'http://localhost' });
    expect(await restored.findRealm('before')).not.toBeNull();
    await restored.close();
  });

  it('names an archive without all uploads, thumbnails, pictures and exports as incomplete', async () => {
    const lost = ['cd', 'ce', 'cf', 'ef'].map((start) => start.padEnd(32, '0'));
    const [file, thumbnail, archive, picture] = lost;
    runSql(
      source.database,
      `INSERT INTO file (realm_id, owner_id, name, path_id, blob, size, content_type, created_at)
         VALUES (1, 1, 'a.txt', '1/a.txt', '${file}', 3, 'text/plain', 0), (1, 1, 'b.txt', '1/b.txt', '${blob}', 10, 'text/plain', 0);
       INSERT INTO thumbnail (file_id, name, blob, size)
         SELECT id, '840x560.webp', '${thumbnail}', 3 FROM file WHERE path_id = '1/a.txt';
       INSERT INTO realm_export (realm_id, acting_user_id, type, requested_at, path_id, status, blob, size)
         VALUES (1, 1, 'public', 0, '1/x', 'ready', '${archive}', 3), (1, 1, 'public', 0, '1/y', 'requested', NULL, NULL);
       INSERT INTO picture (realm_id, name, blob, size, format) VALUES (1, 'x', '${picture}', 3, 'png')`,
    );
    const path = `${backup}.incomplete`;
    expect(await createBackup(source, backup, OPTIONS)).toMatchObject({ path, files: 1, missingFiles: lost });
    expect(existsSync(backup)).toBe(false);
    expect(await restoreBackup(path, target())).toMatchObject({ files: 1 });
  });

  it('counts a file of another size than in the database as missing', async () => {
    runSql(
      source.database,
      `INSERT INTO file (realm_id, owner_id, name, path_id, blob, size, content_type, created_at)
         VALUES (1, 1, 'b.txt', '1/b.txt', '${blob}', 11, 'text/plain', 0)`,
    );
    expect(await createBackup(source, backup, OPTIONS)).toMatchObject({ missingFiles: [blob] });
  });

  it('removes what a killed backup has left, and rejects a second one to the same path', async () => {
    const { pid } = spawnSync(process.execPath, ['-e', '']);
    for (const end of ['database', 'database-journal', 'unfinished']) writeFileSync(`${backup}.${pid}.${end}`, '');
    writeFileSync(`${backup}.notes`, '');
    const running = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
    writeFileSync(`${backup}.${running.pid}.database`, '');
    await expect(createBackup(source, backup, OPTIONS)).rejects.toThrow(/Another backup to .* is running: process/);
    const exit = once(running, 'exit');
    running.kill('SIGKILL');
    await exit;
    await createBackup(source, backup, OPTIONS);
    expect(readdirSync(directory).filter((name) => name.startsWith('backup.tar.'))).toEqual(['backup.tar.notes']);
  });

  it('does not exceed the configured speed', async () => {
    const { size } = statSync(source.database);
    const startedAt = performance.now();
    await createBackup(source, backup, { ...OPTIONS, bytesPerSecond: 4 * size });
    // The bytes are copied once and written once.
    expect(performance.now() - startedAt).toBeGreaterThan(200);
  });

  it('rejects restoring over a database and leaves it unchanged', async () => {
    await createBackup(source, backup, OPTIONS);
    const before = readFileSync(source.database);
    await expect(restoreBackup(backup, { ...target(), database: source.database })).rejects.toThrow(
      /already exists; move it away first/,
    );
    expect(readFileSync(source.database).equals(before)).toBe(true);
  });

  it('moves the database to its path only after all later erasures are complete', async () => {
    await createBackup(source, backup, OPTIONS);
    const { database } = target();
    const erasure = { realmId: 1, realmUuid: 'x', personId: 1, everythingWritten: false } as ErasureRecord;
    const takenAt = OPTIONS.takenAt.getTime() / 1000;
    const erasures = [takenAt - 86_400, takenAt + 86_400].map((requestedAt) => ({ ...erasure, requestedAt }));
    const replayed: unknown[] = [];
    const replay = async (unfinished: string, _: string, newer: readonly ErasureRecord[]) => {
      replayed.push(newer, existsSync(unfinished), existsSync(database));
      throw new Error('killed');
    };
    await expect(restoreBackup(backup, { ...target(), erasures, replay })).rejects.toThrow('killed');
    expect(replayed).toEqual([[erasures[1]], true, false]);
    expect(contentOf('restored')).toEqual([]);
  });

  it('rejects restoring on a server with a different secret', async () => {
    await createBackup(source, backup, OPTIONS);
    await expect(restoreBackup(backup, target('restored', 'another secret'))).rejects.toThrow(
      /set PARLEY_SECRET to the original secret/,
    );
    expect(contentOf('restored')).toEqual([]);
    await restoreBackup(backup, target('restored', SECRET));
    expect(contentOf('restored')).toEqual([join('files', 'ab', blob), 'parley.db']);
  });

  it.each<[string, (bytes: Buffer) => Buffer]>([
    ['cut off', (bytes) => bytes.subarray(0, bytes.length - 2048)],
    ['truncated in the middle', (bytes) => bytes.subarray(0, bytes.length / 2)],
    ['changed in one byte', (bytes) => Buffer.from(bytes.fill(7, 100_000, 100_001))],
    ['empty', () => Buffer.alloc(0)],
    ['no archive', () => Buffer.from('Dear diary, '.repeat(1000))],
  ])('rejects an archive that is %s and leaves nothing behind', async (_, damage) => {
    await createBackup(source, backup, OPTIONS);
    writeFileSync(backup, damage(readFileSync(backup)));
    await expect(restoreBackup(backup, target())).rejects.toMatchObject({ name: 'StartupError' });
    expect(existsSync(join(directory, 'restored'))).toBe(false);
  });

  it.each(['changed in one byte', 'truncated'])(
    'leaves no empty folder in the folder of files for an archive that is %s',
    async (fault) => {
      await createBackup(source, backup, OPTIONS);
      const bytes = readFileSync(backup);
      const at = bytes.indexOf('some bytes');
      writeFileSync(backup, fault === 'truncated' ? bytes.subarray(0, at + 4) : bytes.fill(7, at, at + 1));
      mkdirSync(join(directory, 'restored'));
      await expect(restoreBackup(backup, target())).rejects.toMatchObject({ name: 'StartupError' });
      expect(readdirSync(join(directory, 'restored'))).toEqual([]);
    },
  );

  it('reports failures of the file store as they are', async () => {
    await createBackup(source, backup, OPTIONS);
    const full = Object.assign(new Error('ENOSPC: no space left on device, write'), {
      code: 'ENOSPC',
      syscall: 'write',
    });
    class FullStore extends FolderBlobStore {
      override put(): Promise<number> {
        return Promise.reject(full);
      }
      override remove(): Promise<void> {
        return Promise.reject(full);
      }
    }
    const blobs = new FullStore(join(directory, 'restored/files'));
    await expect(restoreBackup(backup, { ...target(), blobs })).rejects.toBe(full);
    expect(existsSync(target().database)).toBe(false);
  });

  it('refuses a new database next to an interrupted restoration, and lets it be repeated', async () => {
    await createBackup(source, backup, OPTIONS);
    const { database } = target();
    mkdirSync(dirname(database));
    writeFileSync(`${database}.restoring`, 'half');
    const open = () => createParley({ database: `sqlite:${database}`, url: 'http://localhost' });
    await expect(open()).rejects.toThrow(/was interrupted: run parley restore again/);
    expect(existsSync(database)).toBe(false);
    await restoreBackup(backup, target());
    await (await open()).close();
  });

  const textEntry = (name: string, text: string): ArchiveEntry => ({
    name,
    size: Buffer.byteLength(text),
    content: chunks(text),
  });
  const description = JSON.stringify({
    format: 1,
    version: '1',
    schema: 1,
    secretFingerprint: 'x',
    takenAt: '2026-07-31',
  });
  const hostile: readonly [string, readonly ArchiveEntry[], RegExp][] = [
    [
      'a path outside',
      [textEntry(BACKUP_ENTRIES.description, description), textEntry('../../evil', 'x')],
      /contains an unexpected entry/,
    ],
    [
      'a path in a key',
      [textEntry(BACKUP_ENTRIES.description, description), textEntry('files/../evil', 'x')],
      /contains an unexpected entry/,
    ],
    ['no description first', [textEntry(BACKUP_ENTRIES.database, 'x')], /it is not a backup/],
    ['a newer format', [textEntry(BACKUP_ENTRIES.description, '{"format":2}')], /format 2/],
    ['no database', [textEntry(BACKUP_ENTRIES.description, description)], /it is incomplete/],
    [
      'an invalid time',
      [textEntry(BACKUP_ENTRIES.description, description.replace('2026-07-31', 'yesterday'))],
      /its time is invalid/,
    ],
    ['nothing to read', [textEntry(BACKUP_ENTRIES.description, 'x')], /description is invalid/],
  ];
  it.each(hostile)('rejects an archive with %s', async (_, entries, message) => {
    mkdirSync(join(directory, 'in'));
    await writeArchive(
      backup,
      (async function* () {
        yield* entries;
      })(),
      async () => {},
    );
    await expect(restoreBackup(backup, target('in/restored'))).rejects.toThrow(message);
    expect(contentOf('in')).toEqual([]);
    expect(contentOf('.')).not.toContain('evil');
  });
});
