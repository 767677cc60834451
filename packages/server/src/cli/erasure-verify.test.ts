import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { createParley } from '../start/create-parley.js';
import { runCommand } from '../testing/run-command.js';

/** Words on the lines 1, 3 and 4 of the list. */
const LIST = 'Qwordjxk\n\nq"uotejxk\nqżółćjxk\n';
const SEARCHED = /wordjxk|uotejxk|żółćjxk/i;

let directory: string;
let database: string;
let list: string;
let userId: number;
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'parley-verify-'));
  database = join(directory, 'data', 'parley.db');
  list = join(directory, 'words.txt');
  writeFileSync(list, LIST);
  mkdirSync(dirname(database));
  await run('realm', 'create', '', 'King Lear', '--new-database');
  await run('user', 'create', 'ann@example.com', 'Ann', '--role=owner');
  userId = JSON.parse((await run('user', 'create', 'bob@example.com', 'Bob', '--json')).out).id;
});
afterEach(() => rmSync(directory, { recursive: true }));

const run = (...args: readonly string[]) => runCommand([...args, `--database=sqlite:${database}`]);

async function verify() {
  const { code, out, err } = await run('erasure', 'verify', '--words', list, '--json');
  expect(`${out}${err}`).not.toMatch(SEARCHED);
  return { code, ...JSON.parse(out || err) };
}

async function send(content: string): Promise<void> {
  const parley = await createParley({ database: `sqlite:${database}`, url: 'http://localhost' });
  try {
    const bob = parley.as({ realm: '', userId });
    await bob.messages.send({ to: [userId], content });
    // Adds terms to the index.
    await bob.messages.list({ search: 'wordjxk' }).toArray();
  } finally {
    await parley.close();
  }
}

const placesOf = ({ places }: { readonly places: readonly { readonly place: string; readonly line: number }[] }) => [
  ...new Set(
    places.map(({ place, line }) => `${place.replace(`${directory}/data/`, '').replace(/row \d+/, 'row')} ${line}`),
  ),
];

