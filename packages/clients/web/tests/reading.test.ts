import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { FULL_CHROMIUM } from './browsers.js';
import {
  choose,
  expect,
  gate,
  goTo,
  idOf,
  messageWith,
  type Person,
  placeOf,
  post,
  pressIn,
  type Server,
  send,
  test,
} from './stories.js';

test.use({ asksAboutNotifications: true, launchOptions: FULL_CHROMIUM });

const READER = 'cordelia';
const PICTURE = readFileSync(join(import.meta.dirname, '../../../../docs/images/web-client.png'));

/** Sends messages of different heights, which their sender has read. */
async function fill(server: Server, topic: string, count: number): Promise<readonly number[]> {
  const ids: number[] = [];
  for (let i = 0; i < count; i++)
    ids.push((await post(server, READER, topic, `Row ${i} ${'words '.repeat((i * 7) % 40)}`)).id);
  return ids;
}

const listOf = (page: Page) => page.getByRole('region', { name: 'Messages' });

/** Distance of a message from the upper edge of the list. */
const topOf = (page: Page, text: string): Promise<number> =>
  messageWith(page, text).evaluate(
    (row) => row.getBoundingClientRect().top - row.closest('section')!.getBoundingClientRect().top,
  );

/** Scrolls up until a message is visible, and waits until the list is at rest. */
async function scrollUpTo(page: Page, text: string): Promise<void> {
  await listOf(page).hover();
  const offset = () => listOf(page).evaluate(({ scrollTop }) => scrollTop);
  await expect(async () => {
    const before = await offset();
    await page.mouse.wheel(0, -400);
    // A second step before the first one would pass over the message.
    await expect.poll(offset, { timeout: 2000 }).not.toBe(before);
    await expect(messageWith(page, text)).toBeInViewport({ timeout: 100 });
  }).toPass();
  let before = Number.NaN;
  await expect(async () => {
    const last = before;
    before = await topOf(page, text);
    expect(before).toBe(last);
  }).toPass({ intervals: [300] });
}

/** Index of the first fully visible row. */
const firstWholeRow = (page: Page): Promise<number> =>
  listOf(page).evaluate((list) => {
    const { top } = list.getBoundingClientRect();
    const rows = [...list.querySelectorAll('article')].filter((row) => row.textContent?.includes('Row '));
    const row = rows.find((each) => each.getBoundingClientRect().top >= top)!;
    return Number(/Row (\d+)/.exec(row.textContent ?? '')![1]);
  });

/** Index of the row in the middle. */
const middleRow = (page: Page): Promise<number> =>
  listOf(page).evaluate((list) => {
    const { left, width, top, height } = list.getBoundingClientRect();
    const row = document.elementFromPoint(left + width / 2, top + height / 2)!.closest('[data-key]')!;
    return Number(/Row (\d+)/.exec(row.textContent ?? '')![1]);
  });

/** True once the browser has saved the reading position, which happens when the list is at rest. */
const isKept = (page: Page): Promise<boolean> =>
  listOf(page).evaluate((list) => {
    const { id = 0, top = 0 } = history.state?.parleyReading ?? {};
    const row = list.querySelector(`[data-key="${id}"]`);
    const actual = row ? row.getBoundingClientRect().top : Number.NaN;
    return Math.abs(actual - top) <= 1;
  });

const isRead = async (server: Server, person: string, id: number): Promise<boolean> =>
  (await server.call(person, 'GET', `/messages/${id}`)).message.flags.includes('read');

