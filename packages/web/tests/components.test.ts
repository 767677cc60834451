import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import { gzipSync } from 'node:zlib';
import { test as base, expect, type Page } from '@playwright/test';
import { build } from 'esbuild';

const ROOT = join(import.meta.dirname, '../../..');

/** Shop whose page is the React example, with the package as it is published. */
interface Host {
  readonly address: string;
  /** Compressed bytes of scripts that a page with one conversation loads at once, without React. */
  readonly bytes: number;
}

const test = base.extend<{ shop: Page }, { host: Host }>({
  host: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright requires a pattern.
    async ({}, use) => {
      const folder = mkdtempSync(join(tmpdir(), 'parley-components-'));
      mkdirSync(join(folder, 'node_modules'));
      const assemble = join(ROOT, 'packages/parley/scripts/assemble.mjs');
      execFileSync(process.execPath, [assemble, join(folder, 'node_modules/parley')], { stdio: 'ignore' });
      for (const name of ['react', 'react-dom'])
        symlinkSync(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name));
      copyFileSync(join(ROOT, 'docs/examples/react.tsx'), join(folder, 'page.tsx'));
      await build({
        entryPoints: [join(folder, 'page.tsx')],
        bundle: true,
        splitting: true,
        format: 'esm',
        minify: true,
        jsx: 'automatic',
        loader: { '.woff2': 'file' },
        outdir: join(folder, 'built'),
      });
      const host = spawn(process.execPath, [join(import.meta.dirname, 'host.mjs')], {
        env: { ...process.env, BUILT: join(folder, 'built') },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      await use({ address: await addressOf(host), bytes: await bytesOf(folder) });
      host.kill('SIGTERM');
      await once(host, 'exit');
      rmSync(folder, { recursive: true });
    },
    { scope: 'worker' },
  ],
  shop: async ({ page, host: { address } }, use) => {
    const problems: string[] = [];
    page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
    page.on('pageerror', (error) => problems.push(error.message));
    await page.goto(`${address}/log-in/ann`);
    await page.goto(`${address}/react`);
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

test('shows a conversation by React components and sends to it', async ({ shop }) => {
  const order = shop.getByRole('region', { name: 'Chat' });
  await expect(order.getByText('Your order is on its way.')).toBeVisible();
  const colorOf = (element: Element) => getComputedStyle(element).color;
  expect(await order.getByText('This is the beginning.').evaluate(colorOf)).toBe('rgb(89, 96, 107)');
  await order.getByRole('textbox', { name: /Message/ }).fill('Thank you');
  await order.getByRole('button', { name: 'Send' }).click();
  await expect(order.getByRole('article').filter({ hasText: 'Thank you' })).toBeVisible();
  await expect(shop.getByRole('listitem').filter({ hasText: /^Ann$/ })).toHaveCount(1);
  await expect(shop.getByRole('navigation', { name: 'Conversations' })).toBeVisible();
});

test('draws messages by a component of the product, and tells it about clicks on people', async ({ shop }) => {
  await expect(shop.locator('p.plain').filter({ hasText: 'Your order is on its way.' })).toBeVisible();
  await shop.getByRole('article').getByRole('button', { name: 'Ben' }).first().click();
  await expect(shop.locator('output')).toHaveText(/^Customer \d+$/);
  await expect(shop.getByRole('dialog')).toHaveCount(0);
});

test('opens menus within a part, and leaves the styles of the page alone', async ({ shop }) => {
  await shop.getByRole('article').first().hover();
  await shop.getByRole('article').first().getByRole('button', { name: 'More actions' }).click();
  await expect(shop.locator('[data-parley]').getByRole('menu')).toBeVisible();
  const styles = await shop.getByRole('heading', { level: 1 }).evaluate((heading) => {
    const { fontFamily, color, letterSpacing } = getComputedStyle(heading);
    return { fontFamily, color, letterSpacing, scheme: getComputedStyle(document.documentElement).colorScheme };
  });
  expect(styles).toEqual({ fontFamily: 'serif', color: 'rgb(128, 0, 128)', letterSpacing: '1px', scheme: 'normal' });
});