describe('parley erasure verify', () => {
  it('names rows, search terms and bytes with a word by its line, and exits with 3', async () => {
    await send(`before Qwordjxk ${'x'.repeat(5000)} q"uotejxk`);
    const result = await verify();
    expect(result).toMatchObject({ code: 3, found: expect.any(Number) });
    expect(placesOf(result)).toEqual(
      expect.arrayContaining([
        'table message, row 1',
        'table message, row 3',
        'table message_search (terms), row 1',
        'parley.db 1',
        'parley.db 3',
      ]),
    );
    const { out } = await run('erasure', 'verify', '--words', list);
    expect(out).toMatch(/data\/parley\.db, offset \d+: the word of line 1/);
    expect(out).not.toMatch(SEARCHED);
  });

  it('finds nothing once the person and everything written is erased and the file is compacted', async () => {
    await send('Qwordjxk q"uotejxk');
    await run('user', 'erase', String(userId), '--yes', '--everything-written');
    const parley = await createParley({ database: `sqlite:${database}`, url: 'http://localhost' });
    for (let isDone = false; !isDone; ) {
      isDone = (await parley.users.erase({ realm: '', userId })).endedAt !== null;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    await parley.close();
    await run('database', 'compact');
    expect(await verify()).toMatchObject({ code: 0, found: 0, places: [] });
  });

  it.each([
    ['an uploaded file', 'files/ab/abc', 'x qżółćjxk'],
    ['an export', 'files/exports/unfinished', 'x Qwordjxk'],
    ['an unfinished import', 'parley-import-x/messages.json', '{"content":"q\\"uotejxk"}'],
    ['an unsent email', 'parley.db.outbox/1.eml', 'qwordjxk'],
    ['an unsent email of an earlier release', 'outbox/1.eml', 'qwordjxk'],
    ['the write-ahead log of a copy', 'parley.db-copy-wal', 'Qwordjxk'],
    ['the audit lines of commands', 'parley.db.commands.log', '"q\\u017c\\u00f3\\u0142\\u0107jxk"'],
    ['a place across two parts of a file', 'files/ab/large', `${'x'.repeat(1024 * 1024 - 4)}Qwordjxk`],
  ])('finds words in %s', async (_, path, content) => {
    const file = join(directory, 'data', path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
    expect(await verify()).toMatchObject({ code: 3, found: 1, places: [{ place: file }] });
  });

  it('finds the remains of a deleted row in a free page', async () => {
    const rows = new Database(database);
    rows.pragma('secure_delete = OFF');
    rows.exec(
      `CREATE TABLE remains (content TEXT); INSERT INTO remains VALUES ('${'Qwordjxk '.repeat(500)}'); DROP TABLE remains`,
    );
    rows.close();
    const result = await verify();
    expect(result.code).toBe(3);
    expect(placesOf(result)).toEqual(['parley.db 1']);
  });

  it('finds a word that is split between two pages of the database', async () => {
    await send('a message');
    const rows = new Database(database);
    const pageSize = rows.pragma('page_size', { simple: true }) as number;
    const place = (before: number) => {
      const content = `${'-'.repeat(before)}Qwordjxk${'-'.repeat(40_000 - before)}`;
      rows.prepare('UPDATE message SET content = ? WHERE id = (SELECT max(id) FROM message)').run(content);
      rows.pragma('wal_checkpoint(TRUNCATE)');
      return readFileSync(database).indexOf('Qwordjxk');
    };
    // Moves the word over the end of its page.
    const offset = place(20_000);
    expect(place(20_000 + pageSize - (offset % pageSize) - 4)).toBe(-1);
    rows.close();
    const result = await verify();
    expect(result).toMatchObject({ code: 3, found: 1 });
    expect(placesOf(result)).toEqual(['table message, row 1']);
  });

  it('counts compressed files without unpacking them', async () => {
    writeFileSync(join(directory, 'data', 'files', 'x'), Buffer.from([0x1f, 0x8b, 8, 0]));
    expect(await verify()).toMatchObject({ code: 0, compressedFiles: 1 });
  });

  describe('with a bucket', () => {
    /** Contents by the path and query of the object. */
    const objects = {
      '/files/a/ab': 'x Qwordjxk',
      '/files/a/uploads/cd/000': 'qwordjxk',
      '/files/a/gone?versionId=v1': 'x Qwordjxk x',
    };
    const versions = [
      '<Version><Key>a/ab</Key><VersionId>v2</VersionId><IsLatest>true</IsLatest></Version>',
      '<Version><Key>a/gone</Key><VersionId>v1</VersionId><IsLatest>false</IsLatest></Version>',
      '<Version><Key>a/expired</Key><VersionId>v1</VersionId><IsLatest>false</IsLatest></Version>',
    ].join('');
    let hasVersions: boolean;
    let service: Server;
    beforeEach(async () => {
      hasVersions = true;
      Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'key', AWS_SECRET_ACCESS_KEY: 'secret' });
      service = createServer(({ url = '' }, response) => {
        const { pathname, searchParams } = new URL(url, 'http://service');
        const version = searchParams.get('versionId');
        const object = objects[`${pathname}${version ? `?versionId=${version}` : ''}` as keyof typeof objects];
        if (object) response.end(object);
        else if (searchParams.has('list-type')) {
          const keys = ['a/ab', 'a/uploads/cd/000'].map((key) => `<Contents><Key>${key}</Key></Contents>`).join('');
          response.end(`<ListBucketResult>${keys}</ListBucketResult>`);
        } else if (searchParams.has('versions') && hasVersions) {
          response.end(`<ListVersionsResult>${versions}</ListVersionsResult>`);
        } else {
          const [status, code] = searchParams.has('versions') ? [405, 'MethodNotAllowed'] : [404, 'NoSuchKey'];
          response.writeHead(status, { 'Content-Type': 'application/xml' });
          response.end(`<Error><Code>${code}</Code><Message>It is ${code}</Message></Error>`);
        }
      });
      await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
    });
    afterEach(() => {
      service.close();
      delete process.env.AWS_ACCESS_KEY_ID;
      delete process.env.AWS_SECRET_ACCESS_KEY;
    });
    const verifyBucket = (...args: readonly string[]) => {
      const { port } = service.address() as AddressInfo;
      const files = `--files=s3:files/a/?endpoint=http://127.0.0.1:${port}`;
      return run('erasure', 'verify', '--words', list, files, ...args);
    };

    it('finds words in objects, unfinished uploads and earlier versions', async () => {
      const { code, out } = await verifyBucket('--json');
      expect([code, JSON.parse(out)]).toMatchObject([
        3,
        {
          unsearchedVersions: null,
          places: [{ place: 'object ab' }, { place: 'object uploads/cd/000' }, { place: 'object gone, version v1' }],
        },
      ]);
    });

    it('says why earlier versions were not searched', async () => {
      hasVersions = false;
      const { code, out } = await verifyBucket();
      expect(code).toBe(3);
      expect(out).toContain('Not searched: earlier versions of objects in the bucket (It is MethodNotAllowed).');
    });
  });

  it.each([
    ['has a short word', 'Qwordjxk\nabc', 'Line 2 must have 4 to 200 bytes.'],
    ['has no word', '\n \n', 'has no words.'],
    ['has too many words', 'word\n'.repeat(101), 'has more than 100 words.'],
  ])('rejects a list that %s', async (_, content, message) => {
    writeFileSync(list, content);
    const { code, err } = await run('erasure', 'verify', '--words', list);
    expect(code).toBe(1);
    expect(err).toContain(message);
  });

  it('requires a list', async () => {
    expect(await run('erasure', 'verify')).toMatchObject({ code: 2 });
  });
});