test('restores the previous place with the back button and after a reload', async ({ server, logIn }) => {
  await fill(server, 'return-here', 120);
  const { page } = await logIn(READER, await placeOf(server, 'return-here'));
  await expect(messageWith(page, 'Row 119')).toBeInViewport();
  // The prompt moves the top of the list, not the messages.
  const question = page.getByRole('region', { name: 'Notifications' });
  await expect(question).toBeVisible();
  await scrollUpTo(page, 'Row 83 ');
  await expect.poll(() => isKept(page)).toBe(true);
  const top = await topOf(page, 'Row 83 ');
  await goTo(page, '#recent');
  await expect(messageWith(page, 'Row 83 ')).toHaveCount(0);
  await page.goBack();
  await expect(messageWith(page, 'Row 83 ')).toBeInViewport();
  await expect.poll(async () => Math.abs((await topOf(page, 'Row 83 ')) - top)).toBeLessThanOrEqual(1);
  await page.reload();
  await expect(messageWith(page, 'Row 83 ')).toBeInViewport();
  await expect(question).toBeVisible();
  await expect.poll(async () => Math.abs((await topOf(page, 'Row 83 ')) - top)).toBeLessThanOrEqual(1);
});

test('follows a link even if the previous conversation comes to rest afterwards', async ({ server, logIn }) => {
  await fill(server, 'at-rest-late', 40);
  await post(server, READER, 'followed', 'Where the link leads');
  const { page } = await logIn(READER, await placeOf(server, 'at-rest-late'));
  await page.addInitScript(() => {
    // A busy page detects an address change late.
    addEventListener('hashchange', (event) => {
      if (!event.isTrusted) return;
      event.stopImmediatePropagation();
      setTimeout(() => dispatchEvent(new HashChangeEvent('hashchange')), 500);
    });
  });
  await page.reload();
  await expect(messageWith(page, 'Row 39 ')).toBeInViewport();
  await listOf(page).evaluate((list) => list.scrollBy(0, -300));
  await goTo(page, await placeOf(server, 'followed'));
  await expect(messageWith(page, 'Where the link leads')).toBeVisible();
  await page.waitForTimeout(1000);
  await expect(messageWith(page, 'Where the link leads')).toBeVisible();
});

test('returns to the end, below messages that are still unread', async ({ server, logIn }) => {
  await fill(server, 'left at the end', 60);
  const { page } = await logIn('othello', await placeOf(server, 'left at the end'));
  await page.getByRole('button', { name: 'Newest message' }).click();
  await expect(messageWith(page, 'Row 59 ')).toBeInViewport();
  await expect.poll(() => page.evaluate(() => history.state?.parleyReading?.top)).toBe(null);
  await goTo(page, '#recent');
  await expect(listOf(page)).toBeHidden();
  await page.goBack();
  await expect(messageWith(page, 'Row 59 ')).toBeInViewport();
  await expect(page.getByRole('button', { name: 'First unread message' })).toBeVisible();
  await page.reload();
  await expect(messageWith(page, 'Row 59 ')).toBeInViewport();
});

test('marks messages as read while others keep coming', async ({ server, logIn }) => {
  await post(server, READER, 'busy', 'The first');
  const { page } = await logIn('othello', await placeOf(server, 'busy'));
  await messageWith(page, 'The first').waitFor();
  const ids: number[] = [];
  const isRead = async (id: number) =>
    (await server.call('othello', 'GET', `/messages/${id}`)).message.flags.includes('read');
  await expect(async () => {
    ids.push((await post(server, READER, 'busy', `Next ${ids.length}`)).id);
    expect(await isRead(ids[0]!)).toBe(true);
  }).toPass({ intervals: [200] });
});

test('shows the first unread message after a link to a later one, and follows the link again', async ({
  server,
  logIn,
}) => {
  const ids = await fill(server, 'linked twice', 60);
  const place = `${await placeOf(server, 'linked twice')}/near/${ids[40]}`;
  await post(server, READER, 'links', `The [link](${place})`);
  const { page } = await logIn('othello', await placeOf(server, 'links'));
  await messageWith(page, 'The link').getByRole('link', { name: 'link' }).click();
  await expect(messageWith(page, 'Row 40 ')).toBeInViewport();
  await page.getByRole('button', { name: 'First unread message' }).click();
  await expect(page.getByText('New', { exact: true })).toBeInViewport();
  await expect(messageWith(page, 'Row 0 ')).toBeInViewport();
  const again = page.getByRole('navigation', { name: 'Conversations' }).getByRole('link', { name: 'linked twice' });
  for (let i = 0; i < 2; i++) {
    await page.getByRole('button', { name: 'Newest message' }).click();
    await expect(messageWith(page, 'Row 59 ')).toBeInViewport();
    await again.click();
    await expect(page.getByText('New', { exact: true })).toBeInViewport();
  }
});

