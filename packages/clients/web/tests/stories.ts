import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  test as base,
  type CDPSession,
  expect,
  type Locator,
  type Page,
} from '@playwright/test';

const SERVER = join(import.meta.dirname, '../../../server/dist/bundle/main.js');
const WRITE_LARGE = join(import.meta.dirname, '../../../testing/bench/dist/write-large-organization.js');

const QUICK_PASSWORDS = join(import.meta.dirname, 'quick-passwords.cjs');

/** Token chosen by browsers before a log-in. */
const CSRF_TOKEN = 'story';

/** The large one has Hamlet and 9,999 others, the new one only its owner Ann. */
type Organization = 'demo' | 'large' | 'new';

export interface Server {
  readonly url: string;
  /** Kills the server without warning and restarts it on the same port. */
  crash(): Promise<void>;
  /** Calls the API as a demo person; returns the fields of the response. */
  // biome-ignore lint/suspicious/noExplicitAny: tests say what they expect by their assertions.
  call(person: string, method: string, path: string, params?: Readonly<Record<string, unknown>>): Promise<any>;
  /** Uploads a file through the API; returns the fields of the response. */
  upload(person: string, path: string, name: string, bytes: Buffer): Promise<unknown>;
}

async function startServer(
  folder: string,
  port: number,
  organization: Organization,
  settings: Workers['settings'],
): Promise<{ child: ChildProcess; port: number }> {
  const args = [
    ...['--require', QUICK_PASSWORDS, SERVER, 'serve'],
    // The browser and other stories delay the server's event loop, which must not refuse requests for that.
    ...['--rate-limits=off', '--shed-load=off', `--port=${port}`],
    ...(organization === 'demo' ? ['--demo'] : []),
  ];
  const child = spawn(process.execPath, args, {
    cwd: folder,
    env: {
      ...process.env,
      PARLEY_DATABASE: `sqlite:${join(folder, 'parley.db')}`,
      PARLEY_WEB_PUSH: 'mailto:ops@example.com',
      PARLEY_WEBHOOK_NETWORKS: 'loopback',
      PARLEY_WEB_PUBLIC_CHANNELS: 'on',
      PARLEY_BIGBLUEBUTTON_URL: 'https://calls.example.com/bigbluebutton/',
      PARLEY_BIGBLUEBUTTON_SECRET: 'secret-of-calls',
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const stream of [child.stdout, child.stderr]) {
    for await (const line of createInterface({ input: stream! })) {
      const [, found] = /http:\/\/localhost:(\d+)/.exec(line) ?? [];
      if (found) return { child, port: Number(found) };
    }
  }
  throw new Error('The server did not start; run `npm run build` first');
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  await once(child, 'exit');
}

/** Creates an organization as an operator does. */
function createOrganization(database: string): void {
  const run = (args: readonly string[], input = '') =>
    execFileSync(process.execPath, ['--require', QUICK_PASSWORDS, SERVER, ...args, `--database=sqlite:${database}`], {
      input,
      stdio: 'pipe',
    });
  run(['realm', 'create', '--new-database', '', 'Elsinore']);
  run(['user', 'create', emailOf('ann'), 'Ann', '--role=owner', '--password-stdin'], `pw-${emailOf('ann')}`);
}

/** Server with a new database; demo organizations are copied. */
async function createServer(
  demo: Workers['demo'],
  organization: Organization,
  settings: Workers['settings'],
): Promise<Server & { end(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-web-'));
  if (organization === 'demo') cpSync(await demo(), folder, { recursive: true });
  if (organization === 'large') {
    const writer = ['--require', QUICK_PASSWORDS, WRITE_LARGE, join(folder, 'parley.db')];
    await promisify(execFile)(process.execPath, writer);
  }
  if (organization === 'new') createOrganization(join(folder, 'parley.db'));
  let { child, port } = await startServer(folder, 0, organization, settings);
  const url = `http://localhost:${port}`;
  const headersOf = async (person: string) => ({
    Authorization: `Basic ${btoa(`${emailOf(person)}:${await keyOf(url, person)}`)}`,
  });
  return {
    url,
    async upload(person, path, name, bytes) {
      const body = new FormData();
      body.append('file', new Blob([new Uint8Array(bytes)]), name);
      const response = await fetch(`${url}/api/v1${path}`, { method: 'POST', headers: await headersOf(person), body });
      if (!response.ok) throw new Error(await response.text());
      return response.json();
    },
    async crash() {
      await kill(child);
      ({ child } = await startServer(folder, port, organization, settings));
    },
    async call(person, method, path, params = {}) {
      const form = new URLSearchParams();
      for (const [name, value] of Object.entries(params)) {
        form.append(name, typeof value === 'string' ? value : JSON.stringify(value));
      }
      const headers = await headersOf(person);
      const isQuery = method === 'GET';
      const response = await fetch(`${url}/api/v1${path}${isQuery ? `?${form}` : ''}`, {
        method,
        headers,
        ...(!isQuery && { body: form }),
      });
      const body = (await response.json()) as { result: string; msg: string };
      if (body.result !== 'success') throw new Error(`${method} ${path}: ${body.msg}`);
      return body;
    },
    async end() {
      await kill(child);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Demo person with a separate logged-in browser. */
export interface Person {
  readonly page: Page;
  readonly context: BrowserContext;
}

interface Fixtures {
  /** Server shared by the stories of a file, which run in its order. */
  readonly server: Server;
  /** Beginnings of addresses outside the server that pages may request. */
  readonly otherAddresses: readonly string[];
  /** True to show the question about notifications, which appears late and moves the page. */
  readonly asksAboutNotifications: boolean;
  /** Logs in and opens a place, by default on a desktop. */
  logIn(name: string, hash?: string, device?: BrowserContextOptions): Promise<Person>;
}

interface Workers {
  readonly organization: Organization;
  /** Further settings of the server. */
  readonly settings: Readonly<Record<string, string>>;
  /** Returns a folder with the database and files of a new demo organization, created by the first call. */
  readonly demo: () => Promise<string>;
  /** Returns the server of a file, and ends the server of the previous file. */
  readonly serverFor: (file: string) => Promise<Server>;
}

export const test = base.extend<Fixtures, Workers>({
  organization: ['demo', { scope: 'worker', option: true }],

  settings: [{}, { scope: 'worker', option: true }],

  demo: [
    async ({ settings }, use) => {
      let folder: string | undefined;
      await use(async () => {
        if (folder === undefined) {
          folder = mkdtempSync(join(tmpdir(), 'parley-demo-'));
          await kill((await startServer(folder, 0, 'demo', settings)).child);
        }
        return folder;
      });
      if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
    },
    { scope: 'worker' },
  ],

  serverFor: [
    async ({ demo, organization, settings }, use) => {
      const last: { file?: string; server?: Awaited<ReturnType<typeof createServer>> } = {};
      await use(async (file) => {
        const { server } = last;
        if (server && last.file === file) return server;
        delete last.server;
        await server?.end();
        return Object.assign(last, { file, server: await createServer(demo, organization, settings) }).server;
      });
      await last.server?.end();
    },
    { scope: 'worker' },
  ],

  server: async ({ serverFor }, use, { file }) => use(await serverFor(file)),

  otherAddresses: [[], { option: true }],

  asksAboutNotifications: [false, { option: true }],

  logIn: async ({ browser, server, otherAddresses, asksAboutNotifications }, use) => {
    const complaints: string[] = [];
    const contexts: BrowserContext[] = [];
    const present = new Set<string>();
    await use(async (name, hash = '', device = {}) => {
      const declined = { origin: server.url, localStorage: [{ name: 'parley-no-notifications', value: '1' }] };
      const origins = asksAboutNotifications ? [] : [declined];
      const context = await browser.newContext({ ...device, storageState: { cookies: [], origins } });
      contexts.push(context);
      const page = await context.newPage();
      page.on('pageerror', (error) => complaints.push(error.message));
      page.on('console', (message) => {
        if (message.type() === 'error' && !isFailedCall(message.text())) complaints.push(message.text());
      });
      page.on('request', (request) => {
        const url = request.url().replace('blob:', '');
        const isAllowed = [server.url, ...otherAddresses].some((address) => url.startsWith(address));
        if (!isAllowed) complaints.push(`request to ${request.url()}`);
      });
      // Another browser of the same person has a separate session.
      await enter(context, server, name, !present.has(name));
      present.add(name);
      await page.goto(`${server.url}/${hash}`);
      // Loaded last, so that the page handles all keys and gestures from here on.
      await expect(page.locator('[part="sidebar"] input[type="search"]')).toBeAttached();
      if (asksAboutNotifications) {
        // Devices with permission get no question.
        const question = page.getByRole('region', { name: 'Notifications' });
        await question.waitFor({ timeout: 5000 }).catch(() => undefined);
      }
      return { page, context };
    });
    await Promise.all(contexts.map((context) => context.close()));
    expect(complaints, 'errors in the console, violated policies and requests to other hosts').toEqual([]);
  },
});

/** Cookies of people by server and name. */
const sessions = new Map<string, Awaited<ReturnType<BrowserContext['cookies']>>>();

/** Reuses the session of an earlier story unless it has ended; otherwise logs in. */
async function enter(context: BrowserContext, { url }: Server, name: string, continues: boolean): Promise<void> {
  const key = `${url} ${name}`;
  const known = continues && sessions.get(key);
  if (known) {
    await context.addCookies(known);
    if ((await context.request.get(`${url}/json/users/me`)).ok()) return;
    await context.clearCookies();
  }
  await context.addCookies([{ name: 'csrftoken', value: CSRF_TOKEN, url }]);
  const form = { csrfmiddlewaretoken: CSRF_TOKEN, username: emailOf(name), password: `pw-${emailOf(name)}` };
  const response = await context.request.post(`${url}/login/`, { form, maxRedirects: 0 });
  expect(response.status()).toBe(303);
  sessions.set(key, await context.cookies(url));
}

/** Expected console lines of stories that are offline, without a server or with rejected calls. */
const isFailedCall = (text: string): boolean =>
  text.startsWith('Failed to load resource') ||
  // The service worker is registered while a page goes offline.
  text === 'An unknown error occurred when fetching the script.';

/** Shop of `host.mjs` with the chat at `/chat`. */
export async function startShop(env: NodeJS.ProcessEnv = {}): Promise<{ readonly url: string; end(): Promise<void> }> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'host.mjs')], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const [url] = /http:\/\/localhost:\d+/.exec(line) ?? [];
    if (url === undefined) continue;
    const end = async () => {
      child.kill('SIGTERM');
      await once(child, 'exit');
    };
    return { url, end };
  }
  throw new Error('The shop did not start; run `npm run build` first');
}

export const emailOf = (person: string): string => `${person}@zulip.com`;

const keys = new Map<string, Promise<string>>();

function keyOf(url: string, person: string): Promise<string> {
  const username = emailOf(person);
  const known = keys.get(url + person);
  if (known) return known;
  const key = fetch(`${url}/api/v1/fetch_api_key`, {
    method: 'POST',
    body: new URLSearchParams({ username, password: `pw-${username}` }),
  }).then(async (response) => ((await response.json()) as { api_key: string }).api_key);
  keys.set(url + person, key);
  return key;
}

const AXE = readFileSync(join(import.meta.dirname, '../../../testing/node_modules/axe-core/axe.min.js'), 'utf8');

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

interface Axe {
  run(within: string, options: object): Promise<{ readonly violations: readonly Violation[] }>;
}

/** Findings of axe by the WCAG 2.2 AA and best-practice rules, or by the given rules or tags. */
export async function violationsIn(
  page: Page,
  rules: readonly string[] = [],
  within = 'html',
): Promise<readonly string[]> {
  // Trusted Types would block a script element; evaluation by the test does not need one.
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(AXE);
  const { violations } = await page.evaluate(
    async ([part, runOnly]) => {
      const { axe } = globalThis as unknown as { axe: Axe };
      return axe.run(part, { preload: false, resultTypes: ['violations'], ...(runOnly.length > 0 && { runOnly }) });
    },
    [within, rules] as const,
  );
  return violations.map(({ id, nodes }) => `${id}: ${nodes[0]!.html.slice(0, 200)} ${nodes[0]!.failureSummary}`);
}

/** Small phone. */
export const PHONE: BrowserContextOptions = { hasTouch: true, isMobile: true, viewport: { width: 360, height: 640 } };

/** Opens a phone page logged in as the person of another browser. */
export async function openPhone(browser: Browser, context: BrowserContext): Promise<Page> {
  const phone = await browser.newContext({
    hasTouch: true,
    isMobile: true,
    viewport: { width: 390, height: 800 },
    storageState: await context.storageState(),
  });
  return phone.newPage();
}

interface Drag {
  readonly by: readonly [x: number, y: number];
  /** Milliseconds before the movement, or an element that appears first. */
  readonly after?: number | Locator;
}

/** Waits until the page handles gestures, the code of which is loaded late. */
const untilTouchable = (session: CDPSession) =>
  expect
    .poll(async () => {
      const { result } = await session.send('Runtime.evaluate', { expression: 'document' });
      const { listeners } = await session.send('DOMDebugger.getEventListeners', { objectId: result.objectId! });
      return listeners.map(({ type }) => type);
    })
    .toContain('touchstart');

/** Puts a finger on the middle of an element, moves it, and lifts it. */
export async function drag(page: Page, element: Locator, { by: [x, y], after = 0 }: Drag): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await untilTouchable(session);
  await element.scrollIntoViewIfNeeded();
  const box = (await element.boundingBox())!;
  const start = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', part: number | null) =>
    session.send('Input.dispatchTouchEvent', {
      type,
      touchPoints: part === null ? [] : [{ x: start.x + x * part, y: start.y + y * part }],
    });
  await touch('touchStart', 0);
  await (typeof after === 'number' ? page.waitForTimeout(after) : after.waitFor());
  if (x !== 0 || y !== 0) for (const part of [0.2, 0.4, 0.6, 0.8, 1]) await touch('touchMove', part);
  await touch('touchEnd', null);
  await session.detach();
}

/** Opens the menu of a message or conversation by holding a finger on it. */
export const longPress = (page: Page, element: Locator) =>
  drag(page, element, { by: [0, 0], after: page.getByRole('menu') });

/** Opens a place of the application, and waits until the page has received the new address. */
export const goTo = (page: Page, hash: string) =>
  page.evaluate(async (to) => {
    const isReceived = new Promise((resolve) => addEventListener('hashchange', resolve, { once: true }));
    const before = location.href;
    location.assign(to);
    if (location.href !== before) await isReceived;
  }, hash);

/** Holds responses until opened. */
export function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

/** Waits until the browser has stored the organization's state and a message with this text. */
export const untilStored = (page: Page, text: string) =>
  expect
    .poll(() =>
      page.evaluate(async (part) => {
        const [known] = await indexedDB.databases();
        const database = await new Promise<IDBDatabase>((resolve) => {
          const request = indexedDB.open(known!.name!);
          request.onsuccess = () => resolve(request.result);
        });
        const rowsOf = (name: string) =>
          new Promise<readonly unknown[]>((resolve) => {
            const request = database.transaction(name).objectStore(name).getAll();
            request.onsuccess = () => resolve(request.result);
          });
        const [meta, messages] = await Promise.all([rowsOf('meta'), rowsOf('messages')]);
        database.close();
        return meta.length > 0 && JSON.stringify(messages).includes(part);
      }, text),
    )
    .toBe(true);

/** Chooses an entry of the main menu. */
export async function chooseInMenu(page: Page, entry: string): Promise<void> {
  await page.getByRole('button', { name: 'Main menu' }).click();
  await page.getByRole('menuitem', { name: entry }).click();
}

/** Message in the list that contains a text. */
export const messageWith = (page: Page, text: string) => page.getByRole('article').filter({ hasText: text });

/** Button of an uploaded file below the field. */
export const attachedFile = (page: Page, name: string) =>
  page.getByRole('button', { name: `Move ${name} into the text` });

/** Writes a message and sends it. */
export async function send(page: Page, text: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Message', exact: true }).fill(text);
  await page.getByRole('button', { name: 'Send', exact: true }).click();
}

/** Address of a topic in a channel to which the people of these stories subscribe. */
export async function placeOf(server: Server, topic: string, channel = 'Verona'): Promise<string> {
  const { stream_id: id } = await server.call('hamlet', 'GET', '/get_stream_id', { stream: channel });
  return `#narrow/channel/${id}-${channel}/topic/${topic}`;
}

/** Sends a message to a topic of that channel through the API. */
export const post = (server: Server, person: string, topic: string, content: string) =>
  server.call(person, 'POST', '/messages', { type: 'channel', to: 'Verona', topic, content, read_by_sender: true });

export const idOf = async (server: Server, person: string): Promise<number> =>
  (await server.call(person, 'GET', '/users/me')).user_id;

/** Presses a button of a row that appears below the pointer. Rows may still move, or be drawn again. */
export const pressIn = (row: Locator, button: { readonly name: string | RegExp; readonly exact?: boolean }) =>
  expect(async () => {
    await row.hover();
    await row.getByRole('button', button).click({ timeout: 5000 });
  }).toPass();

/** Chooses an entry of a message menu. */
export async function choose(page: Page, message: string, entry: string): Promise<void> {
  await pressIn(messageWith(page, message), { name: 'More actions' });
  await page.getByRole('menuitem', { name: entry }).click();
}

/** Enters a custom time in the open dialog by keyboard, and expects that past times are rejected. */
export async function expectPastRefused(page: Page): Promise<void> {
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('radio', { name: 'Tomorrow' }).focus();
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('ArrowUp');
  await dialog.getByLabel('Date and time').fill('2020-01-01T09:00');
  await page.keyboard.press('Enter');
  await expect(dialog.getByRole('alert')).toHaveText('The time must be in the future.');
}

export { expect };

interface SpokenNode {
  readonly role: string;
  readonly name: string;
  readonly description: string;
  readonly isInvalid: boolean;
}

/** Returns the focused element as screen readers get it, from the accessibility tree. */
export async function focusedNode(page: Page): Promise<SpokenNode | null> {
  const devtools = await page.context().newCDPSession(page);
  const { nodes } = await devtools.send('Accessibility.getFullAXTree');
  const propertyOf = (node: (typeof nodes)[number], property: string) =>
    node.properties?.find(({ name }) => name === property)?.value.value;
  const node = nodes.find((it) => it.role?.value !== 'RootWebArea' && propertyOf(it, 'focused') === true);
  await devtools.detach();
  if (!node) return null;
  const { role, name, description } = node;
  return {
    role: role?.value ?? '',
    name: name?.value ?? '',
    description: description?.value ?? '',
    isInvalid: propertyOf(node, 'invalid') === 'true',
  };
}
