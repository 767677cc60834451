import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { BucketBuilds, FolderBuilds, FolderWebAssets } from '@parley/server/testing';
import { until } from '@parley/testkit';
import { fieldsOf } from '../testing/expectations.js';
import { imageFile, postFiles } from '../testing/multipart.js';
import { serverPerSuite } from '../testing/servers.js';
import { TestBrowser } from '../testing/test-browser.js';
import { TestServer } from '../testing/test-server.js';

const SCRIPT = 'console.log("Parley");';
let folder: string;
const { server } = serverPerSuite(async () => {
  folder = mkdtempSync(join(tmpdir(), 'parley-web-'));
  mkdirSync(join(folder, 'web'));
  writeFileSync(
    join(folder, 'index.html'),
    '<head><title>Parley</title><script type="module" src="./web/main-abc.js"></script></head>',
  );
  writeFileSync(join(folder, 'web', 'main-abc.js'), SCRIPT);
  writeFileSync(join(folder, 'web', 'main-abc.js.br'), brotliCompressSync(SCRIPT));
  writeFileSync(join(folder, 'web', 'service-worker.js'), SCRIPT);
  writeFileSync(join(folder, 'web', 'icon-180.png'), 'logo');
  writeFileSync(join(folder, 'web', 'notes.txt'), 'not an asset');
  return { webAssets: new FolderWebAssets(folder) };
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('web client', () => {
  it('redirects visitors of the start page to the log-in page', async () => {
    expect(await new TestBrowser(server).get('/')).toMatchObject({
      status: 303,
      headers: { location: '/login/' },
    });
  });

  it('is the start page for visitors who may read web-public channels', async () => {
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

  it('is the start page for logged-in users, with absolute file addresses', async () => {
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
    expect(headers['content-security-policy']).toContain("connect-src 'self';");
  });

  it('may request GIFs from GIPHY on servers with a key, which clients receive', async () => {
    const keyOf = async (on: TestServer) =>
      fieldsOf(
        await on.request('POST', '/register', { as: on.people.hamlet, params: { fetch_event_types: ['giphy'] } }),
      ).giphy_api_key;
    expect(await keyOf(server)).toBe('');
    const withGifs = await TestServer.start({
      webAssets: new FolderWebAssets(folder),
      frameAncestors: ['https://shop.example.com'],
      giphyApiKey: 'key-of-gifs',
    });
    try {
      expect(await keyOf(withGifs)).toBe('key-of-gifs');
      const browser = await TestBrowser.loggedIn(withGifs, withGifs.people.hamlet);
      for (const path of ['/', '/frame']) {
        const { headers } = await browser.get(path);
        expect(headers['content-security-policy']).toContain("connect-src 'self' https://api.giphy.com;");
      }
    } finally {
      await withGifs.close();
    }
  });

  it('serves immutable files, compressed if the browser accepts compression', async () => {
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

  describe('after an upgrade', () => {
    const DAY_MS = 24 * 3600_000;
    let data: string;
    beforeEach(() => {
      data = mkdtempSync(join(tmpdir(), 'parley-builds-'));
    });
    afterEach(() => rmSync(data, { recursive: true }));

    const places = {
      folder() {
        const builds = new FolderBuilds(join(data, 'kept'));
        const age = (build: string) => {
          const longAgo = (Date.now() - DAY_MS - 1000) / 1000;
          utimesSync(join(data, 'kept', build, 'replaced'), longAgo, longAgo);
        };
        return { open: () => builds, age };
      },
      bucket() {
        const objects = new Map<string, { bytes: Uint8Array; storedAtMs: number }>();
        const bucket = {
          async putObject(name: string, bytes: Uint8Array) {
            objects.set(name, { bytes, storedAtMs: Date.now() });
          },
          async *readObject(name: string) {
            yield objects.get(name)!.bytes;
          },
          async removeObject(name: string) {
            objects.delete(name);
          },
          async *listObjects(prefix: string) {
            for (const [name, { bytes, storedAtMs }] of [...objects].filter(([each]) => each.startsWith(prefix))) {
              yield { name, size: bytes.length, storedAtMs };
            }
          },
        };
        const age = (build: string) => {
          objects.get(`web-client/${build}/replaced`)!.storedAtMs -= DAY_MS + 1000;
        };
        // Each server of an installation opens the bucket.
        return { open: () => new BucketBuilds(bucket), age };
      },
    };

    it.each(['folder', 'bucket'] as const)('serves files of the previous build for a day from a %s', async (kind) => {
      const place = places[kind]();
      const release = (name: string) => {
        const path = join(data, name);
        mkdirSync(join(path, 'web'), { recursive: true });
        writeFileSync(join(path, 'index.html'), `<script type="module" src="./web/${name}.js"></script>`);
        writeFileSync(join(path, 'web', `${name}.js`), name);
        return new FolderWebAssets(path, place.open());
      };
      const textOf = async (assets: FolderWebAssets, file: string) => {
        const asset = await assets.open(file, '');
        if (!asset) return null;
        const chunks: Uint8Array[] = [];
        for await (const chunk of asset.body.bytes) chunks.push(chunk);
        return Buffer.concat(chunks).toString();
      };
      const builds = () => place.open().list();

      await release('main-a').page();
      await until(async () => (await builds()).size === 1);
      const [first] = [...(await builds()).keys()];
      rmSync(join(data, 'main-a'), { recursive: true });
      const second = release('main-b');
      await second.page();
      await until(async () => typeof (await builds()).get(first!) === 'number');
      expect(await textOf(second, 'main-a.js')).toBe('main-a');
      expect(await textOf(second, 'main-b.js')).toBe('main-b');
      expect(await textOf(second, 'main-c.js')).toBeNull();
      expect((await builds()).size).toBe(2);

      place.age(first!);
      const restarted = release('main-b');
      await restarted.page();
      await until(async () => !(await builds()).has(first!));
      expect([...(await builds()).values()]).toEqual([null]);
      expect(await textOf(restarted, 'main-a.js')).toBeNull();
    });
  });

  it('makes browsers revalidate the service worker, which may serve the page', async () => {
    const { headers } = await fetch(`${server.url}/web/service-worker.js`);
    expect(headers.get('cache-control')).toBe('no-cache');
    expect(headers.get('service-worker-allowed')).toBe('..');
    const other = await fetch(`${server.url}/web/main-abc.js`);
    expect(other.headers.get('service-worker-allowed')).toBeNull();
  });

  it('is installable, with icons large enough for masks', async () => {
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
    const icon = await fetch(`${server.url}/web/icon-180.png`);
    expect(icon.headers.get('content-type')).toBe('image/png');
    expect(icon.headers.get('cache-control')).toBe('no-cache');
    expect(await icon.text()).toBe('logo');
  });

  it('has the logo of Parley as favicon until the organization uploads an icon', async () => {
    const browser = await TestBrowser.loggedIn(server, server.people.hamlet);
    expect((await browser.get('/')).body).toContain('<link rel="icon" href="/web/logo.svg">');
    expect((await new TestBrowser(server).get('/login/')).body).toContain('<link rel="icon" href="/web/logo.svg">');
    expect((await browser.get('/favicon.ico')).headers).toMatchObject({ location: '/web/logo.svg' });
    await postFiles(server, '/realm/icon', server.people.iago, [imageFile()]);
    expect((await browser.get('/')).body).toMatch(/<link rel="icon" href="\/user_avatars\/\d+\/realm\/icon\.png/);
    await server.delete('/realm/icon', server.people.iago);
  });

  it('shows the uploaded icon for the installed application', async () => {
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
