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
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FolderBlobStore } from '@parley/blobs';
import { type BlobKey, inOneChunk } from '@parley/domain/files';
import type { Logger } from '@parley/http';
import { administerDatabase } from '@parley/sqlite';
import { runCommand } from '../testing/run-command.js';
import { createParley } from './create-parley.js';
import type { FilesConfiguration } from './files-location.js';
import { FilesClaim, identityOf } from './files-mark.js';
import { HistoryMarks } from './history-marks.js';

type Server = Awaited<ReturnType<typeof createParley>>;

const realm = 'shop';
const ANN = { realm, externalId: 'ann' };
/** Ids skipped after a loss of some seconds. */
const SKIPPED = 4096;
/** Ids that SQLite reserves at a time, so that a start skips some. */
const RESERVED = 16;

let directory: string;
let database: string;
let copy: string;
let warnings: string[];
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'parley-history-'));
  database = join(directory, 'parley.db');
  copy = join(directory, 'copy');
  warnings = [];
  await withServer(async (parley) => {
    await parley.realms.ensure({ name: realm, title: 'The Shop' });
    await parley.users.upsert({ ...ANN, name: 'Ann', role: 'owner', email: 'ann@example.com' });
    await parley.as(ANN).channels.ensure({ name: 'orders' });
    await say(parley, 'first');
  });
});
afterEach(() => rmSync(directory, { recursive: true }));

const logger = {
  ...{ info() {}, error() {}, debug() {} },
  warn: (_: object, text: string) => void warnings.push(text),
} as unknown as Logger;

const open = (files?: string): Promise<Server> =>
  createParley({ database: `sqlite:${database}`, url: 'http://localhost', logger, ...(files && { files }) });

async function withServer<T>(work: (parley: Server) => Promise<T>, files?: string): Promise<T> {
  const parley = await open(files);
  try {
    return await work(parley);
  } finally {
    await parley.close();
  }
}

const say = (parley: Server, content: string) =>
  parley.as(ANN).messages.send({ channel: 'orders', topic: 'Order 1', content });

/** Copies the database as SQLite's `.backup` does, also while a server runs. */
const backUp = () => administerDatabase(database).copy(copy);
const putBack = () => copyFileSync(copy, database);

/** Sends a message, and expects no skipped ids since `id` but those of some starts. */
const expectNext = async (id: number, starts: number): Promise<void> =>
  expect(await nextId()).toBeLessThanOrEqual(id + starts * RESERVED);

/** Marks as a running server keeps them. */
const marksOfServer = (change: Partial<ReturnType<typeof administerDatabase>> = {}): HistoryMarks => {
  const history = { ...administerDatabase(database), ...change };
  return new HistoryMarks({ id: identityOf(database).id, path: database, history }, null, logger);
};

const nextId = async (): Promise<number> => (await withServer((parley) => say(parley, 'next'))).id;

