import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HmacApiKeyMint } from '@parley/node-adapters';
import { movePostgres } from '@parley/postgres';
import { createDatabase } from '@parley/postgres/testing';
import { createParley } from '@parley/server';
import { createDemo, listDemoAccess, runCommand } from '@parley/server/testing';
import { administerDatabase, openDatabaseFile, openSqliteStorage, openTableSource } from '@parley/sqlite';
import { FakeMailer, FixedClock, MemoryBlobStore } from '@parley/testkit';
import express from 'express';
import { basic, TestServer } from '../testing/test-server.js';
import { isOnPostgres } from '../testing/test-storage.js';

const SECRET = 'the secret of every server';

/** Server on a database with a fixed address. */
interface RunningServer {
  // biome-ignore lint/suspicious/noExplicitAny: tests say what they expect by their assertions.
  call(method: string, path: string, params?: Record<string, string>): Promise<Record<string, any>>;
  fetch(method: string, path: string, headers?: Record<string, string>, body?: string): Promise<Response>;
  close(): Promise<void>;
}

async function runMove(from: string, to: string | null, ...flags: string[]) {
  const { code, out, err } = await runCommand(['move', `--from=${from}`, ...(to ? [`--to=${to}`] : []), ...flags]);
  return { code, out: out || err };
}

describe('parley move', () => {
  const KINDS = 'parley move takes --from sqlite:PATH and --to postgres://USER@HOST/NAME.';
  it.each([
    ['postgres://parley@localhost/chat', 'postgres://parley@localhost/chat', KINDS],
    ['sqlite:chat.db', 'sqlite:chat.db', KINDS],
    [
      'sqlite:chat.db',
      'mysql:chat',
      '--to must be of the form sqlite:PATH or postgres://USER@HOST/NAME, not "mysql:chat".',
    ],
  ])('refuses to copy %s to %s', async (from, to, message) => {
    expect(await runMove(from, to)).toEqual({ code: 2, out: expect.stringContaining(message) });
  });

  it('rejects a database that does not exist', async () => {
    const { code, out } = await runMove('sqlite:/nowhere/chat.db', 'postgres://parley@localhost/chat');
    expect([code, out]).toEqual([
      1,
      expect.stringContaining('Cannot open database /nowhere/chat.db: it does not exist'),
    ]);
  });

  if (isOnPostgres) describe('to a database on PostgreSQL', testMoves);
});

