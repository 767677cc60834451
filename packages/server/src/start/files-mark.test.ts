import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FolderBlobStore } from '@parley/blobs';
import { type BlobKey, inOneChunk } from '@parley/domain/files';
import { silentLogger } from '@parley/http';
import { FileOutbox } from '@parley/node-adapters';
import { openDatabaseFile } from '@parley/sqlite';
import { FixedClock } from '@parley/testkit';
import type { StartupError } from '../kernel/startup-error.js';
import { runCommand } from '../testing/run-command.js';
import { createParley } from './create-parley.js';
import type { FilesConfiguration } from './files-location.js';
import { claimFiles, type DatabaseIdentity, FilesClaim, requireOwnLocation } from './files-mark.js';
import { outboxesOf } from './open-parley.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-files-mark-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const mark = (location = 'files') => join(folder, location, 'parley-database.json');

describe('claimFiles', () => {
  const OWN = { id: 'a', place: 'here' };
  const claim = (identity: DatabaseIdentity, adopts = false) => {
    const configuration = {
      files: { kind: 'folder', path: join(folder, 'files') },
      database: null,
      outgoingProxy: null,
    };
    return claimFiles(configuration as unknown as FilesConfiguration, identity, { isNew: false, adopts });
  };

  it('marks an unmarked location and accepts it again', async () => {
    await claim(OWN);
    await claim(OWN);
  });

  it('rejects the location of another database', async () => {
    await claim(OWN);
    await expect(claim({ id: 'b', place: 'here' })).rejects.toThrow(
      `The folder ${join(folder, 'files')} holds the files of another database. Name another location in PARLEY_FILES ` +
        '(files). If no server uses that database any more, for example after a restore, run: parley file adopt',
    );
    await claim(OWN);
  });

  it('rejects the location of the database from which this one was copied', async () => {
    await claim(OWN);
    await expect(claim({ id: 'a', place: 'there' })).rejects.toThrow(
      'of another database, of which this one is a copy.',
    );
  });

  it('takes over the location of the database that parley move replaced', async () => {
    await claim(OWN);
    await claim({ id: 'a', place: 'there', formerPlace: 'here' });
    await expect(claim(OWN)).rejects.toThrow('of which this one is a copy');
  });

  it('rejects the location of the server from which this one was promoted, until it is adopted', async () => {
    const original = { ...OWN, timeline: '00000001' };
    const promoted = { ...OWN, timeline: '00000002' };
    await claim(original);
    await expect(claim(promoted)).rejects.toThrow('of which this one is a copy');
    await claim(promoted, true);
    await claim(promoted);
    await expect(claim(original)).rejects.toThrow('of which this one is a copy');
  });

  it('accepts the timeline to which a running server has followed', async () => {
    await claim({ ...OWN, timeline: '00000001' });
    await claim({ ...OWN, timeline: '00000002', formerTimeline: '00000001' });
    await claim({ ...OWN, timeline: '00000002' });
  });

  it('adds the timeline to the mark of an older release', async () => {
    await claim(OWN);
    await claim({ ...OWN, timeline: '00000001' });
    expect(readFileSync(mark(), 'utf8')).toContain('00000001');
  });

  it('accepts an adopted location', async () => {
    await claim(OWN);
    const other = { id: 'b', place: 'there' };
    await claim(other, true);
    await claim(other);
  });

  it('rejects a location with a damaged mark', async () => {
    await claim(OWN);
    writeFileSync(mark(), '{');
    await expect(claim(OWN)).rejects.toThrow('parley file adopt');
  });

  it('lets only one of two databases claim a location at the same time', async () => {
    const claims = await Promise.allSettled([claim(OWN), claim({ id: 'b', place: 'there' })]);
    expect(claims.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  it('names a folder that cannot be written', async () => {
    writeFileSync(join(folder, 'files'), '');
    await expect(claim(OWN)).rejects.toThrow(
      `The folder ${join(folder, 'files')} cannot be used for files: not a directory`,
    );
  });
});

describe('FilesClaim of a running server', () => {
  const ORIGINAL = { id: 'a', place: 'here', timeline: '00000001' };
  let own: DatabaseIdentity;
  const configuration = () =>
    ({
      files: { kind: 'folder', path: join(folder, 'files') },
      database: null,
      outgoingProxy: null,
    }) as unknown as FilesConfiguration;

  async function start(): Promise<readonly [FilesClaim, FolderBlobStore, unknown[]]> {
    own = ORIGINAL;
    const problems: unknown[] = [];
    const store = new FolderBlobStore(join(folder, 'files'), (problem) => problems.push(problem));
    const claim = new FilesClaim(configuration(), async () => own, silentLogger);
    await claim.start(store, { isNew: false, adopts: false });
    return [claim, store, problems];
  }

  const KEY = 'a'.repeat(32) as BlobKey;
  const put = (store: FolderBlobStore) => store.put(KEY, inOneChunk(Buffer.from('bytes')));
  const adopt = (identity: DatabaseIdentity) => claimFiles(configuration(), identity, { isNew: false, adopts: true });

  it('stops changes of files once another database has adopted the location, and continues once it is its own again', async () => {
    const [claim, store, problems] = await start();
    await put(store);
    await claim.keep();
    await adopt({ ...ORIGINAL, timeline: '00000002' });
    for (let times = 0; times < 2; times++) await claim.keep();
    await expect(put(store)).rejects.toMatchObject({ code: 'SERVER_BUSY' });
    await expect(store.remove(KEY)).rejects.toMatchObject({ code: 'SERVER_BUSY' });
    expect(await store.sizeOf(KEY)).toBe(5);
    await expect(requireOwnLocation(configuration(), own)).rejects.toThrow('of which this one is a copy');
    await adopt(ORIGINAL);
    await claim.keep();
    await store.remove(KEY);
    expect(problems).toEqual([expect.stringContaining('of which this one is a copy'), null]);
  });

  it('follows a failover', async () => {
    const [claim, store] = await start();
    own = { ...ORIGINAL, timeline: '00000002' };
    for (let times = 0; times < 2; times++) await claim.keep();
    await put(store);
    await expect(claimFiles(configuration(), ORIGINAL, { isNew: false, adopts: false })).rejects.toThrow('is a copy');
  });
});

const run = (database: string, ...args: string[]) =>
  runCommand([...args, '--database', `sqlite:${join(folder, database)}`]);

async function create(database: string): Promise<void> {
  expect(await run(database, 'realm', 'create', '--new-database', '', 'Org')).toMatchObject({ code: 0, err: '' });
}

function copyDatabase(from: string, to: string): void {
  for (const end of ['', '.secret']) copyFileSync(join(folder, `${from}${end}`), join(folder, `${to}${end}`));
}

describe('a copy of the database with the same PARLEY_FILES', () => {
  const runShared = (database: string, ...args: string[]) =>
    run(database, ...args, '--files', `folder:${join(folder, 'shared')}`);

  beforeEach(async () => {
    expect(await runShared('live.db', 'realm', 'create', '--new-database', '', 'Live')).toMatchObject({ code: 0 });
    copyDatabase('live.db', 'staging.db');
  });

  it('cannot sweep the files of the other one', async () => {
    const swept = await runShared('staging.db', 'file', 'sweep');
    expect(swept).toMatchObject({ code: 1 });
    expect(swept.err).toContain('holds the files of another database, of which this one is a copy');
    expect(await runShared('live.db', 'file', 'sweep')).toMatchObject({ code: 0 });
  });

  it('owns them after parley file adopt', async () => {
    expect(await runShared('staging.db', 'file', 'adopt')).toMatchObject({ code: 0 });
    expect(await runShared('staging.db', 'file', 'sweep')).toMatchObject({ code: 0 });
    expect(await runShared('live.db', 'file', 'sweep')).toMatchObject({ code: 1 });
  });
});

const BLOBS = { 'a.db': 'aa'.repeat(16), 'b.db': 'bb'.repeat(16) } as const;
const HOUR_MS = 3_600_000;

/** Stores old bytes of a picture of the database in the default folder. */
function addFile(database: keyof typeof BLOBS): void {
  const blob = BLOBS[database];
  const shard = join(folder, 'files', blob.slice(0, 2));
  mkdirSync(shard, { recursive: true });
  writeFileSync(join(shard, blob), 'picture');
  const before = new Date(Date.now() - 2 * HOUR_MS);
  utimesSync(join(shard, blob), before, before);
  const opened = openDatabaseFile(join(folder, database), {});
  try {
    opened.exec(
      `INSERT INTO picture (realm_id, name, blob, size, format) SELECT min(id), 'a', '${blob}', 7, 'png' FROM realm`,
    );
  } finally {
    opened.close();
  }
}

const has = (database: keyof typeof BLOBS, location = 'files'): boolean =>
  existsSync(join(folder, location, BLOBS[database].slice(0, 2), BLOBS[database]));

describe('two databases in one folder', () => {
  beforeEach(async () => {
    await create('a.db');
    addFile('a.db');
  });

  /** Creates `b.db` in another folder and moves it next to `a.db`, as releases without marks allowed. */
  async function addOther(): Promise<void> {
    await create('other/b.db');
    for (const end of ['', '.secret']) renameSync(join(folder, `other/b.db${end}`), join(folder, `b.db${end}`));
    rmSync(join(folder, 'other'), { recursive: true });
    addFile('b.db');
    rmSync(mark());
  }

  it('rejects a second database before it is created', async () => {
    const before = readdirSync(folder);
    const { code, err } = await run('b.db', 'realm', 'create', '--new-database', '', 'Second');
    expect({ code, err }).toEqual({
      code: 1,
      err: expect.stringContaining(
        `The folder ${join(folder, 'files')} holds the files of another database. Create this one in another folder, or set PARLEY_FILES`,
      ),
    });
    expect(readdirSync(folder)).toEqual(before);
    expect(await run('a.db', 'file', 'sweep')).toMatchObject({ code: 0, out: expect.stringContaining('0 blobs') });
    expect(has('a.db')).toBe(true);
  });

  it('rejects a copy of the database, and accepts it after parley file split', async () => {
    copyDatabase('a.db', 'staging.db');
    expect((await run('staging.db', 'file', 'sweep')).err).toContain(
      'of another database, of which this one is a copy',
    );
    expect((await run('staging.db', 'doctor')).out).toContain('of which this one is a copy');
    expect(await run('staging.db', 'file', 'split')).toMatchObject({ code: 0, out: expect.stringContaining('1 file') });
    expect(has('a.db', 'staging.db.files')).toBe(true);
    expect(await run('staging.db', 'file', 'sweep')).toMatchObject({ code: 0 });
    expect(await run('a.db', 'file', 'sweep')).toMatchObject({ code: 0 });
  });

  it.each(['new.db', 'staging.db'])('rejects %s, new or a copy, by each way to open a database', async (name) => {
    if (name === 'staging.db') copyDatabase('a.db', name);
    const records = join(folder, 'records.jsonl');
    writeFileSync(records, '{"kind":"organization","id":"o1","name":"Acme"}\n');
    const before = readdirSync(folder);
    const opened = [
      run(name, 'serve', '--new-database', '--port=0'),
      run(name, 'import', records, '--realm=acme', '--new-database'),
      createParley({ database: `sqlite:${join(folder, name)}`, url: 'http://localhost' }).catch((error) => ({
        code: 1,
        err: (error as StartupError).message,
      })),
    ];
    for (const each of opened)
      expect(await each).toMatchObject({
        code: 1,
        err: expect.stringContaining('holds the files of another database'),
      });
    const isOfUse = (file: string) => !/^staging\.db[-.]/.test(file);
    expect(readdirSync(folder).filter(isOfUse)).toEqual(before.filter(isOfUse));
    expect(has('a.db')).toBe(true);
  });

  it('have separate outboxes: neither removes or counts emails of the other', async () => {
    const outboxes = (name: string) => outboxesOf({ database: { kind: 'sqlite', path: join(folder, name) } });
    const open = (name: string) => new FileOutbox(outboxes(name), 'chat@example.com', new FixedClock(), 1);
    const email = { to: 'ann@example.com', senderName: 'Chat', subject: 'Hello', text: 'text', html: '' };
    for (const name of ['a.db', 'b.db']) await open(name).send(email);
    // Databases of earlier releases shared a folder.
    mkdirSync(join(folder, 'outbox'));
    writeFileSync(join(folder, 'outbox/1.eml'), 'To: ann@example.com\n');
    await open('a.db').removeTo('ann@example.com');
    const [left, kept, former] = [outboxes('a.db')[0], ...outboxes('b.db')].map((path) => readdirSync(path).length);
    expect([left, kept, former]).toEqual([0, 1, 0]);
  });

  it('rejects a restore next to another database and accepts one in a separate folder', async () => {
    const backup = join(folder, 'backup.tar');
    expect(await run('a.db', 'backup', backup)).toMatchObject({ code: 0 });
    const before = readdirSync(folder);
    expect(await run('b.db', 'restore', backup)).toMatchObject({
      code: 1,
      err: expect.stringContaining('holds the files of another database. Restore into another folder'),
    });
    expect(readdirSync(folder)).toEqual(before);
    rmSync(join(folder, 'a.db'));
    expect(await run('a.db', 'restore', backup)).toMatchObject({ code: 0 });
    expect(await run('a.db', 'file', 'sweep')).toMatchObject({ code: 0, out: expect.stringContaining('0 blobs') });
    expect(has('a.db')).toBe(true);
  });

  it('accepts a copy of the whole folder and a renamed database', async () => {
    const copy = mkdtempSync(join(tmpdir(), 'parley-files-mark-'));
    cpSync(folder, copy, { recursive: true });
    const moved = ['--database', `sqlite:${join(copy, 'renamed.db')}`];
    expect((await runCommand(['file', 'sweep', '--database', `sqlite:${join(copy, 'a.db')}`])).code).toBe(0);
    for (const end of ['', '.secret']) renameSync(join(copy, `a.db${end}`), join(copy, `renamed.db${end}`));
    expect((await runCommand(['file', 'sweep', ...moved])).code).toBe(0);
    rmSync(copy, { recursive: true });
  });

  it('rejects a new database in the folder of a deleted one until its files are moved away or adopted', async () => {
    for (const end of ['', '.secret']) rmSync(join(folder, `a.db${end}`));
    const creating = ['realm', 'create', '--new-database', '', 'Again'];
    expect(await run('a.db', ...creating)).toMatchObject({
      code: 1,
      err: expect.stringContaining(
        'If the other one was deleted, move its files away, or take them over: parley file adopt',
      ),
    });
    expect(await run('a.db', 'file', 'adopt', '--new-database')).toMatchObject({ code: 0 });
    expect(await run('a.db', ...creating)).toMatchObject({ code: 0 });
  });

  it('creates a database at its path by two processes at the same time', async () => {
    const creating = ['realm', 'create', '--new-database'];
    const results = await Promise.all(['one', 'two'].map((name) => run('new/c.db', ...creating, name, name)));
    expect(results).toMatchObject([{ code: 0 }, { code: 0 }]);
  });

  it('sweeps nothing while databases of older releases share the folder', async () => {
    await addOther();
    for (const database of ['a.db', 'b.db']) {
      expect(await run(database, 'file', 'sweep')).toMatchObject({
        code: 1,
        err: expect.stringContaining(
          'Nothing is removed: other databases share the folder of files. Run parley file split',
        ),
      });
      const doctor = await run(database, 'doctor');
      expect(doctor.code).toBe(3);
      expect(doctor.out).toContain(
        `(${database === 'a.db' ? 'b.db' : 'a.db'}); until then, unused files are not removed`,
      );
      expect(await run(database, 'realm', 'list')).toMatchObject({ code: 0 });
    }
    expect(existsSync(mark())).toBe(false);
  });

  it('gives a database a separate folder by parley file split', async () => {
    await addOther();
    // An interrupted attempt has created the folder.
    mkdirSync(join(folder, 'b.db.files'));
    for (let times = 0; times < 2; times++) expect(await run('b.db', 'file', 'split')).toMatchObject({ code: 0 });
    expect([has('b.db', 'b.db.files'), has('a.db', 'b.db.files')]).toEqual([true, false]);
    expect((await run('b.db', 'doctor')).out).not.toContain('share');
    expect(await run('a.db', 'file', 'sweep')).toMatchObject({ code: 0, out: expect.stringContaining('1 blob') });
    expect(await run('b.db', 'file', 'sweep')).toMatchObject({ code: 0, out: expect.stringContaining('0 blobs') });
    expect([has('a.db'), has('b.db'), has('b.db', 'b.db.files')]).toEqual([true, false, true]);
  });

  it('sweeps nothing for a database with files in a folder that another one has adopted', async () => {
    await addOther();
    expect(await run('a.db', 'file', 'adopt')).toMatchObject({ code: 0 });
    expect(await run('b.db', 'realm', 'list')).toMatchObject({ code: 0 });
    expect(await run('b.db', 'file', 'sweep')).toMatchObject({
      code: 1,
      err: expect.stringContaining('Nothing is removed'),
    });
  });

  it('keeps secrets, ledgers and logs apart', async () => {
    await addOther();
    for (const database of ['a.db', 'b.db'])
      expect(await run(database, 'user', 'create', 'ann@example.com', 'Ann', '--role=owner')).toMatchObject({
        code: 0,
      });
    const names = readdirSync(folder);
    for (const database of ['a.db', 'b.db']) {
      expect(names).toEqual(expect.arrayContaining([database, `${database}.secret`, `${database}.commands.log`]));
    }
  });
});
