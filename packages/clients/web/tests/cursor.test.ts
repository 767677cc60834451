import type { Page } from '@playwright/test';
import { expect, goTo, messageWith, placeOf, post, pressIn, type Server, test } from './stories.js';

/** Sends messages of different heights, which their sender has read. */
async function fill(server: Server, topic: string, count: number): Promise<void> {
  for (let n = 0; n < count; n++) await post(server, 'iago', topic, `Line ${n}: ${'words '.repeat((n * 7) % 40)}`);
}

const listOf = (page: Page) => page.getByRole('region', { name: 'Messages' });

const focusedRow = (page: Page) => page.getByRole('listitem').and(page.locator(':focus'));

/** True while keys reach the messages. */
const hasKeys = (page: Page) => expect(page.locator('[data-messages]:focus, [data-key]:focus')).toHaveCount(1);

test('keeps the keys in the conversation when the focused message is scrolled away', async ({ server, logIn }) => {
  await fill(server, 'cursor pages', 130);
  const { page } = await logIn('iago', await placeOf(server, 'cursor pages'));
  await expect(messageWith(page, 'Line 129:')).toBeInViewport();
  await page.keyboard.press('k');
  await expect(focusedRow(page)).toBeVisible();
  for (let n = 0; n < 3; n++) {
    await page.keyboard.press('PageUp');
    await expect(focusedRow(page)).toBeInViewport();
  }
  await expect(messageWith(page, 'Line 129:')).not.toBeInViewport();
  // Older messages load on the way to the start.
  await expect(async () => {
    await page.keyboard.press('Home');
    await expect(focusedRow(page)).toContainText('Line 0:', { timeout: 500 });
  }).toPass();
  await page.keyboard.press('End');
  await expect(focusedRow(page)).toContainText('Line 129:');
  // The wheel scrolls the cursor out of sight; the next key selects a visible message.
  await listOf(page).hover();
  await page.mouse.wheel(0, -4000);
  await expect(messageWith(page, 'Line 129:')).not.toBeInViewport();
  await hasKeys(page);
  await page.keyboard.press('ArrowUp');
  await expect(focusedRow(page)).toBeInViewport();
  await expect(focusedRow(page)).not.toContainText('Line 128:');
});

test('hands the focus to a neighbor when the focused message is deleted', async ({ server, logIn }) => {
  await fill(server, 'cursor removal', 6);
  const { page } = await logIn('iago', await placeOf(server, 'cursor removal'));
  const { id } = await post(server, 'iago', 'cursor removal', 'Soon gone');
  await post(server, 'iago', 'cursor removal', 'The last one');
  await page.getByRole('listitem').filter({ hasText: 'Soon gone' }).focus();
  await server.call('iago', 'DELETE', `/messages/${id}`);
  await expect(focusedRow(page)).toContainText('The last one');
  await page.keyboard.press('i');
  await page.getByRole('menuitem', { name: 'Delete' }).press('Enter');
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).press('Enter');
  await expect(messageWith(page, 'The last one')).toHaveCount(0);
  await expect(focusedRow(page)).toContainText('Line 5:');
  await page.keyboard.press('k');
  await expect(focusedRow(page)).toContainText('Line 4:');
});

test('hands the keys to the messages after a click on a topic and after the palette', async ({ server, logIn }) => {
  await fill(server, 'cursor here', 40);
  await fill(server, 'cursor there', 40);
  const { page } = await logIn('iago', await placeOf(server, 'cursor here'));
  await expect(messageWith(page, 'Line 39:')).toBeInViewport();
  const sidebar = page.getByRole('navigation', { name: 'Conversations' });
  await sidebar.getByRole('link', { name: 'cursor there' }).click();
  await hasKeys(page);
  await page.keyboard.press('PageUp');
  await expect(messageWith(page, 'Line 39:')).not.toBeInViewport();
  await sidebar.getByRole('link', { name: 'cursor there' }).click();
  await hasKeys(page);
  for (const from of ['textbox', 'list'] as const) {
    if (from === 'textbox') await page.getByRole('textbox', { name: 'Message', exact: true }).focus();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: /Name of a conversation/ }).fill('cursor here');
    await page.keyboard.press('Enter');
    await expect(page.getByRole('heading', { level: 1 })).toContainText('cursor here');
    await hasKeys(page);
    await page.keyboard.press('ArrowUp');
    await expect(focusedRow(page)).toContainText('Line 39:');
    await goTo(page, await placeOf(server, 'cursor there'));
    await expect(page.getByRole('heading', { level: 1 })).toContainText('cursor there');
  }
});

