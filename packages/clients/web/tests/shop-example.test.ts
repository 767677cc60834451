import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { freePort } from '@parley/testkit';
import { type Browser, expect, test } from '@playwright/test';
import { transform } from 'esbuild';

const EXAMPLE = join(import.meta.dirname, '../../../../docs/examples/express.ts');

/** Starts docs/examples/express.ts. */
async function startExample() {
  const program = join(import.meta.dirname, '../dist/examples/express.mjs');
  mkdirSync(join(program, '..'), { recursive: true });
  const { code } = await transform(readFileSync(EXAMPLE, 'utf8'), { loader: 'ts' });
  // A busy machine must not prevent the chat from loading.
  writeFileSync(program, code.replace('authenticate:', 'shedsLoad: false, rateLimits: false, authenticate:'));
  const cwd = mkdtempSync(join(tmpdir(), 'parley-shop-'));
  mkdirSync(join(cwd, 'data'));
  const port = await freePort();
  const env = { ...process.env, PORT: String(port) };
  const child = spawn(process.execPath, [program], { cwd, env, stdio: ['ignore', 'pipe', 'inherit'] });
  for await (const line of createInterface({ input: child.stdout })) if (line.includes('/chat')) break;
  const end = async () => {
    child.kill('SIGTERM');
    await once(child, 'exit');
    rmSync(cwd, { recursive: true, force: true });
  };
  return { url: `http://localhost:${port}`, end };
}

/** Signs up and logs in a customer, and places an order. Returns the customer's page. */
async function order(browser: Browser, url: string, name: string, number: number) {
  const page = await (await browser.newContext()).newPage();
  const account = { data: { name, password: 'secret' } };
  for (const path of ['sign-up', 'log-in'])
    expect((await page.request.post(`${url}/${path}`, account)).ok()).toBe(true);
  expect((await page.request.post(`${url}/orders/${number}`)).ok()).toBe(true);
  return page;
}

test("two customers of the shop see their own order and neither the other's order nor name", async ({ browser }) => {
  const { url, end } = await startExample();
  try {
    const ann = await order(browser, url, 'Ann', 7);
    const ben = await order(browser, url, 'Ben', 8);
    for (const [page, own, other, name] of [
      [ann, 7, 8, 'Ben'],
      [ben, 8, 7, 'Ann'],
    ] as const) {
      await page.goto(`${url}/chat/`);
      const navigation = page.getByRole('navigation', { name: 'Conversations' });
      await navigation.getByRole('link', { name: `Order ${own}` }).click();
      await expect(page.getByRole('article').filter({ hasText: 'Thank you' })).toBeVisible();
      await page.goto(`${url}/chat/#narrow/channel/Order.20${other}`);
      await page.reload();
      await expect(navigation.getByRole('link', { name: `Order ${own}` })).toBeVisible();
      await expect(page.getByText('There are no messages here yet.')).toBeVisible();
      await expect(page.getByRole('article')).toHaveCount(0);
      await expect(navigation.getByText(`Order ${other}`)).toHaveCount(0);
      await expect(page.getByText(new RegExp(`\\b${name}\\b`))).toHaveCount(0);
      expect((await page.request.get(`${url}/orders/${other}/messages`)).status()).toBe(404);
    }
  } finally {
    await end();
  }
});