/** Opens a conversation above its end and requests the newest message while offline: the newest known one is shown. */
async function goToNewestOffline(server: Server, { page, context }: Person, topic: string): Promise<void> {
  const ids = await fill(server, topic, 150);
  await page.goto(`${server.url}/${await placeOf(server, topic)}/near/${ids[30]}`);
  await expect(messageWith(page, 'Row 30 ')).toBeInViewport();
  await context.setOffline(true);
  await expect(page.getByText('No connection since')).toBeVisible();
  await page.getByRole('button', { name: 'Newest message' }).click();
  const below = () => listOf(page).evaluate((list) => list.scrollHeight - list.scrollTop - list.clientHeight);
  await expect.poll(below).toBeLessThanOrEqual(1);
}

test('counts messages that arrive below the visible ones, and jumps to them', async ({ server, logIn }) => {
  await fill(server, 'arriving below', 60);
  const { page } = await logIn(READER, await placeOf(server, 'arriving below'));
  await expect(messageWith(page, 'Row 59 ')).toBeInViewport();
  await listOf(page).hover();
  await page.mouse.wheel(0, -600);
  const newest = page.getByRole('button', { name: 'Newest message' });
  await expect(newest).toBeVisible();
  await post(server, READER, 'arriving below', 'My own message');
  for (let n = 0; n < 3; n++) await post(server, 'othello', 'arriving below', `Answer ${n}`);
  const arrived = page.getByRole('button', { name: '3 new messages' });
  await expect(arrived).toBeVisible();
  const listBox = (await listOf(page).boundingBox())!;
  expect((await arrived.boundingBox())!.y, 'the button covers no message').toBeGreaterThanOrEqual(
    listBox.y + listBox.height,
  );
  await arrived.click();
  await expect(messageWith(page, 'Answer 2')).toBeInViewport({ ratio: 1 });
  await listOf(page).hover();
  await page.mouse.wheel(0, -600);
  await expect(newest).toBeVisible();
});

test('jumps to the newest known message while offline, and to the newest when back online', async ({
  server,
  logIn,
}) => {
  const person = await logIn('othello');
  const { page, context } = person;
  await goToNewestOffline(server, person, 'newest-offline');
  await expect(messageWith(page, 'Row 149 ')).toHaveCount(0);
  await context.setOffline(false);
  await expect(messageWith(page, 'Row 149 ')).toBeInViewport();
  await expect(page.getByRole('button', { name: 'Newest message' })).toBeHidden();
});

test('stays at the reading position after a request for the newest message while offline', async ({
  server,
  logIn,
}) => {
  const person = await logIn('othello');
  const { page, context } = person;
  await goToNewestOffline(server, person, 'stays-offline');
  await scrollUpTo(page, 'Row 40 ');
  const row = messageWith(page, 'Row 40 ');
  const place = async () => (await row.boundingBox())!.y;
  const before = await place();
  const loaded = page.waitForResponse((response) => response.url().includes('/json/messages?'));
  await context.setOffline(false);
  await loaded;
  await expect(page.getByText('No connection since')).toBeHidden();
  await expect(page.getByRole('button', { name: 'Newest message' })).toBeVisible();
  expect(Math.abs((await place()) - before)).toBeLessThanOrEqual(1);
});