describe('database that is put back without parley restore', () => {
  it('continues beyond the ids of lost rows, and the log says how many messages are missing', async () => {
    await backUp();
    const { id } = await withServer(async (parley) => {
      for (let n = 0; n < 40; n++) await say(parley, 'lost');
      return say(parley, 'lost too');
    });
    putBack();
    expect(await nextId()).toBeGreaterThan(id + SKIPPED - 50);
    expect(warnings).toEqual([
      'the database is older than before, and lacks about its last 48 messages: it was put back without parley restore. ' +
        'Ids and event numbers continue higher, and clients register again',
    ]);
    await nextId();
    expect(warnings).toHaveLength(1);
  });

  it('is noticed if nothing but a start or other changes were lost', async () => {
    await backUp();
    await withServer((parley) => parley.as(ANN).channels.ensure({ name: 'lost' }));
    putBack();
    await nextId();
    expect(warnings).toEqual([expect.stringMatching(/^the database is older than before/)]);
  });

  it('is noticed if the copy was made while the last server ran', async () => {
    await withServer(async (parley) => {
      await backUp();
      await parley.as(ANN).channels.ensure({ name: 'lost' });
    });
    putBack();
    await nextId();
    expect(warnings).toHaveLength(1);
  });

  it('is noticed if the copy was made while the last server ran, which was killed a minute later', async () => {
    let memory: Buffer | undefined;
    await withServer(async (parley) => {
      // Reserves ids, so that the number of messages tells nothing.
      await say(parley, 'kept');
      await backUp();
      await parley.as(ANN).channels.ensure({ name: 'lost' });
      await marksOfServer().keep();
      memory = readFileSync(`${database}.history`);
    });
    putBack();
    writeFileSync(`${database}.history`, memory!);
    await nextId();
    expect(warnings).toHaveLength(1);
  });

  it('is noticed by commands and parley doctor, which leave the rest to the server', async () => {
    await backUp();
    await withServer((parley) => say(parley, 'lost'));
    putBack();
    const listing = await runCommand(['realm', 'list', `--database=sqlite:${database}`]);
    expect(listing).toMatchObject({ code: 1, err: expect.stringContaining('Start the server first') });
    const examination = await runCommand(['doctor', `--database=sqlite:${database}`]);
    expect(examination.out).toMatch(
      /PROBLEM .*The database is older than before, and lacks about its last 16 messages/,
    );
    await nextId();
    expect(warnings).toHaveLength(1);
    expect((await runCommand(['doctor', `--database=sqlite:${database}`])).out).not.toContain('older than before');
  });

  it('is noticed among the files if everything next to the database was lost too', async () => {
    const files = `folder:${join(directory, 'elsewhere')}`;
    await withServer((parley) => say(parley, 'kept'), files);
    await backUp();
    const { id } = await withServer((parley) => say(parley, 'lost'), files);
    for (const name of readdirSync(directory)) if (/^parley\.db\.history/.test(name)) rmSync(join(directory, name));
    // The inode stays, so that the files still belong to the database.
    writeFileSync(database, readFileSync(copy));
    const next = await withServer((parley) => say(parley, 'next'), files);
    expect(next.id).toBeGreaterThan(id + SKIPPED - RESERVED);
    expect(warnings).toHaveLength(1);
  });
});

describe('memory that cannot be written', () => {
  const NOT_REMEMBERED = 'the end of the database cannot be remembered';

  it('keeps its mark valid while it cannot be reached', async () => {
    const memory = readFileSync(`${database}.history`);
    rmSync(`${database}.history`);
    mkdirSync(`${database}.history`);
    await withServer(async (parley) => {
      const marks = marksOfServer();
      for (let minute = 0; minute < 5; minute++) {
        await say(parley, 'kept');
        await marks.keep();
      }
    });
    rmSync(`${database}.history`, { recursive: true });
    writeFileSync(`${database}.history`, memory);
    await nextId();
    expect(warnings).toEqual([]);
  });

  it('does not stop a start, even if the database takes no mark because the disk is full', async () => {
    rmSync(`${database}.history`);
    const addMarks = async () => {
      throw new Error('database or disk is full');
    };
    symlinkSync(join(directory, 'nowhere', 'history'), `${database}.history`);
    await nextId();
    expect(new Set(warnings)).toEqual(new Set([NOT_REMEMBERED]));
    rmSync(`${database}.history`);
    warnings = [];
    await marksOfServer({ addMarks }).compare('mark');
    await administerDatabase(database).skipIds(0);
    await marksOfServer({ addMarks }).compare('mark');
    expect(warnings).toEqual([NOT_REMEMBERED, NOT_REMEMBERED]);
    expect((await administerDatabase(database).readHistory()).marks).toEqual([]);
    await nextId();
    expect(warnings).toHaveLength(2);
  });
});

it('copy with the identity of the original, such as a base backup without recovery, leaves the files to one of both', async () => {
  const path = join(directory, 'elsewhere');
  const configuration = { files: { kind: 'folder', path }, database: null, outgoingProxy: null };
  const identity = { id: identityOf(database).id, place: 'here' };
  const openWith = async (history: ReturnType<typeof administerDatabase>) => {
    const store = new FolderBlobStore(path);
    const claim = new FilesClaim(configuration as unknown as FilesConfiguration, async () => identity, logger);
    await claim.start(store, { isNew: false, adopts: false });
    const marks = new HistoryMarks({ id: identity.id, path: null, history }, store, logger, claim);
    await marks.compare('mark');
    return { store, marks };
  };
  const original = await openWith(administerDatabase(database));
  await backUp();
  const both = [original, await openWith(administerDatabase(copy))];
  for (let minute = 0; minute < 3; minute++) for (const { marks } of both) await marks.keep();
  const put = ({ store }: typeof original) => store.put('a'.repeat(32) as BlobKey, inOneChunk(Buffer.from('a')));
  await expect(put(both[0]!)).rejects.toMatchObject({ code: 'SERVER_BUSY' });
  await put(both[1]!);
  expect(warnings).toHaveLength(2);
});

