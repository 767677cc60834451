import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import { gzipSync } from 'node:zlib';
import { test as base, expect, type Page } from '@playwright/test';
import { build } from 'esbuild';
import { build as vite } from 'vite';
import { pressIn } from './stories.js';

const ROOT = join(import.meta.dirname, '../../../..');

/** Pages of `docs/examples` and of this test, bundled as products do. */
const EXAMPLES = ['react.tsx', 'custom-look.tsx', 'element-react.tsx', 'own-edit.tsx', 'parts.tsx'];

/** Page of a product with its own message editor. */
const OWN_EDIT = `
  import { Conversation, ParleyProvider } from 'parley/web';
  import { createRoot } from 'react-dom/client';
  function Mine({ body, actions }) {
    const edit = async () => {
      const source = await actions.source();
      const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(source));
      const hash = [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
      await actions.edit(source.replace('first', 'second'), hash);
    };
    return <article>{body}<button type="button" onClick={edit}>Own edit</button></article>;
  }
  createRoot(document.getElementById('root')).render(
    <ParleyProvider url="/chat" components={{ Message: Mine }}>
      <Conversation channel="orders" topic="Own edits" />
    </ParleyProvider>,
  );`;

/** Page with the only part named in its address. */
const PARTS = `
  import * as parts from 'parley/web';
  import { createElement } from 'react';
  import { createRoot } from 'react-dom/client';
  const part = parts[location.hash.slice(1)];
  const place = { channel: 'Order 7', topic: 'Support', html: '<p>Text</p>' };
  const page = part && createElement(parts.ParleyProvider, { url: '/chat' }, createElement(part, place));
  createRoot(document.getElementById('root')).render(page);`;

/** Shop with the React example as its page and the published package. */
interface Host {
  readonly address: string;
  /** Compressed bytes of scripts initially loaded by a page with one conversation, without React. */
  readonly bytes: number;
  /** Folder with the examples and the libraries they import. */
  readonly folder: string;
}

interface Fixtures {
  /** Example page with a logged-in customer. */
  readonly shop: Page;
  readonly example: string;
  /** Added to the content security policy of the page. */
  readonly policy: string;
}

