import type { Page } from '@playwright/test';
import { chooseInMenu, expect, idOf, messageWith, placeOf, post, pressIn, send, test } from './stories.js';

/** Counts requests of all tabs with an address that contains a text. */
function counted(page: Page, part: string): () => number {
  let count = 0;
  page.context().on('request', (request) => {
    if (new URL(request.url()).pathname.endsWith(part)) count++;
  });
  return () => count;
}

async function openTab(page: Page, address: string): Promise<Page> {
  const tab = await page.context().newPage();
  await tab.goto(address);
  await expect(tab.getByRole('textbox', { name: 'Message' })).toBeVisible();
  return tab;
}

test('loads ten tabs with one event connection, and shows new messages in each', async ({ server, logIn }) => {
  const place = await placeOf(server, 'ten tabs');
  const { page } = await logIn('hamlet', place);
  await expect(page.getByRole('textbox', { name: 'Message' })).toBeVisible();
  const registers = counted(page, '/register');
  const [polls, streams] = [counted(page, '/events'), counted(page, '/events/stream')];
  const tabs = [page];
  for (let i = 0; i < 9; i++) tabs.push(await openTab(page, `${server.url}/${place}`));
  expect(registers()).toBe(0);
  const before = polls() + streams();
  await post(server, 'cordelia', 'ten tabs', 'to all of them');
  for (const tab of tabs) await expect(messageWith(tab, 'to all of them')).toHaveCount(1);
  // Without sharing, each tab would have requested events.
  expect(polls() + streams() - before).toBeLessThan(tabs.length);
  await tabs[4]!.bringToFront();
  await send(tabs[4]!, 'from one of them');
  for (const tab of tabs) await expect(messageWith(tab, 'from one of them')).toHaveCount(1);
});

test('copies no events while a single tab is open', async ({ server, logIn }) => {
  const place = await placeOf(server, 'one tab');
  const { page } = await logIn('hamlet', place);
  await expect(page.getByRole('textbox', { name: 'Message' })).toBeVisible();
  const copies = await page.evaluateHandle(() => {
    const kinds: string[] = [];
    const { postMessage } = BroadcastChannel.prototype;
    BroadcastChannel.prototype.postMessage = function (message) {
      kinds.push(message.kind);
      postMessage.call(this, message);
    };
    return kinds;
  });
  await post(server, 'cordelia', 'one tab', 'For one tab');
  await expect(messageWith(page, 'For one tab')).toBeVisible();
  expect(await copies.jsonValue()).not.toContain('events');
  const second = await openTab(page, `${server.url}/${place}`);
  await post(server, 'cordelia', 'one tab', 'For two tabs');
  await expect(messageWith(second, 'For two tabs')).toBeVisible();
  expect(await copies.jsonValue()).toContain('events');
});

test("shows one tab's edits in the others, in a channel that sends no events", async ({ server, logIn }) => {
  await server.call('iago', 'POST', '/channels/create', { name: 'Not joined by tabs', subscribers: [] });
  const place = await placeOf(server, 'edited elsewhere', 'Not joined by tabs');
  const { page } = await logIn('hamlet', place);
  await send(page, 'A tpyo');
  const other = await openTab(page, `${server.url}/${place}`);
  await expect(messageWith(other, 'A tpyo')).toBeVisible();
  await page.bringToFront();
  await pressIn(messageWith(page, 'A tpyo'), { name: 'Edit' });
  await page.getByRole('textbox', { name: 'Edit message' }).fill('A typo, mended');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(messageWith(other, 'A typo, mended')).toBeVisible();
  await send(page, 'Sent here');
  await expect(messageWith(other, 'Sent here')).toBeVisible();
});

test('continues in another tab when the polling tab is closed', async ({ server, logIn }) => {
  const place = await placeOf(server, 'closing');
  const { page } = await logIn('hamlet', place);
  await expect(page.getByRole('textbox', { name: 'Message' })).toBeVisible();
  const registers = counted(page, '/register');
  const second = await openTab(page, `${server.url}/${place}`);
  await post(server, 'cordelia', 'closing', 'before');
  await expect(messageWith(second, 'before')).toHaveCount(1);
  await page.close();
  await post(server, 'cordelia', 'closing', 'meanwhile');
  await expect(messageWith(second, 'meanwhile')).toHaveCount(1);
  const third = await openTab(second, `${server.url}/${place}`);
  await post(server, 'cordelia', 'closing', 'afterwards');
  for (const tab of [second, third]) {
    await expect(messageWith(tab, 'afterwards')).toHaveCount(1);
    await expect(messageWith(tab, 'meanwhile')).toHaveCount(1);
  }
  expect(registers()).toBe(0);
});

