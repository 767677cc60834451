import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { CreateRealm } from '@parley/domain/log-in';
import { RegisterUser } from '@parley/domain/membership';
import { createParley, type Parley } from '@parley/server';
import { Chromium, findChromium } from './testing/chromium.js';

const command = findChromium();
if (command === null)
  console.warn('Sessions are not tested in a browser: no Chromium is installed (apt-get install chromium).');

const [email, password] = ['ann@example.com', 'a password that nobody guesses'];

/** Application page with its checks, followed by frames of foreign pages. */
const OWN_PAGE = (attackers: readonly string[]) => `<!doctype html><title>own</title><script>
const cookie = () => Object.fromEntries(document.cookie.split('; ').map((pair) => pair.split('=')));
const send = async (method, path, fields) => {
  const headers = { 'X-CSRFToken': cookie().csrftoken };
  const answer = await fetch(path, { method, headers, body: fields && new URLSearchParams(fields) });
  return [answer.status, (await answer.json()).code ?? ''].join(' ').trim();
};
const visit = (url) => new Promise((resolve) => {
  const frame = document.createElement('iframe');
  const heard = ({ source, data }) => {
    if (source !== frame.contentWindow) return;
    removeEventListener('message', heard);
    resolve(data);
  };
  addEventListener('message', heard);
  frame.src = url;
  document.body.append(frame);
});
(async () => {
  const found = {};
  await fetch('/accounts/login/');
  found.wrong = await send('POST', '/accounts/login/', { username: '${email}', password: 'wrong' });
  found.logIn = await send('POST', '/accounts/login/', { username: '${email}', password: '${password}' });
  found.scripts = Object.keys(cookie());
  found.me = (await fetch('/json/users/me')).status;
  found.own = await send('PATCH', '/json/settings', { full_name: 'Ann Own' });
  found.withoutToken = (await fetch('/json/settings', { method: 'PATCH' })).status;
  found.attacks = [];
  for (const url of ${JSON.stringify(attackers)}) found.attacks.push(await visit(url));
  found.logOut = await send('POST', '/accounts/logout/');
  found.afterwards = (await fetch('/json/users/me')).status;
  return found;
})().catch(String).then((found) => fetch('/found', { method: 'POST', body: JSON.stringify(found) }));
</script>`;

/** Page that tries to rename the logged-in user: by script, by form and by reading the token. */
const ATTACK = (target: string) => `<!doctype html><title>attack</title>
<iframe name="sink"></iframe>
<form method="POST" action="${target}/json/settings" target="sink">
  <input name="method" value="PATCH"><input name="full_name" value="Ann Attacked"><input name="csrfmiddlewaretoken" value="x">
</form><script>
(async () => {
  const body = new URLSearchParams({ method: 'PATCH', full_name: 'Ann Attacked' });
  const post = (more) => fetch('${target}/json/settings', { method: 'POST', credentials: 'include', body, ...more });
  const found = {};
  found.blind = await post({ mode: 'no-cors' }).then(({ type }) => type, () => 'failed');
  found.withHeader = await post({ headers: { 'X-CSRFToken': 'x' } }).then(({ status }) => status, () => 'failed');
  found.read = await fetch('${target}/json/users/me', { credentials: 'include' }).then(({ status }) => status, () => 'failed');
  found.token = await fetch('${target}/accounts/csrf_token/', { credentials: 'include' }).then((it) => it.text(), () => 'failed');
  const loaded = new Promise((resolve) => { document.querySelector('iframe').onload = resolve; });
  document.forms[0].submit();
  await loaded;
  parent.postMessage(found, '*');
})();
</script>`;

interface Seen {
  readonly from: string;
  readonly status: number;
  readonly hadSession: boolean;
}

const listen = async (server: Server): Promise<number> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
};
const pathOf = ({ url = '' }: IncomingMessage): string => url.split('?')[0]!;

(command === null ? describe.skip : describe)('browser session', () => {
  let directory: string;
  let parley: Parley;
  let own: Server;
  let others: Server;
  let browser: Chromium | undefined;
  afterEach(async () => {
    await browser?.close();
    await parley.close();
    for (const server of [own, others]) server.closeAllConnections();
    for (const server of [own, others]) server.close();
    rmSync(directory, { recursive: true });
  });

  it('works only for pages of the same origin (protocol §7.6)', async () => {
    directory = mkdtempSync(join(tmpdir(), 'parley-browser-'));
    const seen: Seen[] = [];
    let page = '';
    let report = (_found: unknown) => {};
    const reported = new Promise<unknown>((resolve) => {
      report = resolve;
    });
    own = createServer((request, response) => {
      if (pathOf(request) === '/page') return void response.setHeader('Content-Type', 'text/html').end(page);
      if (pathOf(request) === '/found') {
        response.end();
        return void json(request).then(report);
      }
      const { origin = '', cookie = '' } = request.headers;
      response.once('finish', () => {
        if (request.method !== 'POST' || pathOf(request) !== '/json/settings') return;
        seen.push({ from: origin, status: response.statusCode, hadSession: cookie.includes('sessionid=') });
      });
      parley.handler(request, response);
    });
    const target = `http://localhost:${await listen(own)}`;
    others = createServer((_request, response) => {
      response.setHeader('Content-Type', 'text/html').end(ATTACK(target));
    });
    const port = await listen(others);
    // One attacker on the same site, which receives cookies of all its ports, and one on another site.
    const attackers = [`http://localhost:${port}`, `http://127.0.0.1:${port}`];
    page = OWN_PAGE(attackers);
    parley = await createParley({ database: `sqlite:${join(directory, 'chat.db')}`, url: target, shedsLoad: false });
    const realm = await parley.useCase(CreateRealm).execute({ stringId: '', name: 'Example' });
    const user = { realmId: realm.id, email, fullName: 'Ann', role: 'member', password } as const;
    await parley.useCase(RegisterUser).execute(user);

    browser = await Chromium.start(command!, { runsScripts: true });
    await browser.open(`${target}/page`);
    const found = await reported;
    const repelled = { blind: 'opaque', withHeader: 'failed', read: 'failed', token: 'failed' };
    expect(found).toEqual({
      wrong: '401 AUTHENTICATION_FAILED',
      logIn: '200',
      scripts: ['csrftoken'],
      me: 200,
      own: '200',
      withoutToken: 403,
      attacks: [repelled, repelled],
      logOut: '200',
      afterwards: 401,
    });
    // A script request and a form request from each attacker.
    expect(seen).toHaveLength(4);
    for (const { from, status, hadSession } of seen) {
      expect(attackers).toContain(from);
      expect([status, hadSession]).toEqual(from === attackers[0] ? [403, true] : [401, false]);
    }
  });
});
