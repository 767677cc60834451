import { type ChildProcess, spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test as base, expect, type FrameLocator, type Page } from '@playwright/test';
import { transform } from 'esbuild';
import { violationsIn } from './stories.js';

const ROOT = join(import.meta.dirname, '../../../..');
/** Signs tokens for any person. */
const SECRET = 'a secret of the shop and of its chat';
/** Unknown site with pages made by the tests. */
const OTHER_SITE = 'http://other.test';

interface Example {
  readonly shop: string;
  readonly chat: string;
}

/** The example `frame.ts`, with shop and chat on different sites, as in production. */
const test = base.extend<object, { example: Example }>({
  example: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright requires a pattern.
    async ({}, use) => {
      const program = join(import.meta.dirname, '../dist/examples/frame.mjs');
      mkdirSync(join(program, '..'), { recursive: true });
      const { code } = await transform(readFileSync(join(ROOT, 'docs/examples/frame.ts'), 'utf8'), { loader: 'ts' });
      // A busy machine must not prevent the frame from loading.
      writeFileSync(
        program,
        code.replace(
          'frameAncestors:',
          `shedsLoad: false, rateLimits: false, jwtSecrets: { shop: '${SECRET}' }, frameAncestors:`,
        ),
      );
      const cwd = mkdtempSync(join(tmpdir(), 'parley-frame-'));
      const example = { shop: `http://127.0.0.1:${await freePort()}`, chat: `http://localhost:${await freePort()}` };
      const child = spawn(process.execPath, [program], {
        cwd,
        env: { ...process.env, SHOP_URL: example.shop, CHAT_URL: example.chat },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      await firstLine(child);
      await use(example);
      child.kill('SIGTERM');
      await once(child, 'exit');
      rmSync(cwd, { recursive: true });
    },
    { scope: 'worker' },
  ],
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function firstLine(child: ChildProcess): Promise<void> {
  for await (const _ of createInterface({ input: child.stdout! })) return;
  throw new Error('The example did not start; run `npm run build` first');
}

const frameOf = (page: Page): FrameLocator => page.frameLocator('#chat');
const order = (page: Page) => frameOf(page).getByText('Your order is on its way.');
const refusal = (page: Page) => frameOf(page).getByText('The page around the chat has not logged you in.');

/** Replaces the token passed by the shop. */
const passToken = (page: Page, token: () => Promise<string | null> | string | null) =>
  page.route('**/chat-token', async (route) => {
    const body = await token();
    await route.fulfill(body === null ? { status: 401 } : { body });
  });

/** Token for any person, signed like the example's customer tokens. */
function tokenFor(email: string): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const claims = `${part({ alg: 'HS256' })}.${part({ email, exp: Math.floor(Date.now() / 1000) + 600 })}`;
  return `${claims}.${createHmac('sha256', SECRET).update(claims).digest('base64url')}`;
}

const tokenOf = async ({ shop }: Example): Promise<string> =>
  (await fetch(`${shop}/chat-token`, { method: 'POST' })).text();

/** Creates a page of the unknown site. */
const otherPage = (page: Page, body: string) =>
  page
    .context()
    .route(`${OTHER_SITE}/**`, (route) => route.fulfill({ body: `<!doctype html>${body}`, contentType: 'text/html' }));

test('shows a conversation to a page of another site, without cookies or a token in the address', async ({
  page,
  example,
}) => {
  const problems: string[] = [];
  const addresses: string[] = [];
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('request', (request) => addresses.push(request.url()));
  await page.route('**/favicon.ico', (route) => route.fulfill({ status: 204 }));
  await page.addInitScript(() => {
    const counts: number[] = [];
    Object.assign(window, { counts });
    addEventListener('message', ({ data }) => data.type === 'parley-unread' && counts.push(data.detail.count));
  });
  await page.goto(example.shop);
  await expect(order(page)).toBeVisible();
  await frameOf(page)
    .getByRole('textbox', { name: /Message/ })
    .fill('Thank you, *Ben*');
  await frameOf(page).getByRole('button', { name: 'Send', exact: true }).click();
  await expect(frameOf(page).getByRole('article').filter({ hasText: 'Thank you, Ben' })).toBeVisible();
  await expect.poll(() => page.evaluate(() => (window as unknown as { counts: number[] }).counts.length)).not.toBe(0);
  expect(await page.context().cookies()).toEqual([]);
  expect(addresses.filter((address) => /eyJ|parley_|token=/.test(address))).toEqual([]);
  expect(problems).toEqual([]);
  expect(await violationsIn(page)).toEqual([]);
});

test('shows images and downloads files in a frame', async ({ page, example }) => {
  await page.goto(example.shop);
  await expect(order(page)).toBeVisible();
  const picture = readFileSync(join(ROOT, 'docs/images', 'web-client.png'));
  await frameOf(page)
    .locator('input[type=file]')
    .setInputFiles([
      { name: 'receipt.png', mimeType: 'image/png', buffer: picture },
      { name: 'receipt.txt', mimeType: 'text/plain', buffer: Buffer.from('Paid') },
    ]);
  const uploads = frameOf(page).getByRole('list', { name: 'Uploads' });
  await expect(uploads.getByRole('button', { name: /^Move receipt/ })).toHaveCount(2);
  // A frame fetches pictures with its token.
  await page.route('**/user_uploads/thumbnail/**', (route) => route.fulfill({ status: 404 }));
  await page.reload();
  const stored = uploads.getByRole('listitem').filter({ hasText: 'receipt.png' }).locator('img');
  await expect.poll(() => stored.evaluate((element: HTMLImageElement) => element.naturalWidth)).toBeGreaterThan(0);
  await page.unroute('**/user_uploads/thumbnail/**');
  await frameOf(page).getByRole('button', { name: 'Send', exact: true }).click();
  const message = frameOf(page).getByRole('article').filter({ hasText: 'receipt.txt' });
  const image = message.getByRole('img', { name: 'receipt.png' });
  await expect(image).toBeVisible();
  await expect.poll(() => image.evaluate((element: HTMLImageElement) => element.naturalWidth)).toBeGreaterThan(0);
  const download = page.waitForEvent('download');
  await message.getByRole('link', { name: 'receipt.txt' }).click();
  const file = await download;
  expect(file.suggestedFilename()).toBe('receipt.txt');
  expect(readFileSync(await file.path(), 'utf8')).toBe('Paid');
});

test('requests another token from the page when the previous one has expired', async ({ page, example }) => {
  let passed = 0;
  await passToken(page, () => {
    passed++;
    return tokenOf(example);
  });
  await page.goto(example.shop);
  await expect(order(page)).toBeVisible();
  const before = passed;
  // The server rejects the next call like one with an expired token.
  let isRefused = false;
  await page.route('**/api/v1/messages', async (route) => {
    if (isRefused || route.request().method() !== 'POST') return route.continue();
    isRefused = true;
    const headers = { ...route.request().headers(), authorization: 'Bearer expired' };
    return route.continue({ headers });
  });
  await frameOf(page)
    .getByRole('textbox', { name: /Message/ })
    .fill('Still here');
  await frameOf(page).getByRole('button', { name: 'Send', exact: true }).click();
  await expect(frameOf(page).getByRole('article').filter({ hasText: 'Still here' })).toHaveCount(1);
  await expect.poll(() => passed).toBe(before + 1);
  await expect(frameOf(page).getByText('waiting')).toHaveCount(0);
});

test('shows that nobody is logged in if the page has no token or an expired one, and retries', async ({
  page,
  example,
}) => {
  let token: string | null = null;
  await passToken(page, () => token);
  await page.goto(example.shop);
  await expect(refusal(page)).toBeVisible();
  token = `${await tokenOf(example)}x`;
  await frameOf(page).getByRole('button', { name: 'Try again' }).click();
  await expect(refusal(page)).toBeVisible();
  token = await tokenOf(example);
  await frameOf(page).getByRole('button', { name: 'Try again' }).click();
  await expect(order(page)).toBeVisible();
});

test('keeps a message and a text after the session ends if the browser forbids storage', async ({ page, example }) => {
  await page.addInitScript((chat) => {
    if (location.origin !== chat) return;
    const refuse = () => {
      throw new DOMException('Access is denied', 'SecurityError');
    };
    for (const name of ['localStorage', 'indexedDB']) Object.defineProperty(window, name, { get: refuse });
    navigator.locks.query = navigator.locks.request = async () => refuse();
  }, example.chat);
  await page.goto(example.shop);
  await expect(order(page)).toBeVisible();
  await passToken(page, () => null);
  const send = '**/api/v1/messages';
  await page.route(send, (route) =>
    route.request().method() === 'POST'
      ? route.continue({ headers: { ...route.request().headers(), authorization: 'Bearer expired' } })
      : route.continue(),
  );
  const field = frameOf(page).getByRole('textbox', { name: /Message/ });
  await field.fill('Sent at the end');
  await frameOf(page).getByRole('button', { name: 'Send', exact: true }).click();
  await field.fill('Not yet sent');
  const ended = frameOf(page).getByText('Your session has ended.');
  await expect(ended).toBeVisible({ timeout: 20_000 });
  await page.unroute(send);
  await page.unroute('**/chat-token');
  await frameOf(page).getByRole('button', { name: 'Try again' }).click();
  await expect(ended).toBeHidden();
  await expect(frameOf(page).getByRole('article').filter({ hasText: 'Sent at the end' })).toHaveCount(1);
  await expect(frameOf(page).getByText('waiting')).toHaveCount(0);
  await expect(field).toHaveValue('Not yet sent');
});

test('ignores tokens from sibling frames and from the opener of the page', async ({ page, example }) => {
  const token = await tokenOf(example);
  const send = `postMessage({ type: 'parley-token', token: '${token}' }, '*')`;
  await otherPage(
    page,
    `<title>Other</title><script>
    if (parent !== window) setInterval(() => parent.frames[0].${send}, 50);
    else {
      const opened = open('${example.shop}');
      setInterval(() => opened.frames[0]?.${send}, 50);
    }
    </script>`,
  );
  await page.context().route('**/chat-token', (route) => route.fulfill({ status: 401 }));
  await page.context().addInitScript((site) => {
    // An advertisement in the shop's page.
    if (location.port === '' || parent !== window) return;
    addEventListener('DOMContentLoaded', () => {
      const frame = document.createElement('iframe');
      frame.src = site;
      document.body.append(frame);
    });
  }, OTHER_SITE);
  const popup = page.waitForEvent('popup');
  await page.goto(OTHER_SITE);
  const shop = await popup;
  const logIns: string[] = [];
  shop.on('request', (request) => request.url().includes('/api/v1/') && logIns.push(request.url()));
  await expect(refusal(shop)).toBeVisible();
  expect(shop.frames().length).toBe(3);
  expect(logIns).toEqual([]);
});

test('loads neither in unlisted pages nor as the whole application', async ({ page, example }) => {
  for (const [site, address] of [
    [OTHER_SITE, `${example.chat}/frame`],
    [OTHER_SITE, `${example.chat}/login/`],
    [example.shop, `${example.chat}/login/`],
  ] as const) {
    const body = `<!doctype html><iframe src="${address}"></iframe>`;
    await page.route(`${site}/page`, (route) => route.fulfill({ body, contentType: 'text/html' }));
    await page.goto(`${site}/page`);
    await expect.poll(() => page.frames()[1]?.url()).toBe('chrome-error://chromewebdata/');
  }
});

test("restarts as another user when the page passes that user's token", async ({ page, example }) => {
  await page.goto(example.shop);
  await expect(order(page)).toBeVisible();
  const token = tokenFor('ben@example.com');
  await passToken(page, () => token);
  await page.route('**/api/v1/messages', (route) => {
    const isAnn = route.request().method() === 'POST' && route.request().headers().authorization !== `Bearer ${token}`;
    return isAnn
      ? route.continue({ headers: { ...route.request().headers(), authorization: 'Bearer expired' } })
      : route.continue();
  });
  const restarted = page.waitForEvent('framenavigated');
  await frameOf(page)
    .getByRole('textbox', { name: /Message/ })
    .fill('Written by Ann');
  await frameOf(page).getByRole('button', { name: 'Send', exact: true }).click();
  await restarted;
  await expect(order(page)).toBeVisible();
  await expect(frameOf(page).getByText('Written by Ann')).toHaveCount(0);
  const headers = { Authorization: `Bearer ${token}` };
  const { messages } = await (
    await fetch(`${example.chat}/api/v1/messages?anchor=newest&num_before=50&num_after=0`, { headers })
  ).json();
  expect(messages.map(({ content }: { content: string }) => content)).not.toContain('<p>Written by Ann</p>');
});