test('opens at the first unread message below a persistent line, and jumps to it and to the newest', async ({
  server,
  logIn,
}) => {
  const ids = await fill(server, 'new-line', 60);
  await server.call('othello', 'POST', '/messages/flags', { messages: ids.slice(0, 20), op: 'add', flag: 'read' });
  const { page } = await logIn('othello', await placeOf(server, 'new-line'));
  const line = page.getByText('New', { exact: true });
  await expect(line).toBeInViewport();
  await expect(messageWith(page, 'Row 20 ')).toBeInViewport();
  await expect.poll(() => isRead(server, 'othello', ids[20]!)).toBe(true);
  await expect(line).toBeInViewport();
  await page.getByRole('button', { name: 'Newest message' }).click();
  await expect(messageWith(page, 'Row 59')).toBeInViewport();
  await expect(line).not.toBeInViewport();
  await page.getByRole('button', { name: 'First unread message' }).click();
  await expect(line).toBeInViewport();
  await expect(messageWith(page, 'Row 20 ')).toBeInViewport();
});

test('selects messages by keyboard, starting with visible ones', async ({ server, logIn }) => {
  const ids = await fill(server, 'by-keyboard', 60);
  await server.call('othello', 'POST', '/messages/flags', { messages: ids.slice(0, 20), op: 'add', flag: 'read' });
  const { page } = await logIn('othello', await placeOf(server, 'by-keyboard'));
  const line = page.getByText('New', { exact: true });
  await expect(line).toBeInViewport();
  for (const key of ['k', 'k', 'j', 'j']) {
    await page.keyboard.press(key);
    await expect(page.getByRole('listitem').and(page.locator(':focus'))).toBeInViewport();
  }
  await expect(line).toBeInViewport();
});

test('shows the "New" line above an own message that is marked as unread', async ({ server, logIn }) => {
  const { page } = await logIn('othello', await placeOf(server, 'own unread'));
  await send(page, 'Written here');
  await expect(messageWith(page, 'Written here')).toBeVisible();
  await choose(page, 'Written here', 'Mark as unread from here');
  await expect(page.getByText('New', { exact: true })).toBeVisible();
  await expect(page.getByRole('button', { name: 'First unread message' })).toHaveCount(0);
});

test('marks nothing as read after "mark as unread from here" until the reader leaves', async ({ server, logIn }) => {
  const ids = await fill(server, 'unread-again', 3);
  const place = await placeOf(server, 'unread-again');
  const { page } = await logIn('othello', place);
  await expect.poll(() => isRead(server, 'othello', ids[2]!)).toBe(true);
  await choose(page, 'Row 1 ', 'Mark as unread from here');
  await expect.poll(() => isRead(server, 'othello', ids[1]!)).toBe(false);
  const { id: later } = await post(server, READER, 'unread-again', 'Arrived later');
  await expect(messageWith(page, 'Arrived later')).toBeInViewport();
  // Longer than a message must be visible, and longer than marks are batched.
  await page.waitForTimeout(2500);
  expect(await isRead(server, 'othello', ids[2]!)).toBe(false);
  expect(await isRead(server, 'othello', later)).toBe(false);
  await goTo(page, '#recent');
  await goTo(page, place);
  await expect.poll(() => isRead(server, 'othello', later)).toBe(true);
});

test('opens a link to an own message, and marks own messages as read again', async ({ server, logIn }) => {
  const place = await placeOf(server, 'own-messages');
  const { page } = await logIn(READER, place);
  const sent = page.waitForResponse('**/json/messages');
  await send(page, 'Sent here');
  const { id } = await (await sent).json();
  await goTo(page, `${place}/near/${id}`);
  await expect(messageWith(page, 'Sent here')).toBeInViewport();
  await expect(page.getByText('The message at this address was deleted or moved.')).toHaveCount(0);
  await choose(page, 'Sent here', 'Mark as unread from here');
  await expect.poll(() => isRead(server, READER, id)).toBe(false);
  await goTo(page, '#recent');
  await goTo(page, place);
  await expect(page.getByText('New', { exact: true })).toBeInViewport();
  await expect.poll(() => isRead(server, READER, id)).toBe(true);
});