test('continues in another tab when the browser freezes the polling tab', async ({ server, logIn }) => {
  const place = await placeOf(server, 'freezing');
  const { page, context } = await logIn('hamlet', place);
  await expect(page.getByRole('textbox', { name: 'Message' })).toBeVisible();
  const second = await openTab(page, `${server.url}/${place}`);
  const browser = await context.newCDPSession(page);
  await browser.send('Page.setWebLifecycleState', { state: 'frozen' });
  await post(server, 'cordelia', 'freezing', 'while frozen');
  await expect(messageWith(second, 'while frozen')).toHaveCount(1, { timeout: 40_000 });
  await browser.send('Page.setWebLifecycleState', { state: 'active' });
  await expect(messageWith(page, 'while frozen')).toHaveCount(1);
  await post(server, 'cordelia', 'freezing', 'after thawing');
  for (const tab of [page, second]) await expect(messageWith(tab, 'after thawing')).toHaveCount(1);
});

test('sends unsent messages of a closed tab from another one', async ({ server, logIn }) => {
  const place = await placeOf(server, 'left-behind');
  const { page, context } = await logIn('iago', place);
  await expect(page.getByRole('textbox', { name: 'Message' })).toBeVisible();
  const second = await openTab(page, `${server.url}/${place}`);
  await page.bringToFront();
  await context.setOffline(true);
  await send(page, 'typed before the end');
  await expect(messageWith(page, 'typed before the end')).toContainText('Will be sent');
  await page.close();
  await context.setOffline(false);
  await expect(messageWith(second, 'typed before the end')).toHaveCount(1, { timeout: 40_000 });
  await expect(messageWith(second, 'typed before the end')).not.toContainText('Will be sent');
});

test('ends in all tabs when one logs out', async ({ server, logIn }) => {
  const { page } = await logIn('prospero', '#inbox');
  const second = await page.context().newPage();
  await second.goto(`${server.url}/#narrow/dm/${await idOf(server, 'hamlet')}`);
  await expect(second.getByRole('textbox', { name: 'Message' })).toBeVisible();
  await page.bringToFront();
  await chooseInMenu(page, 'Log out');
  await expect(page).toHaveURL(/login/);
  await expect(second.getByRole('alert')).toContainText('Your session has ended.');
});

test('ends the tabs of a person when another person logs in, and sends nothing as that person', async ({
  server,
  logIn,
}) => {
  const place = await placeOf(server, 'other-person');
  const { page, context } = await logIn('hamlet', place);
  await expect(page.getByRole('textbox', { name: 'Message' })).toBeVisible();
  await context.clearCookies();
  const other = await context.newPage();
  await other.goto(`${server.url}/login/`);
  await other.getByRole('button', { name: 'Othello' }).click();
  await expect(other.getByRole('heading', { name: 'Inbox' })).toBeVisible();
  await page.bringToFront();
  await send(page, 'written by Hamlet');
  await expect(page.getByRole('alert')).toContainText('Your session has ended.');
  await expect(messageWith(page, 'written by Hamlet')).toContainText('Will be sent');
  await other.goto(`${server.url}/${place}`);
  await expect(other.getByRole('textbox', { name: 'Message' })).toBeVisible();
  await expect(messageWith(other, 'written by Hamlet')).toHaveCount(0);
});

/** Number of conversations in the browser's database. */
const storedConversations = (page: Page): Promise<number> =>
  page.evaluate(async () => {
    const [{ name } = {}] = await indexedDB.databases();
    const opening = indexedDB.open(name!);
    await new Promise((resolve) => opening.addEventListener('success', resolve));
    const count = opening.result.transaction('messages').objectStore('messages').count();
    await new Promise((resolve) => count.addEventListener('success', resolve));
    opening.result.close();
    return count.result;
  });

test('ends a page immediately when its session ends elsewhere, and sends unsent text after the log-in', async ({
  server,
  logIn,
}) => {
  await post(server, 'iago', 'ended-elsewhere', 'Stored in the browser');
  const place = await placeOf(server, 'ended-elsewhere');
  const { page } = await logIn('cordelia', place);
  await expect(page.getByRole('textbox', { name: 'Message' })).toBeVisible();
  await expect.poll(() => storedConversations(page)).toBeGreaterThan(0);
  const elsewhere = await logIn('cordelia', '#settings/account');
  await elsewhere.page.evaluate(async () => {
    const { csrf_token } = await (await fetch('/accounts/csrf_token/')).json();
    await fetch('/json/users/me/sessions', { method: 'DELETE', headers: { 'X-CSRFToken': csrf_token } });
  });
  await expect(page.getByRole('alert')).toContainText('Your session has ended.');
  await expect.poll(() => storedConversations(page)).toBe(0);
  await send(page, 'typed after the end');
  await page.getByRole('alert').getByRole('link', { name: 'Log in' }).click();
  await page.getByRole('button', { name: 'Cordelia' }).click();
  await expect(messageWith(page, 'typed after the end')).toHaveCount(1);
  await expect(messageWith(page, 'typed after the end')).not.toContainText('Will be sent');
});
