import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { Page, Request } from '@playwright/test';
import { recordWorld, registerOwner, type World } from './gallery-world.js';
import { check, TAKES_PICTURES, WIDTHS } from './places.js';
import { expect, test } from './stories.js';

const WEB = join(import.meta.dirname, '..');
const BUILT = join(WEB, 'gallery/dist');
const WORLD = join(WEB, 'gallery/fixtures/world.json');
/** Hundreds of states take minutes on a busy machine. */
const TIMEOUT_MS = 15 * 60_000;
/** Nothing listens there: files are served from the folder. */
const ADDRESS = 'http://localhost:9/';
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
};
const POLICY = `default-src 'self'; img-src 'self' data:; connect-src 'self' data:; base-uri 'none'; require-trusted-types-for 'script'; trusted-types parley-content parley-worker`;

/** Rules for components; best-practice rules apply to whole pages, which the places cover. */
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
const COLOURS = ['color-contrast'];
/** Sections with components; page sections show the same components. */
const PARTS = ['kit', 'conversation'];
/** Width for axe checks. */
const MIDDLE = 768;
const OTHER_THEMES = ['dark', 'light high-contrast', 'dark high-contrast'];
const POPUP = '[role="dialog"], [role="menu"], [part="card"]';

/** Components that the gallery cannot show, with the reason. */
const NOT_SHOWN: Readonly<Record<string, string>> = {
  'components/provider.tsx': 'connects to a server',
  'app/desktop-app.tsx': 'draws nothing',
};

test.beforeAll(() => {
  if (!existsSync(BUILT)) throw new Error('Run `npx vite build packages/web/gallery` first');
});

/** Open gallery page. */
interface Gallery {
  readonly page: Page;
  /** Console errors, policy violations and requests to other hosts. */
  readonly complaints: readonly string[];
  /** Waits until nothing loads or changes. */
  settle(): Promise<void>;
}

async function openGallery(page: Page): Promise<Gallery> {
  const complaints: string[] = [];
  const loading = new Set<Request>();
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  page.on('request', (request) => loading.add(request));
  page.on('requestfinished', (request) => loading.delete(request));
  page.on('requestfailed', (request) => loading.delete(request));
  await page.route('**', (route) => {
    const { pathname, origin } = new URL(route.request().url());
    const file = join(BUILT, pathname === '/' ? 'index.html' : pathname);
    if (pathname.startsWith('/user_uploads/')) return route.fulfill({ contentType: 'audio/mpeg' });
    if (`${origin}/` !== ADDRESS || !existsSync(file)) {
      complaints.push(`request for ${route.request().url()}`);
      return route.abort();
    }
    return route.fulfill({
      body: readFileSync(file),
      headers: { 'Content-Security-Policy': POLICY },
      contentType: TYPES[extname(file)] ?? 'application/octet-stream',
    });
  });
  // Animations would be checked halfway.
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.goto(ADDRESS);
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  let last = '';
  const isSettled = async () => {
    const now = await page.evaluate(() => document.body.innerHTML);
    const isSame = now === last && loading.size === 0;
    last = now;
    return isSame;
  };
  return { page, complaints, settle: () => expect.poll(isSettled, { intervals: [100], timeout: 60_000 }).toBe(true) };
}

type Look = (name: string, within?: string) => Promise<void>;

/** Visits every section; opens and closes every menu, dialog and card. */
async function visitAll({ page, settle }: Gallery, look: Look, hasPopups = true): Promise<void> {
  const sections = page.getByRole('navigation', { name: 'Gallery' });
  for (const section of await sections.getByRole('link').allTextContents()) {
    await sections.getByRole('link', { name: section, exact: true }).click();
    await expect(page.getByRole('heading', { name: `Gallery: ${section}` })).toBeVisible();
    await settle();
    // Hovering a message shows its buttons.
    const message = page.getByRole('main').getByRole('article').first();
    if ((await message.count()) > 0) await message.hover();
    await look(section);
    if (section !== 'overlays' || !hasPopups) continue;
    for (const button of await page.getByRole('main').getByRole('button').all()) {
      // An open dialog hides the button from role queries.
      const name = (await button.textContent())!;
      await button.click();
      await expect(page.locator(POPUP).first()).toBeVisible();
      await settle();
      await look(name, POPUP);
      await page.keyboard.press('Escape');
      await expect(page.locator(POPUP)).toHaveCount(0);
    }
  }
}

