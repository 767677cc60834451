import type { Page } from '@playwright/test';
import { check, open, placesOf, TAKES_PICTURES, WIDTHS } from './places.js';
import { chooseInMenu, expect, goTo, idOf, messageWith, placeOf, post, pressIn, test } from './stories.js';

/** Themes after the light one change only colors, which axe checks. */
const THEMES = ['light', 'dark', ...(TAKES_PICTURES ? ['light high-contrast', 'dark high-contrast'] : [])];

/** Checks the open place. Axe and dark themes are limited to phone and desktop widths. */
async function checkInThemes(page: Page, name: string, width: number): Promise<void> {
  const runsAxe = width !== 768;
  await page.setViewportSize({ width, height: 800 });
  for (const theme of runsAxe || TAKES_PICTURES ? THEMES : ['light']) {
    await page.emulateMedia({
      colorScheme: theme.startsWith('dark') ? 'dark' : 'light',
      contrast: theme.endsWith('contrast') ? 'more' : 'no-preference',
    });
    const axe = theme === 'light' ? [] : ['color-contrast'];
    await check(page, `${name} ${theme} ${width}`, { axe: runsAxe ? axe : null });
  }
  await page.emulateMedia({ colorScheme: 'light', contrast: 'no-preference' });
}

// Divided into parts, because stories run in parallel.
for (const part of [0, 1, 2, 3]) {
  test(`shows its places in full at every width, without axe findings in both themes on phones and desktops (part ${part + 1})`, async ({
    logIn,
    server,
  }) => {
    test.slow();
    const places = Object.entries(await placesOf(server)).filter((_, index) => index % 4 === part);
    const { page } = await logIn('desdemona');
    for (const [name, place] of places) {
      await open(page, place);
      for (const width of WIDTHS) await checkInThemes(page, name, width);
    }
  });
}

test('shows menus, dialogs and cards in full at every width, without axe findings', async ({ logIn, server }) => {
  await post(server, 'iago', 'over the page', 'Read below a card');
  const { page } = await logIn('desdemona', await placeOf(server, 'over the page'));
  const row = messageWith(page, 'Read below a card');
  const pressInRow = async (name: string) => {
    await pressIn(row, { name, exact: true });
  };
  const popups: Readonly<Record<string, () => Promise<void>>> = {
    'message menu': () => pressInRow('More actions'),
    'emoji card': () => pressInRow('Add a reaction'),
    'person card': () => pressInRow('Iago'),
    'topic menu': () => page.getByRole('main').getByRole('button', { name: 'Topic actions' }).click(),
    shortcuts: () => page.keyboard.press('?'),
    palette: () => page.keyboard.press('Control+k'),
  };
  const popup = page.locator('[role="dialog"], [role="menu"]');
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 800 });
    for (const [name, show] of Object.entries(popups)) {
      await show();
      await expect(popup).toBeVisible();
      await check(page, `${name} ${width}`, { axe: width === 768 ? [] : null });
      await page.keyboard.press('Escape');
      await expect(popup).toHaveCount(0);
    }
  }
});

test('opens conversations from a menu on phones', async ({ logIn }) => {
  const { page } = await logIn('hamlet', '#inbox');
  await page.setViewportSize({ width: 390, height: 800 });
  const channel = page.getByRole('navigation', { name: 'Conversations' }).getByRole('link', { name: 'Verona' });
  await expect(channel).not.toBeVisible();
  await page.getByRole('button', { name: 'Conversations' }).click();
  await channel.click();
  await expect(page.getByRole('heading', { level: 1 })).toContainText('Verona');
  await expect(channel).not.toBeVisible();
});

test('reaches messages with the arrow keys', async ({ logIn, server }) => {
  for (const content of ['Reached last', 'Reached second', 'Reached first']) {
    await post(server, 'hamlet', 'arrow keys', content);
  }
  const { page } = await logIn('hamlet', await placeOf(server, 'arrow keys'));
  await expect(messageWith(page, 'Reached first')).toBeInViewport();
  await page.getByRole('region', { name: 'Messages' }).focus();
  const focused = page.getByRole('listitem').and(page.locator(':focus'));
  for (const [key, text] of [
    ['ArrowUp', 'Reached first'],
    ['ArrowUp', 'Reached second'],
    ['Home', 'Reached last'],
    ['ArrowDown', 'Reached second'],
  ] as const) {
    await page.keyboard.press(key);
    await expect(focused).toContainText(text);
  }
});

test('keeps the chosen theme', async ({ logIn }) => {
  const { page } = await logIn('hamlet', '#inbox');
  await chooseInMenu(page, 'Dark theme');
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
  await page.reload();
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
  await chooseInMenu(page, 'Light theme');
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'light');
});

test('logs out', async ({ logIn }) => {
  const { page } = await logIn('hamlet', '#inbox');
  await chooseInMenu(page, 'Log out');
  await expect(page).toHaveURL(/\/login\//);
  await page.goBack();
  await expect(page).toHaveURL(/\/login\//);
});

test('opens notes to oneself from the sidebar', async ({ logIn, server }) => {
  const { page } = await logIn('zoe', `#narrow/dm/${await idOf(server, 'zoe')}`);
  await page.getByRole('textbox', { name: 'Message' }).fill('Buy plums');
  await page.keyboard.press('Control+Enter');
  const note = messageWith(page, 'Buy plums');
  await expect(note.getByRole('time')).toBeVisible();
  await goTo(page, '#inbox');
  await page.getByRole('navigation').getByRole('link', { name: 'yourself' }).click();
  await expect(note).toBeVisible();
  await page.reload();
  await expect(note).toBeVisible();
  await expect(page.getByRole('heading', { level: 1 })).toContainText('yourself');
});
