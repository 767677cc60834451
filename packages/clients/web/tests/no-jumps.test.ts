import type { Page } from '@playwright/test';
import { expect, goTo, messageWith, placeOf, post, type Server, send, test } from './stories.js';

const WRITER = 'iago';

const lineOf = (n: number) => `Line ${n}: ${'words '.repeat((n * 7) % 40)}`;

/** Sends messages of different heights, which their sender has read. */
async function fill(server: Server, topic: string, count: number, content = lineOf): Promise<readonly number[]> {
  const ids: number[] = [];
  for (let n = 0; n < count; n++) ids.push((await post(server, WRITER, topic, content(n))).id);
  return ids;
}

const listOf = (page: Page) => page.getByRole('region', { name: 'Messages' });

const scrollTo = (page: Page, top: number) => listOf(page).evaluate((list, to) => list.scrollTo(0, to), top);

/** Text of the message in the middle of the list. */
const middleOf = (page: Page): Promise<string> =>
  listOf(page).evaluate((list) => {
    const { left, width, top, height } = list.getBoundingClientRect();
    const root = list.getRootNode() as Document;
    const row = root.elementFromPoint(left + width / 2, top + height / 2)!.closest('[data-key]')!;
    return /Line \d+:/.exec(row.textContent ?? '')![0];
  });

/** Distance of a message's text from the top of the page. */
const topOf = (page: Page, text: string): Promise<number> =>
  messageWith(page, text).evaluate((row) => row.querySelector('[data-text]')!.getBoundingClientRect().top);

/** Indexes of completely visible messages. */
const wholeRows = (page: Page): Promise<readonly number[]> =>
  listOf(page).evaluate((list) => {
    const { top, bottom } = list.getBoundingClientRect();
    return [...list.querySelectorAll('article')].flatMap((row) => {
      const box = row.getBoundingClientRect();
      const [, index] = /Line (\d+):/.exec(row.textContent ?? '') ?? [];
      return index !== undefined && box.top >= top - 1 && box.bottom <= bottom + 1 ? [Number(index)] : [];
    });
  });

/** Waits until the list stops moving. */
async function rest(page: Page): Promise<void> {
  let before = Number.NaN;
  await expect(async () => {
    const last = before;
    before = await listOf(page).evaluate((list) => list.scrollTop);
    expect(before).toBe(last);
  }).toPass({ intervals: [200] });
}

for (const where of ['a topic', 'the combined feed'] as const) {
  test(`keeps the middle line in place when older messages load in ${where}`, async ({ server, logIn }) => {
    await fill(server, `older in ${where}`, 100);
    // The feed opens at the first unread message.
    await server.call(WRITER, 'POST', '/mark_all_as_read');
    const { page } = await logIn(WRITER, '#inbox');
    let open = () => {};
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    await page.route('**/json/messages?*', async (route) => {
      if (new URL(route.request().url()).searchParams.get('num_before') === '60') await opened;
      await route.continue();
    });
    await goTo(page, where === 'a topic' ? await placeOf(server, `older in ${where}`) : '#feed');
    await expect(messageWith(page, 'Line 99:')).toBeInViewport();
    // The first loaded row, with its date line and headings, is at the upper edge.
    await expect(async () => {
      await scrollTo(page, 0);
      await rest(page);
      expect(await listOf(page).evaluate((list) => list.scrollTop)).toBe(0);
    }).toPass();
    const first = Number((await listOf(page).getByRole('listitem').first().textContent())!.match(/Line (\d+):/)![1]);
    expect(first).toBeGreaterThan(0);
    const middle = await middleOf(page);
    const [top, firstTop] = [await topOf(page, middle), await topOf(page, `Line ${first}:`)];
    open();
    await expect(messageWith(page, `Line ${first - 1}:`)).toBeAttached();
    await rest(page);
    expect(Math.abs((await topOf(page, middle)) - top)).toBeLessThanOrEqual(1);
    expect(Math.abs((await topOf(page, `Line ${first}:`)) - firstTop)).toBeLessThanOrEqual(1);
  });
}

test('keeps the middle line in place when the message cut by the upper edge is deleted', async ({ server, logIn }) => {
  const ids = await fill(server, 'cut', 40, (n) => `Line ${n}: ${'words '.repeat(n % 2 ? 150 : 20)}`);
  const { page } = await logIn(WRITER, await placeOf(server, 'cut'));
  await expect(messageWith(page, 'Line 39:')).toBeInViewport();
  await listOf(page).evaluate((list) => list.scrollBy(0, -900));
  await rest(page);
  const cut = (await wholeRows(page))[0]! - 1;
  const middle = await middleOf(page);
  expect(middle).not.toBe(`Line ${cut}:`);
  const top = await topOf(page, middle);
  await server.call(WRITER, 'DELETE', `/messages/${ids[cut]}`);
  await expect(messageWith(page, `Line ${cut}:`)).toHaveCount(0);
  await rest(page);
  expect(Math.abs((await topOf(page, middle)) - top)).toBeLessThanOrEqual(1);
});

test('shows the newest message at the end while the composer grows and shrinks', async ({ server, logIn }) => {
  await fill(server, 'composer', 30);
  const { page } = await logIn(WRITER, await placeOf(server, 'composer'));
  const newest = messageWith(page, 'Line 29:');
  await expect(newest).toBeInViewport();
  const field = page.getByRole('textbox', { name: 'Message', exact: true });
  await field.focus();
  for (const text of ['One\nTwo\nThree\nFour\nFive\nSix', 'One', 'One\nTwo\nThree', '']) {
    await field.fill(text);
    await rest(page);
    await expect(newest).toBeInViewport({ ratio: 1 });
    await expect(page.getByRole('button', { name: 'Newest message' })).toHaveCount(0);
  }
});

test('skips no message when pages are scrolled up and down', async ({ server, logIn }) => {
  await fill(server, 'pages', 160);
  const { page } = await logIn(WRITER, await placeOf(server, 'pages'));
  await expect(messageWith(page, 'Line 159:')).toBeInViewport();
  await listOf(page).focus();
  let rows = await wholeRows(page);
  for (let n = 0; n < 8; n++) {
    await page.keyboard.press('PageUp');
    await rest(page);
    const next = await wholeRows(page);
    expect(next.at(-1)!, `after ${rows}`).toBeGreaterThanOrEqual(rows[0]! - 1);
    expect(next[0]).toBeLessThan(rows[0]!);
    rows = next;
  }
  for (let n = 0; n < 4; n++) {
    await page.keyboard.press('PageDown');
    await rest(page);
    const next = await wholeRows(page);
    expect(next[0]!, `after ${rows}`).toBeLessThanOrEqual(rows.at(-1)! + 1);
    rows = next;
  }
});

test('stays at the end when a message written offline moves below newer ones', async ({ server, logIn }) => {
  await fill(server, 'offline end', 40);
  const { page, context } = await logIn(WRITER, await placeOf(server, 'offline end'));
  await expect(messageWith(page, 'Line 39:')).toBeInViewport();
  await context.setOffline(true);
  await send(page, 'Written offline');
  await expect(messageWith(page, 'Written offline')).toBeInViewport();
  for (let n = 0; n < 3; n++) await post(server, 'othello', 'offline end', `Written online ${n}`);
  await context.setOffline(false);
  await expect(messageWith(page, 'Written online 2')).toBeAttached();
  await expect(page.getByRole('listitem').last()).toContainText('Written offline');
  await rest(page);
  await expect(messageWith(page, 'Written offline')).toBeInViewport({ ratio: 1 });
  await expect(page.getByRole('button', { name: 'Newest message' })).toHaveCount(0);
});
