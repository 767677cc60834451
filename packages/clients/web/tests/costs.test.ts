import type { Page } from '@playwright/test';
import { expect, goTo, messageWith, placeOf, post, test } from './stories.js';

/** Elements added to the page while something runs and one second afterwards. */
async function addedBy(page: Page, run: () => Promise<unknown>): Promise<number> {
  await page.evaluate(() => {
    const counter = { added: 0 };
    Object.assign(globalThis, { counter });
    const observer = new MutationObserver((records) => {
      for (const node of records.flatMap(({ addedNodes }) => [...addedNodes])) {
        if (node instanceof Element) counter.added += 1 + node.querySelectorAll('*').length;
      }
    });
    observer.observe(document.body, { childList: true, subtree: true });
  });
  await run();
  await page.waitForTimeout(1000);
  return page.evaluate(() => (globalThis as unknown as { counter: { added: number } }).counter.added);
}

test('adds few elements to the page for the first key of Ctrl+K', async ({ logIn }) => {
  const { page } = await logIn('hamlet', '#inbox');
  await page.keyboard.press('Control+k');
  await expect(page.getByRole('option').first()).toBeVisible();
  // Topics and settings arrive afterwards, while the page is idle.
  expect(await addedBy(page, () => page.keyboard.press('e'))).toBeLessThanOrEqual(50);
  await page.waitForTimeout(1000);
  await page.keyboard.press('Backspace');
  expect(await addedBy(page, () => page.keyboard.press('o'))).toBeLessThanOrEqual(50);
  await page.keyboard.type('nly un');
  await page.getByRole('combobox').fill('two-factor');
  await expect(page.getByRole('option', { name: 'Second factors Account and privacy' })).toBeVisible();
});

test('draws a screen of recent conversations, and more while the list is scrolled', async ({ server, logIn }) => {
  await post(server, 'cordelia', 'oldest of many', 'Words');
  for (let n = 0; n < 100; n++) await post(server, 'cordelia', `many ${n}`, 'Words');
  const { page } = await logIn('hamlet', '#inbox');
  await expect(page.locator('main a[data-row]').first()).toBeVisible();
  expect(await addedBy(page, () => goTo(page, '#recent'))).toBeLessThanOrEqual(1500);
  const row = page.locator('main a[data-row]').filter({ hasText: 'oldest of many' });
  await expect(row).toHaveCount(0);
  await expect(async () => {
    await page.locator('main a[data-row]').last().scrollIntoViewIfNeeded();
    await expect(row).toHaveCount(1, { timeout: 500 });
  }).toPass();
  await row.click();
  await expect(messageWith(page, 'Words')).toBeVisible();
  await page.goBack();
  await expect(row).toBeFocused();
});

test('draws a screen of unread conversations, and more while the list is scrolled', async ({ server, logIn }) => {
  await post(server, 'cordelia', 'first of many', 'Words');
  for (let n = 0; n < 100; n++) await post(server, 'cordelia', `unread ${n}`, 'Words');
  const { page } = await logIn('hamlet', '#recent');
  await expect(page.locator('main a[data-row]').first()).toBeVisible();
  expect(await addedBy(page, () => goTo(page, '#inbox'))).toBeLessThanOrEqual(1500);
  const row = page.locator('main a[data-row]').filter({ hasText: 'first of many' });
  await expect(row).toHaveCount(0);
  const list = page.getByRole('region', { name: 'Inbox' });
  await list.focus();
  await expect(async () => {
    await page.keyboard.press('PageDown');
    await expect(row).toHaveCount(1, { timeout: 100 });
  }).toPass({ intervals: [0] });
  await row.click();
  await page.goBack();
  await expect(list).toBeVisible();
  await expect(list.locator('[data-row]:focus')).toHaveCount(1);
});

test('shows the channels of the sidebar in their final place at once', async ({ server, logIn }) => {
  await post(server, 'cordelia', 'place', 'Words');
  const { page } = await logIn('hamlet', await placeOf(server, 'place'));
  await expect(messageWith(page, 'Words')).toBeVisible();
  await page.addInitScript(() => {
    const tops = new Set<number>();
    Object.assign(globalThis, { tops });
    const look = () => {
      const list = document.querySelector('[part="sidebar"] nav');
      const heading = list?.querySelector('a[href^="#narrow/channel"]')?.closest('details')?.querySelector('h2');
      if (heading) tops.add(Math.round(heading.getBoundingClientRect().top + list!.scrollTop));
      requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  });
  await page.reload();
  await expect(page.getByRole('textbox', { name: 'Message', exact: true })).toBeVisible();
  await page.waitForTimeout(1000);
  expect(await page.evaluate(() => [...(globalThis as unknown as { tops: Set<number> }).tops])).toHaveLength(1);
});

test('shows the messages in their final height before the composer is loaded', async ({ server, logIn }) => {
  await post(server, 'cordelia', 'final height', 'Words');
  const devices = [
    { viewport: { width: 1280, height: 720 } },
    { viewport: { width: 390, height: 800 }, isMobile: true, hasTouch: true },
  ];
  const places = [await placeOf(server, 'final height'), '#feed'];
  for (const device of devices) {
    for (const place of places) {
      const { page } = await logIn('hamlet', place, device);
      await expect(messageWith(page, 'Words').last()).toBeVisible();
      await page.addInitScript(() => {
        const heights = new Set<number>();
        Object.assign(globalThis, { heights });
        const look = () => {
          const list = document.querySelector('[data-messages]:has(article)');
          if (list) heights.add(list.clientHeight);
          requestAnimationFrame(look);
        };
        requestAnimationFrame(look);
      });
      await page.reload();
      await expect(messageWith(page, 'Words').last()).toBeVisible();
      await page.waitForTimeout(1500);
      expect(
        await page.evaluate(() => [...(globalThis as unknown as { heights: Set<number> }).heights]),
        `${place} at ${device.viewport.width} pixels`,
      ).toHaveLength(1);
    }
  }
});