test('marks nothing as read in searches, starred messages and mentions', async ({ server, logIn }) => {
  const { id } = await post(
    server,
    READER,
    'marks-nothing',
    `Pomegranate for @**Othello, the Moor of Venice|${await idOf(server, 'othello')}**`,
  );
  await server.call('othello', 'POST', '/messages/flags', { messages: [id], op: 'add', flag: 'starred' });
  const { page } = await logIn('othello', '#narrow/search/Pomegranate');
  for (const place of ['#narrow/search/Pomegranate', '#narrow/is/starred', '#narrow/is/mentioned']) {
    await goTo(page, place);
    await expect(messageWith(page, 'Pomegranate')).toBeInViewport();
    await page.waitForTimeout(1700);
    expect(await isRead(server, 'othello', id)).toBe(false);
  }
  await goTo(page, await placeOf(server, 'marks-nothing'));
  await expect.poll(() => isRead(server, 'othello', id)).toBe(true);
});

test('keeps the reading position while messages, edits, reactions and the composer change around it', async ({
  server,
  logIn,
}) => {
  test.slow();
  const ids = await fill(server, 'stays-in-place', 150);
  const { page } = await logIn(READER, await placeOf(server, 'stays-in-place'));
  await expect(messageWith(page, 'Row 149')).toBeInViewport();
  await scrollUpTo(page, 'Row 133 ');
  const middle = await middleRow(page);
  const text = `Row ${middle} `;
  const top = await topOf(page, text);
  const stays = async (cause: string) => {
    await page.waitForTimeout(200);
    expect(Math.abs((await topOf(page, text)) - top), cause).toBeLessThanOrEqual(1);
  };
  const change = async (at: number) => {
    const content = `Row ${at} grew ${'and grew '.repeat(200)}`;
    await server.call(READER, 'PATCH', `/messages/${ids[at]}`, { content });
    await expect(page.getByText(`Row ${at} grew`)).toBeAttached();
  };
  const react = async (at: number) => {
    await server.call('iago', 'POST', `/messages/${ids[at]}/reactions`, { emoji_name: 'tada' });
    await expect(messageWith(page, `Row ${at} `).getByRole('button', { name: /:tada:/ })).toBeAttached();
  };
  const below = await topOf(page, `Row ${middle + 2} `);
  await messageWith(page, `Row ${middle + 1} `).hover();
  expect(Math.abs((await topOf(page, `Row ${middle + 2} `)) - below), 'the pointer').toBeLessThanOrEqual(1);
  await react(middle - 1);
  await stays('a reaction above');
  await change(middle - 2);
  await stays('an edit above');
  await change(middle + 1);
  await stays('an edit below');
  await post(server, 'iago', 'stays-in-place', 'Arrived at the end');
  await expect(page.getByRole('button', { name: '1 new message' })).toBeVisible();
  await stays('a new message');
  const field = page.getByRole('textbox', { name: 'Message' });
  await field.fill('One\ntwo\nthree\nfour\nfive');
  await stays('a growing composer');
  await field.fill('');
  await stays('a shrinking composer');
});

