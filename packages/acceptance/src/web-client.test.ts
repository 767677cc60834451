import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { FolderWebAssets } from '@parley/server/testing';
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

  it('lets browsers ask whether the script that receives notifications changed', async () => {
    const { headers } = await fetch(`${server.url}/web/service-worker.js`);
    expect(headers.get('cache-control')).toBe('no-cache');
  });

  it.each(['other.js', 'notes.txt', '..%2Findex.html', 'main-abc.js.br', ''])('has no file named %j', async (name) => {
    expect((await fetch(`${server.url}/web/${name}`)).status).toBe(404);
  });
});
