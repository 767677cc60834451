import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ParleyClient } from '@parley/client';
import { CreateRealm } from '@parley/domain/log-in';
import { RegisterUser } from '@parley/domain/membership';
import { createParley, type Parley } from '@parley/server';
import { bundleClient } from './testing/bundle-client.js';
import { Chromium, findChromium } from './testing/chromium.js';

const command = findChromium();
if (command === null)
  console.warn('The client is not tried in a browser: no Chromium is installed (apt-get install chromium).');

const PASSWORD = 'a password that nobody guesses';
const PAGE = `<!doctype html><title>Shop</title><link rel="icon" href="data:,">
<script type="module">import * as client from '/client.js'; Object.assign(globalThis, client);</script>`;

(command === null ? describe.skip : describe)('ParleyClient in a browser', () => {
  let code: string;
  let browser: Chromium;
  let directory: string;
  let parley: Parley;
  let host: Server;
  let origin: string;
  let annId: number;
  let bob: ParleyClient;
  /** Paths requested from the host application. */
  const requested: string[] = [];
  beforeAll(async () => {
    ({ code } = await bundleClient());
    browser = await Chromium.start(command!, { runsScripts: true });
  });
  afterAll(() => browser?.close());

  /** Starts a host application with one page and with Parley below a path that limits its cookies. */
  async function startHost(path: string, page: string): Promise<void> {
    directory = mkdtempSync(join(tmpdir(), 'parley-browser-'));
    let chat: RequestListener;
    host = createServer((request, response) => {
      requested.push(request.url!);
      if (request.url === page) response.setHeader('Content-Type', 'text/html').end(PAGE);
      else if (request.url === '/client.js') response.setHeader('Content-Type', 'text/javascript').end(code);
      else chat(request, response);
    });
    await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve));
    origin = `http://localhost:${(host.address() as AddressInfo).port}`;
    parley = await createParley({ database: `sqlite:${join(directory, 'chat.db')}`, url: origin + path });
    chat = path === '' ? parley.handler : parley.mount(path);
    const realm = await parley.useCase(CreateRealm).execute({ stringId: '', name: 'Example' });
    const register = (fullName: string) =>
      parley.useCase(RegisterUser).execute({
        realmId: realm.id,
        email: `${fullName.toLowerCase()}@example.com`,
        fullName,
        role: 'member',
        password: PASSWORD,
      });
    annId = (await register('Ann')).id;
    await register('Bob');
    bob = await ParleyClient.logIn({ url: origin + path, username: 'bob@example.com', password: PASSWORD });
  }
  afterEach(async () => {
    await parley.close();
    host.closeAllConnections();
    host.close();
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  });

  it.each([
    ['at a path, on a page elsewhere', '/chat', '/orders/page'],
    ['at a path', '/chat', '/chat/page'],
    // Last, because all pages can read the cookie that it leaves.
    ['at the root', '', '/page'],
  ])('logs in by session, receives and sends messages and logs out with Parley %s', async (_where, path, page) => {
    await startHost(path, page);
    await browser.open(origin + page);
    const logIn = (password: string) =>
      browser.evaluate(`(async () => {
        const username = 'ann@example.com';
        globalThis.client = await ParleyClient.startSession({ url: '${path}/', username, password: '${password}' });
        return (await client.get('/users/me')).user_id;
      })().catch(({ code, status }) => ({ code, status }))`);
    expect(await logIn('wrong')).toEqual({ code: 'AUTHENTICATION_FAILED', status: 401 });
    expect(await logIn(PASSWORD)).toBe(annId);
    // The browser logs the expected rejection.
    expect(browser.complaints.splice(0)).toEqual([expect.stringContaining('status of 401')]);
    // A reloaded page still has the session.
    requested.splice(0);
    await browser.open(origin + page);
    expect(
      await browser.evaluate(`(async () => {
        globalThis.client = new ParleyClient({ url: '${path}/', credentials: 'session' });
        globalThis.heard = [];
        globalThis.stream = client.events({ event_types: ['message'], fetch_event_types: ['realm_user'] });
        return new Promise((registered, failed) => {
          globalThis.listening = (async () => {
            for await (const event of stream) {
              if (event.type === 'registered') registered(event.state.realm_users.map((user) => user.full_name).sort());
              else heard.push(event.message.content);
              if (heard.length === 2) break;
            }
          })();
          listening.catch(failed);
        });
      })()`),
    ).toEqual(['Ann', 'Bob']);

    await bob.post('/messages', { type: 'direct', to: [annId], content: 'Is it *paid*?' });
    const { id } = await browser.evaluate(
      `client.get('/users/me').then((me) => client.post('/messages', { type: 'direct', to: [me.user_id], content: 'Note' }))`,
    );
    expect(await browser.evaluate('listening.then(() => heard)')).toEqual([
      '<p>Is it <em>paid</em>?</p>',
      '<p>Note</p>',
    ]);
    expect(await browser.evaluate('stream.queueId')).toBeNull();
    expect(
      (await browser.evaluate(`client.get('/messages/{message_id}', { message_id: ${id} })`)).message,
    ).toMatchObject({ sender_id: annId, content: '<p>Note</p>' });
    expect(browser.complaints).toEqual([]);

    // The cookie is readable only for pages below Parley's path.
    const readsCookie = page.startsWith(path);
    expect(requested.includes(`${path}/accounts/csrf_token/`)).toBe(!readsCookie);
    // A log-in on another page changes the token.
    const after = await browser.evaluate(`(async () => {
      await ParleyClient.startSession({ url: '${path}/', username: 'ann@example.com', password: '${PASSWORD}' });
      return (await client.post('/messages', { type: 'direct', to: [${annId}], content: 'Later' })).id;
    })()`);
    expect(after).toBeGreaterThan(id);
    expect(browser.complaints.splice(0)).toEqual(readsCookie ? [] : [expect.stringContaining('status of 403')]);

    const refused = await browser.evaluate(
      `client.endSession().then(() => client.get('/users/me')).catch((error) => [error instanceof ParleyError, error.status])`,
    );
    expect(refused).toEqual([true, 401]);
    browser.complaints.splice(0);
  });
});