test('makes the messages one stop of the Tab key, in both directions', async ({ server, logIn }) => {
  for (let n = 0; n < 20; n++) {
    await post(server, 'iago', 'cursor stops', `Line ${n}: [link](https://a.example)\n~~~\ncode\n~~~`);
  }
  const { page } = await logIn('iago', await placeOf(server, 'cursor stops'));
  await expect(messageWith(page, 'Line 19:')).toBeInViewport();
  const sidebar = page.getByRole('navigation', { name: 'Conversations' });
  await sidebar.getByRole('link', { name: 'cursor stops' }).click();
  await hasKeys(page);
  const isOutside = () => page.evaluate(() => document.activeElement?.closest('[data-messages]') === null);
  await page.keyboard.press('Tab');
  expect(await isOutside()).toBe(true);
  await page.keyboard.press('Shift+Tab');
  await hasKeys(page);
  await page.keyboard.press('Shift+Tab');
  expect(await isOutside()).toBe(true);
  await page.keyboard.press('Tab');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('ArrowUp');
  await expect(focusedRow(page)).toContainText('Line 18:');
  // The controls of this message, and of no other one.
  for (let n = 0; !(await isOutside()); n++) {
    await expect(page.locator('[data-key]:focus-within')).toContainText('Line 18:');
    expect(n).toBeLessThan(15);
    await page.keyboard.press('Tab');
  }
  await page.keyboard.press('Shift+Tab');
  await expect(focusedRow(page)).toContainText('Line 18:');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Shift+Tab');
  await expect(focusedRow(page)).toContainText('Line 18:');
  await page.keyboard.press('Shift+Tab');
  expect(await isOutside()).toBe(true);
});

test('moves the cursor to the newest message with End while newer ones are not loaded', async ({ server, logIn }) => {
  await fill(server, 'cursor newest', 250);
  const place = await placeOf(server, 'cursor newest');
  const { messages } = await server.call('iago', 'GET', '/messages', {
    anchor: 'oldest',
    num_before: 0,
    num_after: 1,
    narrow: [{ operator: 'topic', operand: 'cursor newest' }],
  });
  for (const start of ['list', 'message'] as const) {
    const { page } = await logIn('iago', `${place}/near/${messages[0].id}`);
    await expect(messageWith(page, 'Line 0:')).toBeInViewport();
    if (start === 'list') await listOf(page).focus();
    else await page.getByRole('listitem').filter({ hasText: 'Line 1:' }).focus();
    await page.keyboard.press('End');
    await expect(focusedRow(page)).toContainText('Line 249:');
    await expect(focusedRow(page)).toBeInViewport({ ratio: 1 });
    await page.keyboard.press('k');
    await expect(focusedRow(page)).toContainText('Line 248:');
  }
});

test('reaches the composer with at most twelve Tab keys, past one stop for the conversations', async ({
  server,
  logIn,
}) => {
  await post(server, 'cordelia', 'stops', 'Words');
  const { page } = await logIn('hamlet', await placeOf(server, 'stops'));
  const field = page.getByRole('textbox', { name: 'Message', exact: true });
  await expect(field).toBeVisible();
  await expect(page.getByRole('button', { name: 'Follow topic' })).toBeVisible();
  // The skip button is the first stop of the page.
  await page.getByRole('button', { name: 'Skip to the messages' }).focus();
  const stops: string[] = [];
  const focused = () =>
    page.evaluate(() => {
      const { ariaLabel, textContent, tagName } = document.activeElement as HTMLElement;
      return ariaLabel ?? (textContent.trim().slice(0, 30) || tagName);
    });
  while (!(await field.evaluate((each) => each === document.activeElement)) && stops.length < 30) {
    await page.keyboard.press('Tab');
    stops.push(await focused());
  }
  expect(stops.length, stops.join(', ')).toBeLessThanOrEqual(12);
  await page.keyboard.press('q');
  const sidebar = page.getByRole('navigation', { name: 'Conversations' });
  await page.getByRole('searchbox', { name: 'Filter conversations' }).focus();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  const current = sidebar.locator('[aria-current]').first();
  await expect(current).toBeFocused();
  await page.keyboard.press('ArrowRight');
  await expect(sidebar.getByRole('button', { name: 'Topic actions' }).and(page.locator(':focus'))).toBeVisible();
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowUp');
  await expect(sidebar.locator('a:focus')).toContainText('Verona');
  await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('Tab');
  await expect(sidebar.locator('a:focus')).toContainText('Verona');
  await goTo(page, '#channels/new');
  await expect(page.getByRole('textbox', { name: 'Name' })).toBeFocused();
});

test('names keys in tooltips and menus', async ({ server, logIn }) => {
  await post(server, 'cordelia', 'named keys', 'Words');
  const { page } = await logIn('hamlet', await placeOf(server, 'named keys'));
  await pressIn(messageWith(page, 'Words'), { name: 'More actions' });
  await expect(page.getByTitle('Star (Ctrl+S)')).toBeVisible();
  const item = page.getByRole('menuitem', { name: 'Mark as unread from here' });
  await expect(item.locator('kbd')).toHaveText('Shift+U');
});
