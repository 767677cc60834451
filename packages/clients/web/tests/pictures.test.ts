// Draws the pictures of the documentation: npm run pictures
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { freePort } from '@parley/testkit';
import type { Page } from '@playwright/test';
import { transform } from 'esbuild';
import sharp from 'sharp';
import { openGallery, openSection, setTheme } from './gallery-page.js';
import { expect, placeOf, post, type Server, test } from './stories.js';

const DOCS = join(import.meta.dirname, '../../../../docs');
const IMAGES = join(DOCS, 'images');

// The demo of `npm start`.
test.use({ settings: { PARLEY_DEMO_ACTIVITY: 'on' } });

/** Writes a picture of the window with at most 256 colors. */
async function draw(page: Page, file: string): Promise<void> {
  await expect.poll(() => page.evaluate(() => [...document.images].every(({ complete }) => complete))).toBe(true);
  await page.mouse.move(0, 0);
  await sharp(await page.screenshot())
    .png({ palette: true, effort: 10 })
    .toFile(join(IMAGES, file));
}

/** Exhibits of `docs/design.md` by file name. */
const DESIGN: Readonly<Record<string, readonly [section: string, exhibit: string]>> = {
  buttons: ['kit', 'buttons with a text: usual, main, dangerous, disabled'],
  choices: ['kit', 'choices: on, off, disabled'],
  fields: ['kit', 'fields with a text and a list'],
  counts: ['kit', 'unread counts'],
  loading: ['kit', 'loading'],
  empty: ['kit', 'nothing there'],
  people: ['kit', 'people'],
  heading: ['conversation', 'heading'],
  composer: ['conversation', 'composer with a text'],
  table: ['managing', 'organization users'],
};

test('draws the components of docs/design.md in both themes', async ({ page }) => {
  test.slow();
  mkdirSync(join(IMAGES, 'design'), { recursive: true });
  await page.setViewportSize({ width: 720, height: 900 });
  const gallery = await openGallery(page);
  for (const [file, [section, exhibit]] of Object.entries(DESIGN)) {
    await openSection(gallery, section);
    const frame = page.getByRole('region', { name: exhibit, exact: true }).locator('> div');
    for (const theme of ['light', 'dark']) {
      await setTheme(page, theme);
      await frame.screenshot({ path: join(IMAGES, 'design', `${file}-${theme}.png`) });
    }
  }
  expect(gallery.complaints).toEqual([]);
});

/** Conversation of `web-client.png`. */
async function writeConversation(server: Server): Promise<void> {
  const say = (person: string, text: string) => post(server, person, 'opening night', text);
  await say('hamlet', 'Does somebody know what is missing?');
  await say(
    'cordelia',
    'I do. The list:\n\n| What | Who |\n|---|---|\n| Lanterns | Cordelia |\n| Programme | Othello |\n| Ghost | still open |',
  );
  await say(
    'othello',
    'The programme is printed. The page needs one more line:\n\n```python\ndef curtain(minutes):\n    return f"Doors close in {minutes} minutes"\n```',
  );
  await say('desdemona', '> Ghost: still open\n\nI know somebody who has played it before.');
  await say('iago', '/poll Where do we celebrate?\nAt the castle\nIn Verona');
}

test('draws a topic for the README', async ({ logIn, server }) => {
  await writeConversation(server);
  const { page } = await logIn('hamlet', await placeOf(server, 'opening night'));
  await page.setViewportSize({ width: 1280, height: 820 });
  await page.getByRole('textbox', { name: 'Message' }).fill('I will ask the **ghost** tonight.');
  await expect(page.getByText('Where do we celebrate?')).toBeInViewport();
  await draw(page, 'web-client.png');
});

test('draws the shop of docs/examples/element.ts for the README', async ({ page }) => {
  const program = join(import.meta.dirname, '../dist/examples/element.mjs');
  mkdirSync(join(program, '..'), { recursive: true });
  const { code } = await transform(readFileSync(join(DOCS, 'examples/element.ts'), 'utf8'), { loader: 'ts' });
  writeFileSync(program, code);
  const cwd = mkdtempSync(join(tmpdir(), 'parley-shop-'));
  mkdirSync(join(cwd, 'data'));
  const port = await freePort();
  const shop = spawn(process.execPath, [program], { cwd, env: { ...process.env, PORT: String(port) } });
  try {
    await once(createInterface({ input: shop.stdout }), 'line');
    await page.setViewportSize({ width: 1080, height: 620 });
    await page.goto(`http://localhost:${port}`);
    const message = page.getByRole('textbox', { name: 'Message' });
    await message.fill('Thank you! Could the neighbor take it if I am out?');
    const sent = page.waitForResponse(
      (response) => response.request().method() === 'POST' && response.url().endsWith('/messages'),
    );
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await sent;
    await expect(page.getByRole('article').filter({ hasText: 'neighbor' })).toHaveCSS('opacity', '1');
    await draw(page, 'embedded.png');
  } finally {
    shop.kill('SIGTERM');
    await once(shop, 'exit');
    rmSync(cwd, { recursive: true, force: true });
  }
});