describe('database that is not put back', () => {
  afterEach(() => expect(warnings).toEqual([]));

  it('keeps its history after a copy has adopted its files, and leaves that of the copy alone', async () => {
    const files = `folder:${join(directory, 'elsewhere')}`;
    await withServer((parley) => say(parley, 'kept'), files);
    for (const end of ['', '.secret']) copyFileSync(`${database}${end}`, `${copy}.db${end}`);
    const { id } = await withServer(async (parley) => {
      const adoption = await runCommand(['file', 'adopt', `--database=sqlite:${copy}.db`, `--files=${files}`]);
      expect(adoption).toMatchObject({ code: 0 });
      return say(parley, 'of the original');
    }, files);
    await expectNext(id, 2);
    database = `${copy}.db`;
    await withServer((parley) => say(parley, 'of the copy'), files);
  });

  it('continues its ids after starts, stops, commands and a rename', async () => {
    const id = await nextId();
    await expectNext(id, 1);
    await runCommand(['channel', 'create', 'more', `--database=sqlite:${database}`]);
    for (const end of ['', '.secret']) renameSync(`${database}${end}`, `${join(directory, 'renamed.db')}${end}`);
    database = join(directory, 'renamed.db');
    await expectNext(id, 2);
  });

  it('continues its ids in a copy of the whole folder, and in the original', async () => {
    const id = await nextId();
    const other = mkdtempSync(join(tmpdir(), 'parley-history-'));
    cpSync(directory, other, { recursive: true });
    await expectNext(id, 1);
    database = join(other, 'parley.db');
    await expectNext(id, 1);
    rmSync(other, { recursive: true });
  });

  it('continues its ids if a start ended between both marks', async () => {
    const id = await nextId();
    const before = readFileSync(`${database}.history`);
    await nextId();
    writeFileSync(`${database}.history`, before);
    await expectNext(id, 2);
  });

  it('continues its ids after hours if a former place still remembers the end of an earlier run', async () => {
    const before = readFileSync(`${database}.history`);
    const id = await withServer(async (parley) => {
      const marks = marksOfServer();
      for (let minute = 0; minute < 110; minute++) {
        await say(parley, 'kept');
        await marks.keep();
      }
      return (await say(parley, 'last')).id;
    });
    expect((await administerDatabase(database).readHistory()).marks.length).toBeLessThan(10);
    writeFileSync(`${database}.history`, before);
    await expectNext(id, 1);
  });

  it.each(['', '{', '{"messages":1e400}'])('ignores what it remembers if that is damaged: %j', async (text) => {
    const id = await nextId();
    writeFileSync(`${database}.history`, text);
    await expectNext(id, 1);
  });

  it('ignores the memory of a deleted database at its path', async () => {
    await nextId();
    for (const end of ['', '.secret']) rmSync(`${database}${end}`);
    rmSync(join(directory, 'files'), { recursive: true });
    await withServer((parley) => parley.realms.ensure({ name: realm, title: 'Another' }));
  });

  it('continues once after parley restore', async () => {
    const backup = join(directory, 'backup.tar');
    await runCommand(['backup', backup, '--pace=0', `--database=sqlite:${database}`]);
    const { id } = await withServer((parley) => say(parley, 'lost'));
    for (const end of ['', '.secret']) rmSync(`${database}${end}`);
    const { code } = await runCommand(['restore', backup, '--renew-keys', `--database=sqlite:${database}`]);
    expect(code).toBe(0);
    const next = await nextId();
    expect(next).toBeGreaterThan(id + SKIPPED - 1);
    expect(next).toBeLessThan(id + 2 * SKIPPED);
    expect(existsSync(`${database}.restoring.history`)).toBe(false);
  });
});
