import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { expect, goTo, messageWith, placeOf, post, test, violationsIn } from './stories.js';

const heading = (page: Page) => page.locator('header[part="header"]');

test('does not mark messages as moved when their topic is resolved', async ({ server, logIn }) => {
  await post(server, 'hamlet', 'old lamps', 'Is this done?');
  const { page } = await logIn('hamlet', await placeOf(server, 'old lamps'));
  const resolve = heading(page).getByRole('button', { name: 'Mark topic as resolved' });
  await resolve.click();
  await expect(resolve).toHaveAttribute('aria-pressed', 'true');
  await expect(messageWith(page, 'Is this done?')).toBeVisible();
  await expect(page.getByRole('main').getByText('moved', { exact: true })).toHaveCount(0);
  await page.reload();
  await expect(messageWith(page, 'Is this done?')).toBeVisible();
  await expect(page.getByRole('main').getByText('moved', { exact: true })).toHaveCount(0);
});

test('shows and switches following and muting in the heading, with marks in the sidebar', async ({ server, logIn }) => {
  await post(server, 'cordelia', 'new lamps', 'Something');
  const { page } = await logIn('hamlet', await placeOf(server, 'new lamps'));
  await page.setViewportSize({ width: 1440, height: 900 });
  const follow = heading(page).getByRole('button', { name: 'Follow topic' });
  const mute = heading(page).getByRole('button', { name: 'Mute topic' });
  const inSidebar = page.locator('[part="sidebar"]').getByRole('link').filter({ hasText: 'new lamps' });
  await expect(heading(page).getByRole('link', { name: /^\d+ (people|person)$/ })).toBeVisible();
  await follow.click();
  await expect(follow).toHaveAttribute('aria-pressed', 'true');
  await expect(inSidebar.getByLabel('Followed')).toBeVisible();
  await mute.click();
  await expect(mute).toHaveAttribute('aria-pressed', 'true');
  await expect(follow).toHaveAttribute('aria-pressed', 'false');
  await expect(inSidebar.getByLabel('muted')).toBeVisible();
  await mute.click();
  await expect(mute).toHaveAttribute('aria-pressed', 'false');
  expect(await violationsIn(page)).toEqual([]);
});

test('finds conversations, people, settings and actions with Ctrl+K as first hits', async ({ server, logIn }) => {
  await post(server, 'cordelia', 'Quarterly plan', 'Numbers');
  const { page } = await logIn('hamlet', await placeOf(server, 'Quarterly plan'));
  await messageWith(page, 'Numbers').waitFor();
  await page.keyboard.press('Control+k');
  const field = page.getByRole('combobox', { name: /Name of a conversation/ });
  const first = page.getByRole('option').first();
  for (const [query, hit] of [
    ['#verona', /^Verona/],
    ['#ver', /^Verona/],
    ['#verona>quart', /^Quarterly plan/],
    ['#quarterly', /^Quarterly plan/],
    ['quart', /^Quarterly plan/],
    ['plan quarterly', /^Quarterly plan/],
    ['@othello', /^Othello/],
    ['@oth', /^Othello/],
    ['@cordelia', /^Cordelia/],
    ['othello', /^Othello/],
    ['inbox', /^Inbox/],
    ['unread', /^(Inbox|Unread)/],
    ['mentions', /^Mentions/],
    ['drafts', /^Drafts/],
    ['follow', /^Follow topic/],
    ['mute topic', /^Mute topic/],
    ['resolve', /^Mark topic as resolved/],
    ['mark all messages', /^Mark all messages as read/],
    ['set status', /^Set status/],
    ['status', /^Set status/],
    ['avatar', /^Profile/],
    ['create channel', /^Create channel/],
    ['keyboard sho', /^Keyboard shortcuts/],
    ['log out', /^Log out/],
    ['density', /^Density/],
  ] as const) {
    await field.fill(query);
    await expect(first, query).toHaveText(hit);
  }
  expect(await violationsIn(page)).toEqual([]);
  await field.fill('follow');
  await page.keyboard.press('Enter');
  await expect(heading(page).getByRole('button', { name: 'Follow topic' })).toHaveAttribute('aria-pressed', 'true');
});

/** Width of the text that an element does not show. A part of a pixel hides letters. */
const hiddenWidth = (element: HTMLElement | SVGElement): number => {
  const text = document.createRange();
  text.selectNodeContents(element);
  return text.getBoundingClientRect().width - element.getBoundingClientRect().width;
};

test('shows a topic of usual length whole in the heading of a narrow window', async ({ server, logIn }) => {
  const { streams } = await server.call('iago', 'GET', '/streams');
  const { stream_id: id } = streams.find(({ name }: { name: string }) => name === 'Verona');
  await server.call('iago', 'PATCH', `/streams/${id}`, {
    description: `A city in Italy ${'with many words '.repeat(9)}`,
  });
  const { page } = await logIn('hamlet', await placeOf(server, 'design review'));
  const topic = heading(page).getByRole('heading', { level: 1 }).getByText('design review');
  for (const width of [1440, 1280, 1110, 1000, 961, 868, 768]) {
    await page.setViewportSize({ width, height: 700 });
    await expect.poll(() => topic.evaluate(hiddenWidth), `at ${width} pixels`).toBeLessThan(0.02);
  }
});

test('names the day of the newest messages', async ({ server, logIn }) => {
  await post(server, 'hamlet', 'today', 'Now');
  const { page } = await logIn('hamlet', await placeOf(server, 'today'));
  const day = page.locator('[part="day"]').last();
  await expect(day).toHaveText('Today');
  await page.clock.install();
  await page.reload();
  await expect(day).toHaveText('Today');
  await page.clock.fastForward(24 * 3_600_000);
  await expect(day).toHaveText('Yesterday');
});