test('keeps the focused message and its edit in place while visible rows above change', async ({ server, logIn }) => {
  const ids = await fill(server, 'focus-in-place', 60);
  const { page } = await logIn(READER, await placeOf(server, 'focus-in-place'));
  await expect(messageWith(page, 'Row 59')).toBeInViewport();
  await scrollUpTo(page, 'Row 40 ');
  const first = await firstWholeRow(page);
  const focused = first + 4;
  const text = `Row ${focused} `;
  const react = async (emoji: string) => {
    await server.call('iago', 'POST', `/messages/${ids[first + 2]}/reactions`, { emoji_name: emoji });
    await expect(messageWith(page, `Row ${first + 2} `).getByRole('button', { name: `:${emoji}:` })).toBeVisible();
    await page.waitForTimeout(200);
  };
  await page.locator('[data-key]', { hasText: text }).focus();
  const top = await topOf(page, text);
  await server.call(READER, 'PATCH', `/messages/${ids[first + 1]}`, { content: `Row ${first + 1}\n\ngrew` });
  await expect(messageWith(page, `Row ${first + 1}`)).toContainText('grew');
  await react('tada');
  expect(Math.abs((await topOf(page, text)) - top), 'the focus').toBeLessThanOrEqual(1);
  await page.keyboard.press('e');
  const field = page.getByRole('textbox', { name: 'Edit message' });
  await expect(field).toBeFocused();
  const edited = (await field.boundingBox())!.y;
  await server.call('iago', 'DELETE', `/messages/${ids[first + 2]}/reactions`, { emoji_name: 'tada' });
  await page.waitForTimeout(300);
  expect(Math.abs((await field.boundingBox())!.y - edited), 'the edit').toBeLessThanOrEqual(1);
});

test('keeps the reading position while lines above the list appear and disappear', async ({ server, logIn }) => {
  await fill(server, 'lines-above', 60);
  const { page, context } = await logIn(READER, await placeOf(server, 'lines-above'));
  await scrollUpTo(page, 'Row 43 ');
  const row = messageWith(page, `Row ${await firstWholeRow(page)} `);
  const topOnScreen = async () => (await row.boundingBox())!.y;
  const top = await topOnScreen();
  const stays = async (cause: string) => {
    await page.waitForTimeout(200);
    expect(Math.abs((await topOnScreen()) - top), cause).toBeLessThanOrEqual(1);
  };
  await page.getByRole('button', { name: 'No', exact: true }).click();
  await expect(page.getByRole('region', { name: 'Notifications' })).toHaveCount(0);
  await stays('an answered question');
  const offline = page.getByText('No connection since');
  await context.setOffline(true);
  await expect(offline).toBeVisible();
  await stays('a lost connection');
  await context.setOffline(false);
  await expect(offline).toHaveCount(0);
  await stays('a connection that returned');
});

test('keeps the reading position when the queue has expired', async ({ server, logIn }) => {
  await fill(server, 'queue-gone', 75);
  await Promise.all(Array.from({ length: 225 }, (_, n) => post(server, READER, 'queue-gone', `Later ${n}`)));
  const { page } = await logIn(READER, await placeOf(server, 'queue-gone'));
  let queueId = '';
  page.on('request', (request) => {
    queueId = new URL(request.url()).searchParams.get('queue_id') ?? queueId;
  });
  await page.reload();
  await scrollUpTo(page, 'Row 60 ');
  await expect.poll(() => queueId).not.toBe('');
  const row = `Row ${await firstWholeRow(page)} `;
  const top = await topOf(page, row);
  const sizeOf = () => listOf(page).getByRole('listitem').first().getAttribute('aria-setsize');
  const size = await sizeOf();
  await server.call(READER, 'DELETE', '/events', { queue_id: queueId });
  await expect.poll(sizeOf).not.toBe(size);
  await page.waitForTimeout(500);
  expect(Math.abs((await topOf(page, row)) - top)).toBeLessThanOrEqual(1);
  await page.getByRole('button', { name: 'Newest message' }).click();
  await expect(page.getByRole('button', { name: 'Newest message' })).toBeHidden();
});

