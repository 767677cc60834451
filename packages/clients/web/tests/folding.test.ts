import type { Page } from '@playwright/test';
import { expect, goTo, messageWith, placeOf, post, test } from './stories.js';

const READER = 'cordelia';
const LONG = `Long start ${'words '.repeat(1600)}[a link](https://example.com) long end`;

const listOf = (page: Page) => page.getByRole('region', { name: 'Messages' });
const more = (page: Page) => page.getByRole('button', { name: 'Show more' });

/** Distances of the edges of the tall message from the upper edge of the list, and the height of the list. */
const tall = (page: Page) =>
  messageWith(page, 'Long start').evaluate((row) => {
    const list = row.closest('section')!.getBoundingClientRect();
    const { top, bottom } = row.getBoundingClientRect();
    return { top: top - list.top, bottom: bottom - list.top, height: bottom - top, ofList: list.height };
  });

test('shows the beginning of a tall message, and the rest in place after a click or a key', async ({
  server,
  logIn,
}) => {
  for (let n = 0; n < 8; n++) await post(server, READER, 'folded', `Line ${n}`);
  await post(server, READER, 'folded', LONG);
  const place = await placeOf(server, 'folded');
  const { page } = await logIn(READER, place);
  await expect(more(page)).toBeInViewport({ ratio: 1 });
  const before = await tall(page);
  expect(before.height).toBeLessThan(before.ofList * 0.85);
  await expect(page.getByRole('button', { name: 'Newest message' })).toHaveCount(0);
  await more(page).click();
  await expect(more(page)).toHaveCount(0);
  await page.waitForTimeout(300);
  const after = await tall(page);
  expect(after.height).toBeGreaterThan(after.ofList);
  expect(Math.abs(after.top - before.top)).toBeLessThanOrEqual(1);
  await expect(page.locator('[data-key]:focus')).toContainText('Long start');
  // The message stays open.
  await page.reload();
  await expect(messageWith(page, 'Long start')).toBeVisible();
  await page.waitForTimeout(300);
  await expect(more(page)).toHaveCount(0);

  await post(server, READER, 'folded by key', LONG);
  await goTo(page, await placeOf(server, 'folded by key'));
  await expect(more(page)).toBeVisible();
  await listOf(page).focus();
  await page.keyboard.press('Home');
  await expect(page.locator('[data-key]:focus')).toContainText('Long start');
  await page.keyboard.press('-');
  await expect(more(page)).toHaveCount(0);
  await page.keyboard.press('-');
  await expect(page.getByRole('button', { name: 'Collapsed message. Show it' })).toBeVisible();
});

test('shows a short message whole although its links are taller than its lines', async ({ server, logIn }) => {
  await post(server, READER, 'short with a link', 'Notes: https://example.com/notes');
  const { page } = await logIn(READER, '#inbox');
  await page.addInitScript(() => {
    // Height of the letters of a tall font.
    const sheet = new CSSStyleSheet();
    sheet.replaceSync('[part="message-body"] a { padding-block: 12px !important }');
    document.adoptedStyleSheets = [sheet];
  });
  await page.reload();
  await goTo(page, await placeOf(server, 'short with a link'));
  const link = messageWith(page, 'Notes').getByRole('link', { name: 'https://example.com/notes' });
  await expect(link).toHaveCSS('padding-bottom', '12px');
  await expect(more(page)).toHaveCount(0);
});

test('shows a tall message whole if a link, a search or the focus leads into it, and on paper', async ({
  server,
  logIn,
}) => {
  await post(server, READER, 'folded too', LONG);
  const { id } = await post(server, READER, 'folded too', `${LONG} needles`);
  const place = await placeOf(server, 'folded too');
  const { page } = await logIn(READER, place);
  await expect(more(page)).toHaveCount(2);
  await page.emulateMedia({ media: 'print' });
  await expect(more(page)).toHaveCount(0);
  await page.emulateMedia({ media: 'screen' });
  await expect(more(page)).toHaveCount(2);
  // The browser scrolls to the link.
  const link = messageWith(page, 'Long start').first().getByRole('link', { name: 'a link' });
  await link.focus();
  await expect(more(page)).toHaveCount(1);
  await expect(link).toBeInViewport({ ratio: 1 });
  await goTo(page, '#narrow/search/needles');
  await expect(messageWith(page, 'Long start').getByText('needles')).toBeAttached();
  await expect(more(page)).toHaveCount(0);
  await goTo(page, `${place}/near/${id}`);
  await expect(messageWith(page, 'needles')).toBeInViewport();
  await expect(more(page)).toHaveCount(0);
});
