import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Gallery, openGallery, openSection, setTheme } from './gallery-page.js';
import { recordWorld, registerOwner, type World } from './gallery-world.js';
import { check, TAKES_PICTURES, WIDTHS } from './places.js';
import { expect, test } from './stories.js';

const WEB = join(import.meta.dirname, '..');
const WORLD = join(WEB, 'gallery/fixtures/world.json');
/** Hundreds of states take minutes on a busy machine. */
const TIMEOUT_MS = 15 * 60_000;
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
  'conversation/data-slot.tsx': 'draws what the page of an element provides',
};

type Look = (name: string, within?: string) => Promise<void>;

/** Visits every section; opens and closes every menu, dialog and card. */
async function visitAll(gallery: Gallery, look: Look, hasPopups = true): Promise<void> {
  const { page, settle } = gallery;
  const sections = page.getByRole('navigation', { name: 'Gallery' });
  for (const section of await sections.getByRole('link').allTextContents()) {
    await openSection(gallery, section);
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

test('shows a component of every file in full at every width, without axe findings', async ({ page }) => {
  test.setTimeout(TIMEOUT_MS);
  const profiler = await page.context().newCDPSession(page);
  await profiler.send('Profiler.enable');
  // Counting calls and blocks, as Playwright does, slows all scripts down.
  await profiler.send('Profiler.startPreciseCoverage', { callCount: false, detailed: false });
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
  for (const { url, functions } of (await profiler.send('Profiler.takePreciseCoverage')).result) {
    // Scripts are named after their sources.
    const [, file] = /packages\/clients\/web\/src\/(.*)-[\w-]{8}\.js$/.exec(url) ?? [];
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