const setTheme = (page: Page, to: string) =>
  page.evaluate((theme) => {
    document.documentElement.dataset.theme = theme;
  }, to);

test('shows a component of every file in full at every width, without axe findings', async ({ page }) => {
  test.setTimeout(TIMEOUT_MS);
  await page.coverage.startJSCoverage();
  const gallery = await openGallery(page);
  await visitAll(gallery, async (name, within = 'main') => {
    const look = async (theme: string, width: number, axe: readonly string[]) => {
      await page.setViewportSize({ width, height: 900 });
      const rules = width === MIDDLE ? axe : null;
      await check(page, `gallery ${name} ${theme} ${width}`, { within, axe: rules, isWhole: within === 'main' });
    };
    for (const width of WIDTHS) await look('light', width, RULES);
    // Other themes change only colors. `npm run screenshots` checks everything in them.
    for (const theme of PARTS.includes(name) || TAKES_PICTURES ? OTHER_THEMES : []) {
      await setTheme(page, theme);
      for (const width of TAKES_PICTURES ? WIDTHS : [MIDDLE]) await look(theme, width, COLOURS);
    }
    await setTheme(page, 'light');
  });
  expect(gallery.complaints).toEqual([]);
  const drawn = new Set<string>();
  for (const { url, functions } of await page.coverage.stopJSCoverage()) {
    // Scripts are named after their sources.
    const [, file] = /packages\/web\/src\/(.*)-[\w-]{8}\.js$/.exec(url) ?? [];
    const isDrawn = functions.some(
      ({ functionName, ranges }) => /^([A-Z]|render$)/.test(functionName) && ranges[0]!.count > 0,
    );
    if (file !== undefined && isDrawn) drawn.add(`${file}.tsx`);
  }
  const files = readdirSync(join(WEB, 'src'), { recursive: true, encoding: 'utf8' }).filter((file) =>
    // Files without components open others.
    /\bfunction [A-Z]|memo\(|class [A-Z]\w+ extends Component/.test(
      file.endsWith('.tsx') ? readFileSync(join(WEB, 'src', file), 'utf8') : '',
    ),
  );
  expect(files.filter((file) => !drawn.has(file)).sort()).toEqual(Object.keys(NOT_SHOWN).sort());
});

test('shows every component in full with stretched texts and right-to-left layout', async ({ page }) => {
  test.setTimeout(TIMEOUT_MS);
  const gallery = await openGallery(page);
  await page.setViewportSize({ width: 320, height: 900 });
  for (const texts of ['stretched', 'right to left']) {
    await page.getByRole('button', { name: texts }).click();
    const look: Look = (name, within) =>
      check(page, `gallery ${name} ${texts}`, { axe: null, isWhole: within === undefined });
    await visitAll(gallery, look, texts === 'stretched' || TAKES_PICTURES);
  }
  expect(gallery.complaints).toEqual([]);
});

test('shows the state sent by a server', async ({ server }) => {
  // To update after a response change: RECORD_GALLERY=1 npm run test:web -- gallery.test.ts
  if (process.env.RECORD_GALLERY !== undefined) {
    const world = JSON.stringify(await recordWorld(server), null, 1);
    writeFileSync(WORLD, `${world.replaceAll(server.url, 'https://gallery.example')}\n`);
  }
  const { state } = JSON.parse(readFileSync(WORLD, 'utf8')) as World;
  const names = (of: object) => Object.keys(of).sort();
  expect(names(state)).toEqual(names(await registerOwner(server)));
});
