import { once } from 'node:events';
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import express from 'express';
import { createParley, type ParleyConfig, StartupError } from '../index.js';
import { OPTION_NAMES } from './parley-options.js';

describe('createParley', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'parley-create-'));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  const good = () => ({ database: `sqlite:${join(directory, 'chat.db')}`, url: 'https://example.com/chat' });

  it.each([
    [{ database: 'bogus' }, 'database must be of the form sqlite:PATH or postgres://USER@HOST/NAME, not "bogus".'],
    [{ trustedProxies: ['10.0.0.0/99'] }, 'trustedProxies[0] must be a network such as 10.0.0.0/8, not "10.0.0.0/99".'],
    [{ trustedProxies: -1 }, /^trustedProxies must be /],
    [{ secret: 'short' }, 'secret must be at least 8 characters long.'],
    [{ url: 'nope' }, 'url must be an address such as https://chat.example.com, not "nope".'],
    [{ url: 'ftp://localhost' }, 'url must be an address such as https://chat.example.com, not "ftp://localhost".'],
    [
      { trustedOrigins: ['https://example.com/'] },
      'trustedOrigins[0] must be an origin such as https://example.com, without a trailing slash, not "https://example.com/".',
    ],
    [{ trustedOrigins: '*' }, /^trustedOrigins must be an array of origins .* or 'any', not "\*"\.$/],
    [{ realmAddresses: 'port' }, 'realmAddresses must be host or path, not "port".'],
    [{ webClient: 'no' }, 'webClient must be true, false or \'element\', not "no".'],
    [{ authentificate: async () => null }, /^createParley has no option authentificate.*authenticate/],
    [{ authenticate: 'cookie' }, 'authenticate must be a function, not "cookie".'],
    [{ mailer: { sendMail: () => {} } }, 'mailer must be an object with the function send, not an object.'],
    [{ mailer: () => {} }, 'mailer must be an object with the function send, not a function.'],
    [{ logger: console.log }, 'logger must be an object with the functions info, error, not a function.'],
    [{ clock: { now: 5, nowMs: 5 } }, 'clock must be an object with the functions now, nowMs, not an object.'],
    [{ randomness: null }, 'randomness must be an object with the functions uuid, fraction, not null.'],
    [{ passwordHasher: {} }, 'passwordHasher must be an object with the functions hash, verify, not an object.'],
    [
      { renderer: [] },
      'renderer must be an object with the functions parse, parseNow, render, topicLinks, not an array.',
    ],
    [
      { files: { put: () => {} } },
      /^files must be of the form folder:PATH, .* or an object with the functions put, sizeOf, .*, not an object\.$/,
    ],
    [{ url: undefined }, 'url must be an address such as https://chat.example.com, not undefined.'],
  ])('rejects %j without touching anything', async (wrong, message) => {
    const parley = createParley({ ...good(), ...wrong } as ParleyConfig);
    await expect(parley).rejects.toBeInstanceOf(StartupError);
    await expect(parley).rejects.toThrow(message);
    expect(readdirSync(directory)).toEqual([]);
  });

  it('lists the missing options', async () => {
    const message =
      "createParley needs options, at least { database: 'sqlite:PATH', url: 'https://chat.example.com' }.";
    await expect(createParley(undefined as never)).rejects.toThrow(message);
  });

  it('serves the element without the application', async () => {
    const parley = await createParley({ ...good(), url: 'http://localhost', webClient: 'element' });
    await parley.realms.ensure({ name: '', title: 'The Team' });
    const server = createServer(parley.handler).listen(0);
    const { port } = server.address() as AddressInfo;
    const get = (path: string) => fetch(`http://localhost:${port}${path}`, { redirect: 'manual' });
    expect((await get('/web/element.js')).status).toBe(200);
    const page = await get('/');
    expect([page.status, await page.text()]).toEqual([200, expect.not.stringContaining('parley-credentials')]);
    server.close();
    await parley.close();
  });

  it("rejects a secret that differs from the database's secret unless an option accepts it", async () => {
    await (await createParley({ ...good(), secret: 'the first secret' })).close();
    const other = { ...good(), secret: 'the second secret' };
    await expect(createParley(other)).rejects.toThrow(
      /or pass --accept-new-secret \(acceptNewSecret in createParley\)/,
    );
    await expect(createParley(good())).rejects.toThrow(StartupError);
    expect(readdirSync(directory)).toEqual(['chat.db', 'chat.db.history', 'files']);
    await (await createParley({ ...other, acceptNewSecret: true })).close();
    await (await createParley(other)).close();
  });

  it('documents every option in the guide', () => {
    const guide = readFileSync(join(__dirname, '../../../../docs/embedding-reference.md'), 'utf8');
    expect(OPTION_NAMES.filter((name) => !new RegExp(`^\\|.*\`${name}\`.* \\|`, 'm').test(guide))).toEqual([]);
  });

  it('reports readiness and server metrics without process metrics', async () => {
    const parley = await createParley({ ...good(), metrics: true });
    expect(await parley.ready()).toEqual({ isReady: true, checks: { write: 'ok', schema: 'ok', disk: 'ok' } });
    const text = await parley.metrics();
    expect(text).toMatch(/^parley_up 1$/m);
    expect(text).toMatch(/^parley_commit_units_count [1-9]/m);
    expect(text.split('\n').filter((line) => !/^(# (HELP|TYPE) )?parley_|^$/.test(line))).toEqual([]);
    const closing = parley.close();
    expect(await parley.ready()).toEqual({ isReady: false, checks: { state: 'draining' } });
    await closing;
    expect(await parley.metrics()).toMatch(/^parley_up 0$/m);
  });

  it('collects no metrics by default', async () => {
    const parley = await createParley(good());
    await expect(parley.metrics()).rejects.toThrow('Metrics are disabled; pass `metrics: true` to createParley.');
    await parley.close();
  });

  it('writes warnings and errors to standard error without a logger', async () => {
    const lines: string[] = [];
    const print = jest.spyOn(process.stderr, 'write').mockImplementation((text) => {
      lines.push(String(text));
      return true;
    });
    const parley = await createParley({ ...good(), authenticate: async () => ({ realm: 'x', externalId: 'u1' }) });
    await parley.realms.ensure({ name: '' });
    const server = createServer(parley.handler).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const { status } = await fetch(`http://127.0.0.1:${port}/api/v1/users/me`);
    await parley.close();
    server.closeAllConnections();
    server.close();
    print.mockRestore();
    expect(status).toBe(401);
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { level: 'warn', msg: 'authenticate() named an unknown caller: there is no organization "x"' },
      { level: 'warn', audit: 'failed log-in', logInMethod: 'host', failure: 'UNAUTHORIZED' },
    ]);
  });

  it.each([
    ['/elsewhere', ['/elsewhere', '/chat']],
    ['/', ['/', '/chat']],
    ['/chat', []],
  ])('warns once if the router is mounted at %s but `url` leads elsewhere', async (path, paths) => {
    const warnings: string[] = [];
    const ignore = () => {};
    const logger = {
      debug: ignore,
      info: ignore,
      warn: (_: object, message: string) => warnings.push(message),
      error: ignore,
    };
    const parley = await createParley({ ...good(), logger });
    const server = createServer(express().use(path, parley.router)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    for (let n = 0; n < 2; n++) await (await fetch(`http://127.0.0.1:${port}${path}/api/v1/server_settings`)).text();
    await parley.close();
    server.closeAllConnections();
    server.close();
    const [mounted, expected] = paths;
    expect(warnings).toEqual(
      paths.length === 0
        ? []
        : [expect.stringContaining(`mounted at ${mounted}, but the path of \`url\` is ${expected}.`)],
    );
  });

  it('creates one organization if called four times at once on a server without further addresses', async () => {
    const parley = await createParley({ ...good(), url: 'http://127.0.0.1' });
    const made = await Promise.all(Array.from({ length: 4 }, () => parley.realms.ensure({ name: 'shop' })));
    expect(new Set(made.map(({ id }) => id)).size).toBe(1);
    await expect(parley.realms.ensure({ name: 'other' })).rejects.toMatchObject({ code: 'NO_ADDRESS_LEFT' });
    await parley.close();
  });

  it('warns if databases of older releases share the folder of files', async () => {
    await (await createParley(good())).close();
    rmSync(join(directory, 'files'), { recursive: true });
    copyFileSync(join(directory, 'chat.db'), join(directory, 'copy.db'));
    const warned: string[] = [];
    const logger = { info: () => {}, warn: (_: object, text: string) => warned.push(text), error: () => {} };
    await (await createParley({ ...good(), logger })).close();
    expect(warned).toEqual([
      expect.stringContaining('unused files are not removed: other databases share the folder of files'),
    ]);
  });

  it('warns if the process has the same file open already', async () => {
    const warned: object[] = [];
    const logger = { info: () => {}, warn: (fields: object) => warned.push(fields), error: () => {} };
    const first = await createParley({ ...good(), logger });
    const second = await createParley({ ...good(), logger });
    expect(warned).toEqual([{ file: join(directory, 'chat.db') }]);
    await first.close();
    await second.close();
    await (await createParley({ ...good(), logger })).close();
    expect(warned).toHaveLength(1);
  });

  it('opens a database and closes it cleanly', async () => {
    const parley = await createParley(good());
    await parley.close();
    expect(readdirSync(directory).sort()).toEqual(['chat.db', 'chat.db.history', 'chat.db.secret', 'files']);
  });
});