test('stays at the end on a phone while a prompt appears, text is typed and the keyboard opens', async ({
  server,
  logIn,
}) => {
  await fill(server, 'stays-at-end', 30);
  const { page } = await logIn(READER, await placeOf(server, 'stays-at-end'));
  await page.setViewportSize({ width: 390, height: 800 });
  await page.reload();
  const question = page.getByRole('region', { name: 'Notifications' });
  await expect(question).toBeVisible();
  const isWhole = (text: string) => expect(messageWith(page, text)).toBeInViewport({ ratio: 1 });
  await isWhole('Row 29 ');
  const field = page.getByRole('textbox', { name: 'Message' });
  await field.fill('Sent by phone');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await isWhole('Sent by phone');
  await post(server, 'iago', 'stays-at-end', 'Answered');
  await isWhole('Answered');
  await field.fill('One\ntwo\nthree\nfour\nfive');
  await post(server, 'iago', 'stays-at-end', 'Answered meanwhile');
  await isWhole('Answered meanwhile');
  await page.setViewportSize({ width: 390, height: 520 });
  await isWhole('Answered meanwhile');
  await field.fill('');
  await question.getByRole('button', { name: 'No', exact: true }).click();
  await isWhole('Answered meanwhile');
});

test('stays at the end when a long message arrives while the list shrinks', async ({ server, logIn }) => {
  await fill(server, 'shrinks', 30);
  const { page } = await logIn(READER, await placeOf(server, 'shrinks'));
  await page.addInitScript(() => {
    window.ResizeObserver = class extends ResizeObserver {
      constructor(onResize: ResizeObserverCallback) {
        // A busy page detects changed sizes late.
        super((...args) =>
          document.documentElement.dataset.busy ? setTimeout(() => onResize(...args), 500) : onResize(...args),
        );
      }
    };
  });
  await page.reload();
  await expect(messageWith(page, 'Row 29 ')).toBeInViewport({ ratio: 1 });
  const field = page.getByRole('textbox', { name: 'Message' });
  await expect(field).toBeVisible();
  await expect(page.getByRole('button', { name: 'Newest message' })).toHaveCount(0);
  await page.evaluate(() => {
    document.documentElement.dataset.busy = 'true';
  });
  await field.fill('One\ntwo\nthree\nfour\nfive');
  await post(server, 'iago', 'shrinks', `Answered ${'at length '.repeat(60)}`);
  await expect(messageWith(page, 'Answered at length')).toBeInViewport();
  await expect(page.getByRole('button', { name: 'Newest message' })).toHaveCount(0);
});

test('shows a message sent slightly above the end', async ({ server, logIn }) => {
  await fill(server, 'sent-above', 30);
  const { page } = await logIn(READER, await placeOf(server, 'sent-above'));
  await expect(messageWith(page, 'Row 29 ')).toBeInViewport();
  const newest = page.getByRole('button', { name: 'Newest message' });
  await expect(newest).toHaveCount(0);
  await listOf(page).hover();
  await page.mouse.wheel(0, -100);
  await expect(newest).toBeVisible();
  await page.getByRole('textbox', { name: 'Message' }).fill('Sent from above');
  await page.keyboard.press('Control+Enter');
  await expect(messageWith(page, 'Sent from above')).toBeAttached();
  await newest.click();
  await expect(messageWith(page, 'Sent from above')).toBeInViewport({ ratio: 1 });
  await expect(newest).toHaveCount(0);
});