test('shows the date of a conversation after midnight instead of its time', async ({ server, logIn }) => {
  await post(server, 'cordelia', 'midnight', 'Now');
  const { page } = await logIn('hamlet', '#inbox');
  await page.clock.install();
  for (const list of ['#inbox', '#recent']) {
    await goTo(page, list);
    const time = page.locator('main a[data-row]').filter({ hasText: 'midnight' }).locator('time');
    await expect(time).toHaveText(/\d:\d\d/);
    await page.clock.fastForward(24 * 3_600_000);
    await expect(time).not.toHaveText(/:/);
    await page.clock.setSystemTime(Date.now());
  }
});

test('leads from a row of the inbox to its heading, and returns the focus with an undo', async ({ server, logIn }) => {
  await post(server, 'cordelia', 'row one', 'One');
  await post(server, 'cordelia', 'row two', 'Two');
  const { page } = await logIn('hamlet', '#inbox');
  await goTo(page, '#inbox');
  const row = page.locator('main a[data-row]').filter({ hasText: 'row one' });
  await row.focus();
  await page.keyboard.press('Shift+U');
  await expect(row).toHaveCount(0);
  await page.keyboard.press('Control+z');
  await expect(row).toBeFocused();
  await page.keyboard.press('ArrowLeft');
  await expect(page.locator('[data-row^="section:"]').filter({ hasText: 'Verona' })).toBeFocused();
});

test('enlarges messages of a few emoji, and shows no line with the link of an image', async ({ server, logIn }) => {
  const picture = readFileSync(join(import.meta.dirname, '../../../../docs/images/web-client.png'));
  const { url } = (await server.upload('cordelia', '/user_uploads', 'lamp.png', picture)) as { url: string };
  await post(server, 'cordelia', 'looks', `[lamp.png](${url})`);
  await post(server, 'iago', 'looks', ':tada: :heart:');
  await post(server, 'othello', 'looks', 'Words :tada:');
  const { page } = await logIn('hamlet', await placeOf(server, 'looks'));
  const heightIn = async (sender: string) =>
    (await messageWith(page, sender).getByRole('img', { name: 'tada' }).boundingBox())!.height;
  await expect(messageWith(page, 'Othello')).toBeVisible();
  expect(await heightIn('Iago')).toBeGreaterThan(1.6 * (await heightIn('Othello')));
  await expect(messageWith(page, 'Cordelia').getByRole('img', { name: 'lamp.png' })).toBeVisible();
  await expect(page.getByRole('main').getByText('lamp.png', { exact: true })).toHaveCount(0);
});

test('isolates names and previews, and cuts long ones at their own end in either direction', async ({
  server,
  logIn,
}) => {
  await post(server, 'cordelia', 'ticket?', 'Is there a ticket?');
  const hebrew = `${'התחלה '.repeat(3)}${'מילים '.repeat(80)}`.trim();
  const latin = `Start here ${'words '.repeat(80)}`.trim();
  await post(server, 'cordelia', hebrew.slice(0, 59).trim(), hebrew);
  await post(server, 'cordelia', `Start ${'w'.repeat(50)}`, latin);
  for (const locale of ['he-IL', 'en-US']) {
    const { page, context } = await logIn('hamlet', '#recent', { locale, viewport: { width: 400, height: 800 } });
    await expect(page.locator('html')).toHaveAttribute('dir', locale === 'he-IL' ? 'rtl' : 'ltr');
    const row = page.locator('main a[data-row]').filter({ hasText: 'Is there a ticket?' });
    for (const text of ['Is there a ticket?', 'ticket?']) {
      const part = row.getByText(text, { exact: true });
      expect(await part.evaluate((each) => [each.tagName, getComputedStyle(each).direction])).toEqual(['BDI', 'ltr']);
    }
    for (const place of ['#recent', '#inbox']) {
      await goTo(page, place);
      for (const text of [hebrew, latin]) {
        const long = page
          .locator('main a[data-row]')
          .filter({ hasText: text.slice(0, 30) })
          .locator('bdi');
        await expect(long.last()).toBeVisible();
        /** Distances of the first letter of each text from the edges of what is visible of it. */
        const cuts = await long.evaluateAll((parts) =>
          parts.map((part) => {
            const letter = document.createRange();
            letter.setStart(part.firstChild!, 0);
            letter.setEnd(part.firstChild!, 1);
            const [seen, first] = [part.parentElement!.getBoundingClientRect(), letter.getBoundingClientRect()];
            return Math.min(first.left - seen.left, seen.right - first.right);
          }),
        );
        for (const cut of cuts) expect(cut, `${locale} ${place} ${text.slice(0, 6)}`).toBeGreaterThan(-1);
      }
    }
    await context.close();
  }
});

test('shows times as usual in the language to people who chose no format', async ({ server, logIn }) => {
  await post(server, 'cordelia', 'times', 'Words');
  const { page } = await logIn('hamlet', await placeOf(server, 'times'), { locale: 'de-DE' });
  const time = messageWith(page, 'Words').locator('time').first();
  const setHours = (value: boolean) => server.call('hamlet', 'PATCH', '/settings', { twenty_four_hour_time: value });
  await expect(time).toHaveText(/^\d\d:\d\d$/);
  await page.reload();
  await expect(time).toHaveText(/^\d\d:\d\d$/);
  await setHours(true);
  // The client has received the first change.
  await expect.poll(() => page.evaluate(() => localStorage.getItem('parley-hours'))).toBe('true');
  await setHours(false);
  await expect(time).toHaveText(/[AP]M$/);
  await page.reload();
  await expect(time).toHaveText(/[AP]M$/);
});