function testMoves(): void {
  let folder: string;
  let path: string;
  let target: Awaited<ReturnType<typeof createDatabase>>;
  let credentials: { readonly email: string; readonly apiKey: string };
  let http: Server;
  let app: express.Express;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'parley-move-'));
    path = join(folder, 'parley.db');
    target = await createDatabase({ copyOf: 'template0' });
    credentials = await fillDemo();
    http = createServer((request, response) => app(request, response)).listen(0, '127.0.0.1');
    await once(http, 'listening');
  });
  afterEach(async () => {
    http.closeAllConnections();
    http.close();
    await target.drop();
    rmSync(folder, { recursive: true });
  });

  async function fillDemo() {
    const server = await TestServer.start();
    await server.close();
    const { uow, close } = openSqliteStorage({ path, clock: new FixedClock() });
    const ports = { ...server.parley.ports, unitOfWork: uow, apiKeyMint: new HmacApiKeyMint(SECRET) };
    await createDemo(ports);
    const access = await listDemoAccess(ports);
    await close();
    return access.find(({ name }) => name === 'hamlet')!;
  }

  async function serve(database: string): Promise<RunningServer> {
    const url = `http://localhost:${(http.address() as AddressInfo).port}`;
    const parley = await createParley({
      ...{
        database,
        url,
        secret: SECRET,
        files: new MemoryBlobStore({ nowMs: Date.now }),
        mailer: new FakeMailer(),
        defaultRealm: 'zulip',
      },
    });
    app = express().use(parley.router);
    return {
      fetch: (method, name, headers = {}, body) =>
        fetch(`${url}${name}`, {
          method,
          headers: { Authorization: basic(credentials), ...headers },
          ...(body !== undefined && { body }),
        }),
      async call(method, name, params = {}) {
        const query = new URLSearchParams(params);
        const response = await fetch(`${url}/api/v1${name}${method === 'GET' ? `?${query}` : ''}`, {
          method,
          headers: { Authorization: basic(credentials) },
          ...(method !== 'GET' && { body: query }),
        });
        return response.json();
      },
      close: () => parley.close(),
    };
  }

  const move = () => runMove(`sqlite:${path}`, target.url);
  const send = (server: RunningServer, content: string) =>
    server.call('POST', '/messages', { type: 'stream', to: 'Denmark', topic: 'castle', content });
  const lastMessages = async (server: RunningServer) => {
    const params = { anchor: 'newest', num_before: '500', num_after: '0' };
    return (await server.call('GET', '/messages', params)).messages;
  };

  it('makes servers reject the copied file until the move is undone', async () => {
    expect(await move()).toMatchObject({ code: 0, out: expect.stringContaining(`Servers reject ${path} from now on`) });
    await expect(serve(`sqlite:${path}`)).rejects.toThrow(`parley move has copied it to ${target.url}`);

    expect(await runMove(`sqlite:${path}`, null, '--undo')).toMatchObject({ code: 0 });
    await (await serve(`sqlite:${path}`)).close();
  });

  it('leaves the copied file usable after a rehearsal', async () => {
    expect(await runMove(`sqlite:${path}`, target.url, '--keep')).toMatchObject({ code: 0 });
    await (await serve(`sqlite:${path}`)).close();
  });

  it('move keeps keys, queues and ids valid for clients', async () => {
    const before = await serve(`sqlite:${path}`);
    const { queue_id, last_event_id } = await before.call('POST', '/register', { event_types: '["message"]' });
    const first = await send(before, 'before the move');
    const messages = await lastMessages(before);
    const { members } = await before.call('GET', '/users');
    await before.close();

    expect(await move()).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^Moved \d+ rows in \d+ tables to postgres:/m),
    });

    const after = await serve(target.url);
    expect((await after.call('GET', '/users')).members).toEqual(members);
    expect(await lastMessages(after)).toEqual(messages);
    const second = await send(after, 'after the move');
    expect(second.id).toBeGreaterThan(first.id);
    const { events } = await after.call('GET', '/events', { queue_id, last_event_id, dont_block: 'true' });
    expect(events.map(({ message }: { message: { id: number } }) => message.id)).toEqual([first.id, second.id]);
    await after.close();
  });

  it('keeps a copy for trying things quiet', async () => {
    administerDatabase(path).markCopy(true);
    expect(await move()).toMatchObject({ code: 0 });
    const after = await serve(target.url);
    expect(await after.call('GET', '/server_settings')).toMatchObject({ is_quiet: true });
    await after.close();
  });

  it('move keeps an unfinished upload, which continues once its bytes are copied', async () => {
    const tus = { 'Tus-Resumable': '1.0.0' };
    const patch = (server: RunningServer, location: string, offset: number, body: string) => {
      const headers = { 'Upload-Offset': String(offset), 'Content-Type': 'application/offset+octet-stream' };
      return server.fetch('PATCH', location, { ...tus, ...headers }, body);
    };
    const before = await serve(`sqlite:${path}`);
    const begun = await before.fetch('POST', '/api/v1/tus/', { ...tus, 'Upload-Length': '11' });
    const location = begun.headers.get('location')!;
    expect((await patch(before, location, 0, 'hello ')).status).toBe(204);
    await before.close();

    expect(await move()).toMatchObject({ code: 0 });
    // Folder of servers with custom storage for files.
    cpSync(join(folder, 'files/uploads'), join(tmpdir(), 'parley-files/uploads'), { recursive: true });

    const after = await serve(target.url);
    const found = await after.fetch('HEAD', location, tus);
    expect([found.status, found.headers.get('upload-offset')]).toEqual([200, '6']);
    const { url } = await (await patch(after, location, 6, 'world')).json();
    expect(await (await after.fetch('GET', url)).text()).toBe('hello world');
    await after.close();
  });

  describe('with --files-to', () => {
    const STORED = 'a1'.repeat(16);
    const LOST = 'b2'.repeat(16);
    const pathOf = (location: string, blob: string) => join(folder, location, blob.slice(0, 2), blob);
    const moveTo = (location: string, ...flags: string[]) =>
      runMove(`sqlite:${path}`, target.url, `--files-to=folder:${join(folder, location)}`, ...flags);

    beforeEach(() => {
      mkdirSync(join(folder, 'files', STORED.slice(0, 2)), { recursive: true });
      writeFileSync(pathOf('files', STORED), 'picture');
      const opened = openDatabaseFile(path, {});
      for (const blob of [STORED, LOST])
        opened.exec(
          `INSERT INTO picture (realm_id, name, blob, size, format) SELECT min(id), '${blob}', '${blob}', 7, 'png' FROM realm`,
        );
      opened.close();
    });

    const start = (location: string) =>
      createParley({
        ...{ database: target.url, url: 'http://localhost', secret: SECRET, mailer: new FakeMailer() },
        files: `folder:${join(folder, location)}`,
      });

    it('copies the files, names missing ones, and continues after an interruption', async () => {
      writeFileSync(join(folder, 'full'), '');
      const full = await moveTo('full');
      expect([full.code, full.out]).toEqual([
        1,
        expect.stringContaining(`The folder ${join(folder, 'full')} cannot be used`),
      ]);
      mkdirSync(join(folder, 'new', STORED.slice(0, 2)), { recursive: true });
      writeFileSync(pathOf('new', STORED), 'partial');
      const { code, out } = await moveTo('new');
      expect(code).toBe(0);
      expect(out).toContain('Copied 1 file and 0 unfinished uploads and verified them.');
      // A file of the demo is in the memory of its server.
      expect(out).toMatch(new RegExp(`The content of 2 files is missing or incomplete: .*\\b${LOST}\\b`));
      expect(out).toContain(`PARLEY_FILES=folder:${join(folder, 'new')} for one server`);
      expect(readFileSync(pathOf('new', STORED), 'utf8')).toBe('picture');
      await (await start('new')).close();
    });

    it('rejects the location of another database and a source without the files', async () => {
      mkdirSync(join(folder, 'other'));
      writeFileSync(join(folder, 'other/parley-database.json'), '{"id":"x","place":"y"}');
      expect((await moveTo('other')).out).toContain('holds the files of another database');
      const { code, out } = await moveTo('new', `--files=folder:${join(folder, 'nowhere')}`);
      expect([code, out]).toEqual([1, expect.stringContaining('has no file of the database')]);
    });

    it('lets a server with the new database use the former folder without a copy', async () => {
      expect((await move()).out).toContain(`PARLEY_FILES=folder:${join(folder, 'files')} for one server`);
      await (await start('files')).close();
    });
  });

  it('move can be resumed after an interruption; servers reject the database until then', async () => {
    const source = openTableSource(path);
    let pages = 0;
    const rows: typeof source.rows = (page) => {
      if (++pages > 300) throw new Error('interrupted');
      return source.rows(page).slice(0, 5);
    };
    const interrupted = movePostgres(target.url, { ...source, rows }, () => {});
    await expect(interrupted).rejects.toThrow('interrupted');
    source.close();

    await expect(serve(target.url)).rejects.toThrow('parley move has not finished filling it; run that command again');
    expect(await move()).toMatchObject({ code: 0 });
    await (await serve(target.url)).close();
  });

  it('move reports rows that changed between its two runs', async () => {
    const source = openTableSource(path);
    const lastIds = () => {
      throw new Error('interrupted');
    };
    const interrupted = movePostgres(target.url, { ...source, lastIds }, () => {});
    await expect(interrupted).rejects.toThrow('interrupted');
    source.close();
    const server = await serve(`sqlite:${path}`);
    await send(server, 'one more');
    await server.close();

    const { code, out } = await move();
    expect(code).toBe(1);
    expect(out).toMatch(/table message, row id "\d+" is missing in the copy because the original was changed/);
  });

  it('move rejects a database in use by a server and a nonempty target', async () => {
    const server = await serve(`sqlite:${path}`);
    expect(await move()).toEqual({
      code: 1,
      out: expect.stringContaining('a server or a command uses it; stop it first'),
    });
    await server.close();
    expect(await move()).toMatchObject({ code: 0 });
    expect(await move()).toEqual({ code: 1, out: expect.stringContaining('it is not empty') });
  });
}