test('keeps an edit and a new option while their rows are scrolled away', async ({ server, logIn }) => {
  await post(server, READER, 'written-in-rows', '/poll Where do we meet?\nAt home');
  await post(server, READER, 'written-in-rows', 'Edited slowly');
  await fill(server, 'written-in-rows', 50);
  const place = await placeOf(server, 'written-in-rows');
  const { page } = await logIn(READER, place);
  const option = page.getByRole('textbox', { name: 'New option' });
  // Older messages load on the way.
  const goToStart = () =>
    expect(async () => {
      await listOf(page).focus();
      await page.keyboard.press('Home');
      await expect(option).toBeInViewport({ timeout: 500 });
    }).toPass();
  await goToStart();
  await option.fill('In the park');
  await pressIn(messageWith(page, 'Edited slowly'), { name: 'Edit', exact: true });
  const field = page.getByRole('textbox', { name: 'Edit message' });
  await expect(field).toBeFocused();
  await field.fill('Edited at length');
  await page.getByRole('button', { name: 'Newest message' }).click();
  await expect(field).not.toBeInViewport();
  await goTo(page, '#recent');
  await goTo(page, place);
  await expect(messageWith(page, 'Row 49')).toBeInViewport();
  await goToStart();
  await expect(option).toHaveValue('In the park');
  await expect(field).toHaveValue('Edited at length');
  await expect(field).not.toBeFocused();
  await page.reload();
  await goToStart();
  await expect(option).toHaveValue('In the park');
  await page.getByRole('button', { name: 'Continue editing' }).click();
  await expect(field).toHaveValue('Edited at length');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(messageWith(page, 'Edited at length')).toContainText('edited');
});

test('keeps the reading position while images and older messages load above', async ({ server, logIn }) => {
  await fill(server, 'arrives-above', 45);
  const { url } = (await server.upload(READER, '/user_uploads', 'above.png', PICTURE)) as { url: string };
  await post(server, READER, 'arrives-above', `[above.png](${url})`);
  for (let n = 45; n < 74; n++) await post(server, READER, 'arrives-above', `Row ${n} ${'words '.repeat(20)}`);
  const { page } = await logIn(READER);
  const gates = { images: gate(), older: gate() };
  await page.route('**/user_uploads/thumbnail/**', async (route) => {
    await gates.images.opened;
    await route.continue();
  });
  await page.route('**/json/messages?*', async (route) => {
    if (new URL(route.request().url()).searchParams.get('num_before') === '60') await gates.older.opened;
    await route.continue();
  });
  await goTo(page, await placeOf(server, 'arrives-above'));
  await expect(messageWith(page, 'Row 73 ')).toBeInViewport();
  await scrollUpTo(page, 'Row 47 ');
  const text = `Row ${await firstWholeRow(page)} `;
  const top = await topOf(page, text);
  const stays = async (cause: string) => {
    await page.waitForTimeout(200);
    expect(Math.abs((await topOf(page, text)) - top), cause).toBeLessThanOrEqual(1);
  };
  const image = page.getByRole('img', { name: 'above.png' });
  expect(await image.evaluate((element: HTMLImageElement) => element.naturalWidth)).toBe(0);
  gates.images.open();
  await expect.poll(() => image.evaluate((element: HTMLImageElement) => element.naturalWidth)).toBeGreaterThan(0);
  await stays('an image above');
  gates.older.open();
  await expect(messageWith(page, 'Row 44 ')).toBeAttached();
  await stays('older messages above');
});

test("shows only the hovered row's toolbar after a click in another row, or that of the focused row", async ({
  server,
  logIn,
}) => {
  for (const text of ['One line', 'Another line', 'Third line']) await post(server, 'cordelia', 'toolbars', text);
  const { page } = await logIn('hamlet', await placeOf(server, 'toolbars'));
  const toolbarOf = (text: string) => messageWith(page, text).getByRole('toolbar');
  await messageWith(page, 'Another line').hover();
  await toolbarOf('Another line').getByRole('button', { name: 'Star', exact: true }).click();
  await messageWith(page, 'Third line').hover();
  await expect(toolbarOf('Third line')).toHaveCSS('opacity', '1');
  await expect(toolbarOf('Another line')).toHaveCSS('opacity', '0');
  await page.getByRole('heading', { level: 1 }).hover();
  await expect(toolbarOf('Another line')).toHaveCSS('opacity', '1');
  await page.keyboard.press('k');
  await messageWith(page, 'Third line').hover();
  await expect(toolbarOf('One line')).toHaveCSS('opacity', '1');
  await expect(toolbarOf('Third line')).toHaveCSS('opacity', '1');
});
