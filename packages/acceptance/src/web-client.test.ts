import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { FolderWebAssets } from '@parley/server/testing';
import { until } from '@parley/testkit';
import { imageFile, postFiles } from './testing/multipart.js';
import { TestBrowser } from './testing/test-browser.js';
import { TestServer } from './testing/test-server.js';

const SCRIPT = 'console.log("Parley");';
let folder: string;
let server: TestServer;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'parley-web-'));
  mkdirSync(join(folder, 'web'));
  writeFileSync(
    join(folder, 'index.html'),
    '<head><title>Parley</title><script type="module" src="./web/main-abc.js"></script></head>',
  );
  writeFileSync(join(folder, 'web', 'main-abc.js'), SCRIPT);
  writeFileSync(join(folder, 'web', 'main-abc.js.br'), brotliCompressSync(SCRIPT));
  writeFileSync(join(folder, 'web', 'service-worker.js'), SCRIPT);
  writeFileSync(join(folder, 'web', 'notes.txt'), 'not an asset');
  server = await TestServer.start({ webAssets: new FolderWebAssets(folder) });
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

describe('web client', () => {
  it('leads visitors of the start page to the log-in page', async () => {
    expect(await new TestBrowser(server).get('/')).toMatchObject({
      status: 303,
      headers: { location: '/login/' },
    });
  });

  it('is the start page of visitors where they may read web-public channels', async () => {
    const allow = (enable_spectator_access: boolean) =>
      server.patch('/realm', server.people.desdemona, { enable_spectator_access });
    await allow(true);
    const visitor = new TestBrowser(server);
    expect((await visitor.get('/')).status).toBe(303);
    await server.createChannel('open to all', [server.people.hamlet], { is_web_public: true });
    const { status, body } = await visitor.get('/');
    expect(status).toBe(200);
    expect(body).toContain('<meta name="parley-credentials" content="visitor">');
    expect(body).toContain('<meta name="parley-user" content="0">');
    await allow(false);
    expect((await visitor.get('/')).status).toBe(303);
  });

  it('is the start page of people who are logged in, with absolute addresses of its files', async () => {
    await server.changeRealm({ name: 'Elsinore & Sons' });
    const browser = await TestBrowser.loggedIn(server, server.people.hamlet);
    const { status, headers, body } = await browser.get('/');
    expect(status).toBe(200);
    expect(body).toContain('<title>Elsinore &amp; Sons</title>');
    expect(body).toContain('src="/web/main-abc.js"');
    expect(body).toContain('<meta name="parley-credentials" content="session">');
    expect(headers).toMatchObject({ 'cache-control': 'no-store', 'x-frame-options': 'DENY' });
    expect(headers['content-security-policy']).toContain("script-src 'self'; style-src 'self';");
    expect(headers['content-security-policy']).toContain("require-trusted-types-for 'script'");
    expect(headers['content-security-policy']).not.toContain('unsafe');
  });

  it('sends files that never change under their name, compressed if the browser accepts that', async () => {
    const load = (encodings: string) =>
      fetch(`${server.url}/web/main-abc.js`, { headers: { 'Accept-Encoding': encodings } });
    const plain = await load('identity');
    expect(Object.fromEntries(plain.headers)).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      vary: expect.stringContaining('Accept-Encoding'),
    });
    expect(plain.headers.get('content-encoding')).toBeNull();
    expect(await plain.text()).toBe(SCRIPT);
    const compressed = await load('gzip, br;q=0.9');
    expect(compressed.headers.get('content-encoding')).toBe('br');
    expect(await compressed.text()).toBe(SCRIPT);
    expect((await load('br;q=0')).headers.get('content-encoding')).toBeNull();
  });

  it('sends the files of the former build for a day after an upgrade', async () => {
    const data = mkdtempSync(join(tmpdir(), 'parley-builds-'));
    const build = (name: string) => {
      const path = join(data, name);
      mkdirSync(join(path, 'web'), { recursive: true });
      writeFileSync(join(path, 'index.html'), `<script type="module" src="./web/${name}.js"></script>`);
      writeFileSync(join(path, 'web', `${name}.js`), name);
      return new FolderWebAssets(path, join(data, 'kept'));
    };
    const isKept = async (assets: FolderWebAssets, file: string) => (await assets.open(file, '')) !== null;
    const files = () => {
      mkdirSync(join(data, 'kept'), { recursive: true });
      return readdirSync(join(data, 'kept'), { recursive: true, encoding: 'utf8' });
    };
    const kept = () => files().filter((name) => /^[0-9a-f]{16}$/.test(name)).length;
    const replaced = () => files().filter((name) => name.endsWith('replaced'));
    const first = build('main-a');
    await first.page();
    await until(() => kept() === 1);
    const second = build('main-b');
    rmSync(join(data, 'main-a'), { recursive: true });
    await second.page();
    await until(() => kept() === 2);
    expect(await isKept(second, 'main-a.js')).toBe(true);
    expect(await isKept(second, 'main-b.js')).toBe(true);
    expect(await isKept(second, 'main-c.js')).toBe(false);
    await until(() => replaced().length === 1);
    const longAgo = Date.now() / 1000 - 25 * 3600;
    utimesSync(join(data, 'kept', replaced()[0]!), longAgo, longAgo);
    await build('main-b').page();
    await until(() => kept() === 1);
    expect(await isKept(second, 'main-a.js')).toBe(false);
    rmSync(data, { recursive: true });
  });

  it('lets browsers ask whether the script that receives notifications changed', async () => {
    const { headers } = await fetch(`${server.url}/web/service-worker.js`);
    expect(headers.get('cache-control')).toBe('no-cache');
  });

  it('can be installed, with pictures of sufficient size that a mask may cut', async () => {
    const browser = await TestBrowser.loggedIn(server, server.people.hamlet);
    const { body } = await browser.get('/');
    expect(body).toContain('<link rel="manifest" href="/web/manifest.webmanifest">');
    expect(body).toContain('<link rel="apple-touch-icon" href="/web/icon-180.png">');
    const response = await fetch(`${server.url}/web/manifest.webmanifest`);
    expect(response.headers.get('content-type')).toBe('application/manifest+json');
    expect(await response.json()).toMatchObject({
      ...{ id: '/', start_url: '/', scope: '/', display: 'standalone' },
      icons: [
        { src: 'icon-192.png', sizes: '192x192', type: 'image/png', purpose: 'any' },
        { src: 'icon-512.png', sizes: '512x512', type: 'image/png', purpose: 'any' },
        { src: 'icon-maskable.png', sizes: '512x512', type: 'image/png', purpose: 'maskable' },
      ],
    });
    for (const [name, size] of [
      ['icon-180.png', 180],
      ['icon-192.png', 192],
      ['icon-512.png', 512],
      ['icon-maskable.png', 512],
    ] as const) {
      const icon = await fetch(`${server.url}/web/${name}`);
      expect(icon.headers.get('content-type')).toBe('image/png');
      expect(Buffer.from(await icon.arrayBuffer()).readUInt32BE(16)).toBe(size);
    }
  });

  it('shows the uploaded icon as installed application', async () => {
    const other = await TestServer.start({ webAssets: new FolderWebAssets(folder) });
    try {
      expect((await fetch(`${other.url}/web/icon-own.png`)).status).toBe(404);
      await postFiles(other, '/realm/icon', other.people.iago, [imageFile()]);
      const manifest = (await (await fetch(`${other.url}/web/manifest.webmanifest`)).json()) as { icons: unknown };
      expect(manifest.icons).toEqual([
        { src: 'icon-own.png', sizes: '192x192 512x512', type: 'image/png', purpose: 'any' },
        { src: 'icon-own.svg', sizes: 'any', type: 'image/svg+xml', purpose: 'maskable' },
      ]);
      expect(await (await fetch(`${other.url}/web/icon-own.png`)).text()).toBe('png 512x512x1');
      expect(await (await fetch(`${other.url}/web/icon-180.png`)).text()).toBe('png 512x512x1');
      expect(await (await fetch(`${other.url}/web/icon-own.svg`)).text()).toContain(btoa('png 512x512x1'));
      await other.delete('/realm/icon', other.people.iago);
      expect((await fetch(`${other.url}/web/icon-own.png`)).status).toBe(404);
    } finally {
      await other.close();
    }
  });

  it('has no manifest without a web client', async () => {
    const plain = await TestServer.start();
    try {
      expect((await fetch(`${plain.url}/web/manifest.webmanifest`)).status).toBe(404);
      expect((await fetch(`${plain.url}/web/icon-512.png`)).status).toBe(404);
    } finally {
      await plain.close();
    }
  });

  it.each(['other.js', 'notes.txt', '..%2Findex.html', 'main-abc.js.br', ''])('has no file named %j', async (name) => {
    expect((await fetch(`${server.url}/web/${name}`)).status).toBe(404);
  });
});