const test = base.extend<Fixtures, { host: Host }>({
  example: ['react.html', { option: true }],
  policy: ['', { option: true }],
  host: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright requires a pattern.
    async ({}, use) => {
      const folder = mkdtempSync(join(tmpdir(), 'parley-components-'));
      mkdirSync(join(folder, 'node_modules'));
      const assemble = join(ROOT, 'packages/parley/scripts/assemble.mjs');
      execFileSync(process.execPath, [assemble, join(folder, 'node_modules/parley')], { stdio: 'ignore' });
      const linkLibraries = (from: string, to: string) => {
        for (const name of readdirSync(from)) {
          if (name !== 'parley' && !existsSync(join(to, name))) symlinkSync(join(from, name), join(to, name));
        }
      };
      for (const name of ['vue', '@vitejs']) {
        symlinkSync(join(ROOT, 'packages/testing/node_modules', name), join(folder, 'node_modules', name));
      }
      // Libraries of the package and of the examples. npm gives those of the HTTP adapter a folder where other packages need
      // another version.
      linkLibraries(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
      const adapterLibraries = join(ROOT, 'packages/adapters/http/node_modules');
      if (existsSync(adapterLibraries)) {
        mkdirSync(join(folder, 'node_modules/parley/node_modules'));
        linkLibraries(adapterLibraries, join(folder, 'node_modules/parley/node_modules'));
      }
      // Placed next to the packages that the pages import.
      cpSync(join(ROOT, 'docs/examples'), folder, { recursive: true });
      writeFileSync(join(folder, 'own-edit.tsx'), OWN_EDIT);
      writeFileSync(join(folder, 'parts.tsx'), PARTS);
      const pages = EXAMPLES.map((name) => {
        const page = join(folder, `${name.split('.')[0]}.html`);
        writeFileSync(
          page,
          `<!doctype html><html lang="en"><title>The Shop</title><link rel="stylesheet" href="/page.css">
          <h1>Orders</h1><main id="root"></main><script type="module" src="./${name}"></script>`,
        );
        return page;
      });
      await vite({
        root: folder,
        base: '/built/',
        configFile: false,
        logLevel: 'error',
        build: {
          outDir: 'built',
          assetsDir: '',
          // The shop's policy allows no `data:` fonts.
          assetsInlineLimit: 0,
          rollupOptions: { input: pages },
        },
      });
      await vite({
        root: join(folder, 'vue'),
        base: '/built/vue/',
        logLevel: 'error',
        build: { outDir: join(folder, 'built/vue'), modulePreload: { polyfill: false } },
      });
      const host = spawn(process.execPath, [join(import.meta.dirname, 'host.mjs')], {
        env: { ...process.env, BUILT: join(folder, 'built') },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      await use({ address: await addressOf(host), bytes: await bytesOf(folder), folder });
      host.kill('SIGTERM');
      await once(host, 'exit');
      rmSync(folder, { recursive: true });
    },
    { scope: 'worker', timeout: 180_000 },
  ],
  shop: async ({ page, example, policy, host: { address } }, use) => {
    const problems: string[] = [];
    page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
    page.on('pageerror', (error) => problems.push(error.message));
    await page.goto(`${address}/log-in/ann`);
    await page.route(`${address}/built/${example}`, async (route) => {
      const response = await route.fetch();
      const headers = response.headers();
      const policies = [headers['content-security-policy'], policy].filter(Boolean).join('; ');
      await route.fulfill({ response, headers: { ...headers, 'content-security-policy': policies } });
    });
    await page.goto(`${address}/built/${example}`);
    await use(page);
    expect(problems).toEqual([]);
  },
});

async function bytesOf(folder: string): Promise<number> {
  const { metafile, outputFiles } = await build({
    stdin: { contents: "export { Conversation, ParleyProvider } from 'parley/web';", resolveDir: folder },
    bundle: true,
    splitting: true,
    format: 'esm',
    minify: true,
    metafile: true,
    write: false,
    absWorkingDir: folder,
    external: ['react', 'react-dom', 'react/jsx-runtime'],
    loader: { '.woff2': 'empty' },
    outdir: join(folder, 'measured'),
  });
  const loaded = new Set<string>();
  const load = (name: string) => {
    if (loaded.has(name)) return;
    loaded.add(name);
    for (const { path, kind, external } of metafile.outputs[name]!.imports)
      if (kind === 'import-statement' && !external) load(path);
  };
  load(Object.keys(metafile.outputs).find((name) => metafile.outputs[name]!.entryPoint === '<stdin>')!);
  return outputFiles
    .filter(({ path }) => loaded.has(relative(folder, path)))
    .reduce((sum, { contents }) => sum + gzipSync(contents).length, 0);
}

async function addressOf(host: ChildProcess): Promise<string> {
  for await (const line of createInterface({ input: host.stdout! })) {
    const [found] = /http:\/\/localhost:\d+/.exec(line) ?? [];
    if (found) return found;
  }
  throw new Error('The shop did not start; run `npm run build` first');
}

test('loads at most 190 KB of scripts for one conversation, without React', ({ host }) => {
  expect(host.bytes).toBeGreaterThan(50_000);
  expect(host.bytes).toBeLessThan(190_000);
});

test('shows a conversation with React components and sends to it', async ({ shop }) => {
  const order = shop.getByRole('region', { name: 'Chat' });
  await expect(order.getByText('Your order is on its way.')).toBeVisible();
  const colorOf = (element: Element) => getComputedStyle(element).color;
  expect(await order.getByText('This is the beginning.').evaluate(colorOf)).toBe('rgb(89, 96, 107)');
  await order.getByRole('textbox', { name: /Message/ }).fill('Thank you');
  await order.getByRole('button', { name: 'Send', exact: true }).click();
  await expect(order.getByRole('article').filter({ hasText: 'Thank you' })).toBeVisible();
  await expect(shop.getByRole('listitem').filter({ hasText: /^Ann$/ })).toHaveCount(1);
  await expect(shop.getByRole('navigation', { name: 'Conversations' })).toBeVisible();
});

test('renders messages with a component of the product and reports clicks on people', async ({ shop }) => {
  await expect(shop.locator('p.plain').filter({ hasText: 'Your order is on its way.' })).toBeVisible();
  await shop.getByRole('article').getByRole('button', { name: 'Ben' }).first().click();
  await expect(shop.locator('output').first()).toHaveText(/^Customer \d+$/);
  await expect(shop.getByRole('dialog')).toHaveCount(0);
});

test("opens menus within a part and leaves the page's styles unchanged", async ({ shop }) => {
  // Parts that load later could move the message away from the pointer.
  await expect(shop.getByRole('textbox', { name: /Message/ })).toBeVisible();
  await expect(shop.getByRole('navigation', { name: 'Conversations' })).toBeVisible();
  await pressIn(shop.getByRole('article').first(), { name: 'More actions' });
  await expect(shop.locator('[data-parley]').getByRole('menu')).toBeVisible();
  const styles = await shop.getByRole('heading', { level: 1 }).evaluate((heading) => {
    const { fontFamily, color, letterSpacing } = getComputedStyle(heading);
    return { fontFamily, color, letterSpacing, scheme: getComputedStyle(document.documentElement).colorScheme };
  });
  expect(styles).toEqual({ fontFamily: 'serif', color: 'rgb(128, 0, 128)', letterSpacing: '1px', scheme: 'normal' });
});

test.describe('custom-look example', () => {
  test.use({ example: 'custom-look.html' });

  test("renders messages, mentions and code with the product's components, around parts with separate subpaths", async ({
    shop,
  }) => {
    const shipped = shop.locator('article.bubble').filter({ hasText: 'Your order is on its way.' });
    await expect(shipped.locator('dl.card')).toHaveText('Total12.50 €Stateshipped');
    await expect(shop.getByRole('navigation')).toHaveCount(0);
    await shop.getByRole('textbox', { name: 'Message' }).fill('For @**Ben**\n```js\nlet own = 1;\n```');
    await shop.getByRole('button', { name: 'Send', exact: true }).click();
    const own = shop.locator('article.bubble').filter({ hasText: 'let own = 1;' });
    await expect(own.locator('span.name')).toHaveText('@Ben');
    await expect(own.locator('pre.receipt')).toHaveText('let own = 1;');
    await expect(own.locator('pre.receipt')).toHaveAttribute('data-language', 'JavaScript');
    await own.getByRole('button', { name: 'Thanks' }).click();
    await expect(own.getByRole('button', { name: 'Thanks', pressed: true })).toBeVisible();
    await own.getByRole('button', { name: 'More' }).click();
    await shop.getByRole('menuitem', { name: 'Delete' }).click();
    await shop.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await expect(own).toHaveCount(0);
  });

  test('shows the data of a channel and its changes', async ({ shop, host: { address }, playwright }) => {
    const heading = shop.getByRole('heading', { name: /^Order 7/ });
    await expect(heading).toHaveText(/shipped$/);
    const ben = await playwright.request.newContext({ extraHTTPHeaders: { Cookie: 'customer=ben' } });
    const { stream_id } = await (await ben.get(`${address}/chat/api/v1/get_stream_id?stream=Order 7`)).json();
    const form = { object_type: 'channel', object_id: stream_id, data: '{"state":"delivered"}' };
    expect((await ben.patch(`${address}/chat/api/v1/application_data`, { form })).status()).toBe(200);
    await ben.dispose();
    await expect(heading).toHaveText(/delivered$/);
  });

  test("uses the product's custom properties within the parts", async ({ shop }) => {
    const order = shop.locator('.order');
    const text = order.getByText('Your order is on its way.');
    await expect(text).toBeVisible();
    expect(await text.evaluate((element) => getComputedStyle(element).fontFamily)).toContain('Georgia');
  });
});

test.describe('product with its own message editor', () => {
  test.use({ example: 'own-edit.html' });

  test('receives the source of a message and reports the version it changes', async ({ shop }) => {
    await shop.getByRole('textbox', { name: 'Message' }).fill('The *first* text');
    await shop.getByRole('button', { name: 'Send', exact: true }).click();
    const own = shop.getByRole('article').filter({ hasText: 'The first text' });
    const sent = shop.waitForRequest((request) => request.method() === 'PATCH');
    await own.getByRole('button', { name: 'Own edit' }).click();
    expect((await sent).postData()).toMatch(/prev_content_sha256=[0-9a-f]{64}/);
    const edited = shop.getByRole('article').filter({ hasText: 'The second text' });
    await expect(edited.locator('em')).toHaveText('second');
  });
});

test.describe('page with a single part', () => {
  test.use({ example: 'parts.html' });

  for (const name of [
    ...['Chat', 'Conversation', 'ConversationList', 'Messages', 'Composer'],
    ...['Inbox', 'RecentConversations', 'People', 'MessageBody'],
  ]) {
    test(`${name} loads what follows its first rendering`, async ({ shop }) => {
      await shop.goto(`${shop.url()}#${name}`);
      await shop.reload();
      const loaded = () => performance.getEntriesByType('resource').map(({ name: url }) => url.split('/').at(-1));
      await expect.poll(() => shop.evaluate(loaded)).toContainEqual(expect.stringMatching(/^emoji-fonts.*\.js$/));
      await expect(shop.locator('[data-parley]')).not.toBeEmpty();
    });
  }
});

test.describe('Vue example', () => {
  test.use({ example: 'vue/' });

  test('binds attributes of the element and listens to its events', async ({ shop }) => {
    await expect(shop.getByText('Your order is on its way.')).toBeVisible();
    await shop.getByRole('button', { name: 'Other order' }).click();
    await expect(shop.getByText('Another order')).toBeVisible();
    await shop.getByRole('textbox', { name: 'Message' }).fill('From Vue');
    await shop.getByRole('button', { name: 'Send', exact: true }).click();
    await expect(shop.locator('output').first()).toHaveText('You wrote: From Vue');
    await expect(shop.getByRole('heading', { name: 'Order 8 (0 new)' })).toBeVisible();
  });
});

test('shows the chat with the two lines of the Express example', async ({ page, host: { folder } }) => {
  await build({
    entryPoints: [join(folder, 'element.ts')],
    outfile: join(folder, 'element.mjs'),
    format: 'esm',
    platform: 'node',
  });
  const example = spawn(process.execPath, ['element.mjs'], {
    cwd: folder,
    env: { ...process.env, PORT: String(await freePort()) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    await page.goto(await addressOf(example));
    await expect(page.getByText('Your order is on its way.')).toBeVisible();
    const lines = readFileSync(join(folder, 'element.ts'), 'utf8').split('\n');
    expect(lines.filter((line) => /<parley-chat|element\.js/.test(line))).toHaveLength(2);
  } finally {
    example.kill('SIGTERM');
    await once(example, 'exit');
  }
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

test.describe('the element in a React application', () => {
  const policy = "require-trusted-types-for 'script'; trusted-types parley-content";
  test.use({ example: 'element-react.html', policy });

  test('shows a conversation and reports events under a policy with Trusted Types', async ({ shop }) => {
    await expect(shop.getByText('Your order is on its way.')).toBeVisible();
    await shop.getByRole('textbox', { name: /Message/ }).fill('Thank you, *Ben*');
    await shop.getByRole('button', { name: 'Send', exact: true }).click();
    await expect(shop.getByRole('article').filter({ hasText: 'Thank you, Ben' })).toBeVisible();
    await expect(shop.getByText('You wrote: Thank you, *Ben*')).toBeVisible();
    const headers = await shop.evaluate(async () => [...(await fetch(location.href)).headers]);
    expect(new Map(headers as [string, string][]).get('content-security-policy')).toContain(policy);
  });
});
