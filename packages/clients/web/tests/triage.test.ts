import type { Page } from '@playwright/test';
import { expect, goTo, idOf, placeOf, post, test, violationsIn } from './stories.js';

const list = (page: Page, name: string) => page.getByRole('main').getByRole('region', { name, exact: true });
const row = (page: Page, topic: string) =>
  page
    .getByRole('main')
    .getByRole('listitem')
    .filter({ has: page.getByRole('link', { name: topic }) });

/** Phone and desktop widths. */
const LOOKS = [
  ['light', 1440],
  ['dark', 1440],
  ['light', 360],
  ['dark', 360],
] as const;

async function takePictures(page: Page, name: string): Promise<void> {
  if (!process.env.SCREENSHOTS) return;
  for (const [colorScheme, width] of LOOKS) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 800 });
    await page.screenshot({ path: `${process.env.SCREENSHOTS}/triage-${name}-${colorScheme}-${width}.png` });
  }
  await page.emulateMedia({ colorScheme: null });
  await page.setViewportSize({ width: 1280, height: 720 });
}

test('shows the last message, its sender and the participants below one heading per channel', async ({
  server,
  logIn,
}) => {
  await post(server, 'iago', 'castle gate', 'The gate is shut');
  await post(server, 'desdemona', 'castle gate', '> **Open** it\n\nNo, *leave* it');
  const { page } = await logIn('othello', '#inbox');
  await expect(list(page, 'Inbox').getByRole('heading', { name: 'Verona' })).toBeVisible();
  await expect(row(page, 'castle gate')).toContainText('Desdemona: No, leave it');
  await expect(row(page, 'castle gate')).not.toContainText('Verona');
  await expect(row(page, 'castle gate').locator('[part="avatar"]')).toHaveCount(2);
  await post(server, 'iago', 'castle gate', 'As you wish');
  await expect(row(page, 'castle gate')).toContainText('Iago: As you wish');
  expect(await violationsIn(page)).toEqual([]);
  await takePictures(page, 'inbox');
});

test('shows the last message of the inbox row although only older ones are unread', async ({ server, logIn }) => {
  const { id } = await post(server, 'iago', 'read from the end', 'Still unread');
  await post(server, 'iago', 'read from the end', 'Already read');
  const { page } = await logIn('othello', await placeOf(server, 'read from the end'));
  await expect(page.getByRole('main').getByText('Already read')).toBeVisible();
  const flags = async () => (await server.call('othello', 'GET', `/messages/${id}`)).message.flags;
  await expect.poll(flags).toContain('read');
  await server.call('othello', 'POST', '/messages/flags', { messages: [id], op: 'remove', flag: 'read' });
  await goTo(page, '#inbox');
  await expect(row(page, 'read from the end')).toContainText('Iago: Already read');
  await post(server, 'othello', 'read from the end', 'Sent elsewhere');
  await expect(row(page, 'read from the end')).toContainText('You: Sent elsewhere');
  const { page: other } = await logIn('othello', '#inbox');
  await expect(row(other, 'read from the end')).toContainText('You: Sent elsewhere');
});

test('folds a channel of the inbox, also after a reload', async ({ server, logIn }) => {
  await post(server, 'iago', 'foldable', 'Inside');
  const { page } = await logIn('othello', '#inbox');
  const heading = list(page, 'Inbox').getByRole('button', { name: 'Verona' });
  await expect(row(page, 'foldable')).toBeVisible();
  await heading.click();
  await expect(row(page, 'foldable')).toHaveCount(0);
  await page.reload();
  await expect(heading).toHaveAttribute('aria-expanded', 'false');
  await expect(row(page, 'foldable')).toHaveCount(0);
  await heading.focus();
  await page.keyboard.press('ArrowRight');
  await expect(row(page, 'foldable')).toBeVisible();
  await heading.hover();
  await list(page, 'Inbox').getByRole('link', { name: 'Go to channel Verona' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Verona');
});

test('marks a whole channel of the inbox as read, and undoes it', async ({ server, logIn }) => {
  for (const topic of ['channel one', 'channel two']) await post(server, 'iago', topic, 'Unread');
  const { page } = await logIn('aaron', '#inbox');
  const heading = list(page, 'Inbox').getByRole('button', { name: /^public channel Verona/ });
  await heading.hover();
  await list(page, 'Inbox').getByRole('button', { name: 'Mark as read' }).first().click();
  await expect(row(page, 'channel one')).toHaveCount(0);
  await expect(row(page, 'channel two')).toHaveCount(0);
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(row(page, 'channel one')).toBeVisible();
  await expect(row(page, 'channel two')).toBeVisible();
});

test('filters the inbox by mentions, direct messages and followed topics', async ({ server, logIn }) => {
  await post(server, 'iago', 'filter mention', 'You, @**Othello, the Moor of Venice**');
  const { id } = await post(server, 'iago', 'filter plain', 'Nothing special');
  await server.call('iago', 'POST', '/messages', {
    type: 'direct',
    to: [await idOf(server, 'othello')],
    content: 'Psst',
  });
  const { page } = await logIn('othello', '#inbox');
  const choose = (name: string) => page.getByRole('radio', { name, exact: true }).check();
  await choose('Mentions');
  await expect(row(page, 'filter mention')).toBeVisible();
  await expect(row(page, 'filter plain')).toHaveCount(0);
  await choose('Direct messages');
  await expect(row(page, 'Psst')).toBeVisible();
  await expect(row(page, 'filter mention')).toHaveCount(0);
  await choose('Followed topics');
  await expect(page.getByText('Psst')).toHaveCount(0);
  await expect(row(page, 'filter plain')).toHaveCount(0);
  const { message } = await server.call('iago', 'GET', `/messages/${id}`);
  const topic = { stream_id: message.stream_id, topic: 'filter plain', visibility_policy: 3 };
  await server.call('othello', 'POST', '/user_topics', topic);
  await expect(row(page, 'filter plain')).toBeVisible();
  await choose('All');
  await expect(row(page, 'filter mention')).toBeVisible();
});

test('reads, mutes and follows with keys in one tab stop, and undoes each', async ({ server, logIn }) => {
  for (const topic of ['keys first', 'keys second']) await post(server, 'desdemona', topic, 'A word');
  const { page } = await logIn('othello', '#inbox');
  const link = (topic: string) => row(page, topic).getByRole('link');
  await expect(row(page, 'keys first')).toContainText('A word');
  expect(await list(page, 'Inbox').locator('[tabindex="0"]').count()).toBe(1);
  await link('keys second').focus();
  await page.keyboard.press('j');
  await expect(link('keys first')).toBeFocused();
  await page.keyboard.press('k');
  await expect(link('keys second')).toBeFocused();
  expect(await list(page, 'Inbox').locator('[tabindex="0"]').count()).toBe(1);

  await page.keyboard.press('Shift+U');
  await expect(row(page, 'keys second')).toHaveCount(0);
  await expect(link('keys first')).toBeFocused();
  await expect(page.getByText('Marked as read')).toBeVisible();
  await page.keyboard.press('Control+z');
  await expect(link('keys second')).toBeFocused();

  await link('keys first').focus();
  await page.keyboard.press('Shift+F');
  await expect(row(page, 'keys first').getByRole('button', { name: 'Follow topic', pressed: true })).toBeAttached();
  await page.keyboard.press('Shift+M');
  await expect(row(page, 'keys first')).toHaveCount(0);
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(row(page, 'keys first').getByRole('button', { name: 'Follow topic', pressed: true })).toBeAttached();
  await expect(list(page, 'Inbox').locator(':focus')).toHaveCount(1);
  await link('keys first').press('Enter');
  await expect(page.getByRole('heading', { level: 1 })).toContainText('keys first');
});

test('marks selected rows as read, or mutes them, together', async ({ server, logIn }) => {
  for (const topic of ['pick first', 'pick second', 'pick third']) await post(server, 'desdemona', topic, 'A word');
  const { page } = await logIn('othello', '#inbox');
  const link = (topic: string) => row(page, topic).getByRole('link');
  const selected = list(page, 'Inbox').getByLabel('Selected');
  await expect(link('pick second')).toBeVisible();
  await link('pick third').focus();
  await page.keyboard.press('Shift+ArrowDown');
  await expect(link('pick second')).toBeFocused();
  await expect(selected).toHaveCount(2);
  await expect(page.getByText('2 selected')).toBeVisible();
  await takePictures(page, 'selected');
  expect(await violationsIn(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await expect(selected).toHaveCount(0);
  await page.keyboard.press('Space');
  await row(page, 'pick first').hover();
  await row(page, 'pick first').getByRole('button', { name: 'Select' }).click();
  await expect(selected).toHaveCount(2);
  await row(page, 'pick first').getByRole('button', { name: 'Mark as read' }).click();
  await expect(link('pick first')).toHaveCount(0);
  await expect(link('pick second')).toHaveCount(0);
  await expect(link('pick third')).toBeVisible();
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(link('pick second')).toBeVisible();
  await expect(selected).toHaveCount(0);
  await expect(page.getByText(/selected$/)).toHaveCount(0);
  await link('pick third').focus();
  await page.keyboard.press('Space');
  await list(page, 'Inbox').getByRole('button', { name: 'Verona' }).focus();
  await page.keyboard.press('Shift+U');
  await expect(link('pick third')).toHaveCount(0);
  await expect(link('pick first')).toBeVisible();
  await page.keyboard.press('Control+z');
  await expect(link('pick third')).toBeVisible();
  await link('pick third').focus();
  await page.keyboard.press('Shift+ArrowDown');
  await page.keyboard.press('Shift+M');
  await expect(page.getByText('Topic muted (2)')).toBeVisible();
  await expect(link('pick third')).toHaveCount(0);
  await page.keyboard.press('Control+z');
  await expect(link('pick second')).toBeFocused();
  await expect(link('pick third')).toBeVisible();
});

test('focuses the neighbor of a row that is read after another one disappeared above it', async ({ server, logIn }) => {
  for (let n = 1; n <= 5; n++) await post(server, 'iago', `near ${n}`, 'A word');
  const { page } = await logIn('cordelia', '#inbox');
  const link = (topic: string) => row(page, topic).getByRole('link');
  await expect(row(page, 'near 5')).toBeVisible();
  await expect(link('near 1')).toBeVisible();
  await link('near 3').focus();
  const narrow = [{ operator: 'topic', operand: 'near 5' }];
  const range = { anchor: 'newest', num_before: 10, num_after: 0, narrow };
  await server.call('cordelia', 'POST', '/messages/flags/narrow', { ...range, op: 'add', flag: 'read' });
  await expect(row(page, 'near 5')).toHaveCount(0);
  await page.keyboard.press('Shift+U');
  await expect(row(page, 'near 3')).toHaveCount(0);
  await expect(link('near 2')).toBeFocused();
});

test('returns with the back button to the row of a list, or to its neighbor once it is read', async ({
  server,
  logIn,
}) => {
  for (const topic of ['back first', 'back second', 'back third']) await post(server, 'iago', topic, 'A word');
  const { page } = await logIn('cordelia', '#inbox');
  const link = (topic: string) => row(page, topic).getByRole('link');
  await link('back second').focus();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { level: 1 })).toContainText('back second');
  await expect(page.getByRole('article').filter({ hasText: 'A word' })).toBeVisible();
  // Read after half a second.
  await expect(page.getByRole('navigation').getByRole('link', { name: /^back second$/ })).toBeVisible();
  await page.goBack();
  await expect(row(page, 'back second')).toHaveCount(0);
  await expect(link('back first')).toBeFocused();
  await page.keyboard.press('t');
  await link('back third').focus();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { level: 1 })).toContainText('back third');
  await page.goBack();
  await expect(link('back third')).toBeFocused();
});

test("names keys in the titles of buttons in the page's language", async ({ browser, server, logIn }) => {
  await post(server, 'desdemona', 'german keys', 'A word');
  const { context } = await logIn('othello');
  const german = await browser.newContext({ locale: 'de-DE', storageState: await context.storageState() });
  const page = await german.newPage();
  await page.goto(`${server.url}/#inbox`);
  const button = row(page, 'german keys').getByRole('button', { name: 'Als gelesen markieren' });
  await expect(button).toHaveAttribute('title', 'Als gelesen markieren (Umschalt+U)');
  await row(page, 'german keys').getByRole('link').focus();
  await page.keyboard.press('Shift+U');
  await expect(page.getByRole('button', { name: 'Rückgängig' })).toHaveAttribute('title', 'Strg+Z');
  await german.close();
});

test('keeps the focus in the inbox list when its last row disappears', async ({ server, logIn }) => {
  await post(server, 'iago', 'only mention', 'You, @**aaron**');
  const { page } = await logIn('aaron', '#inbox');
  await page.getByRole('radio', { name: 'Mentions', exact: true }).check();
  await row(page, 'only mention').getByRole('link').focus();
  await page.keyboard.press('Shift+U');
  await expect(row(page, 'only mention')).toHaveCount(0);
  await expect(list(page, 'Inbox')).toBeFocused();
  await page.keyboard.press('Control+z');
  await expect(row(page, 'only mention')).toBeVisible();
});

test('sorts and filters recent conversations', async ({ server, logIn }) => {
  await post(server, 'iago', 'recent crowd', 'One');
  await post(server, 'desdemona', 'recent crowd', 'Two');
  await post(server, 'othello', 'recent crowd', 'Three');
  await post(server, 'othello', 'recent own', 'Mine alone');
  const { page } = await logIn('othello', '#recent');
  const choose = (name: string) => page.getByRole('radio', { name, exact: true }).check();
  const first = list(page, 'Recent conversations').getByRole('listitem').first();
  await expect(row(page, 'recent own')).toContainText('You: Mine alone');
  await expect(row(page, 'recent crowd').locator('[part="avatar"]')).toHaveCount(3);
  await expect(first).toContainText('recent own');
  await choose('Most participants');
  await expect(first).not.toContainText('recent own');
  await choose('Unread');
  await expect(row(page, 'recent own')).toHaveCount(0);
  await expect(row(page, 'recent crowd')).toBeVisible();
  // The list draws only its first rows, which may be conversations of other stories with more participants.
  await choose('Latest');
  await choose('Participated');
  await expect(row(page, 'recent own')).toBeVisible();
  await choose('All');
  await expect(first).toContainText('recent own');
  expect(await violationsIn(page)).toEqual([]);
  await takePictures(page, 'recent');
});

test('collects reminders, scheduled and starred messages and followed topics in one place', async ({
  server,
  logIn,
}) => {
  const { id } = await post(server, 'iago', 'kept topic', 'Worth keeping');
  const { message } = await server.call('iago', 'GET', `/messages/${id}`);
  const soon = Math.floor(Date.now() / 1000) + 60;
  const call = (method: string, path: string, params: object) => server.call('prospero', method, path, { ...params });
  await call('POST', '/messages/flags', { messages: [id], op: 'add', flag: 'starred' });
  await call('POST', '/messages/flags', { messages: [id], op: 'add', flag: 'read' });
  await call('POST', '/user_topics', { stream_id: message.stream_id, topic: 'kept topic', visibility_policy: 3 });
  await call('POST', '/reminders', { message_id: id, scheduled_delivery_timestamp: soon + 3600 * 24 * 3 });
  await call('POST', '/scheduled_messages', {
    type: 'channel',
    to: message.stream_id,
    topic: 'kept topic',
    content: 'Sent tonight',
    scheduled_delivery_timestamp: soon + 3600 * 24 * 2,
  });
  const { page } = await logIn('prospero', '#inbox');
  await page.getByRole('radio', { name: 'Later' }).check();
  const part = (title: string) =>
    page
      .getByRole('main')
      .locator('section section')
      .filter({ has: page.getByRole('heading', { name: title }) });
  await expect(part('Reminders')).toContainText('Worth keeping');
  await expect(part('Scheduled messages')).toContainText('Sent tonight');
  await expect(part('Starred messages')).toContainText('Iago: Worth keeping');
  await expect(part('Followed topics').getByRole('link', { name: 'Followed topics' })).toHaveAttribute(
    'href',
    '#narrow/is/followed',
  );
  await expect(part('Followed topics').getByRole('listitem').filter({ hasText: 'kept topic' })).toContainText(
    'Worth keeping',
  );
  expect(await violationsIn(page)).toEqual([]);
  await takePictures(page, 'later');
  await page.reload();
  await expect(part('Starred messages')).toContainText('Worth keeping');
  await part('Starred messages').getByRole('link', { name: 'kept topic' }).click();
  await expect(page).toHaveURL(new RegExp(`/near/${id}$|/with/${id}$`));
});

test('shows what waits elsewhere once the inbox is read, and offers a new conversation', async ({ server, logIn }) => {
  await server.call('iago', 'POST', '/mark_all_as_read');
  const { id } = await post(server, 'iago', 'starred by iago', 'Keep this');
  await server.call('iago', 'POST', '/messages/flags', { messages: [id], op: 'add', flag: 'starred' });
  const { page } = await logIn('iago', '#inbox');
  const main = page.getByRole('main');
  const all = page.getByRole('radio', { name: 'All', exact: true });
  await server.call('iago', 'POST', '/mark_all_as_read');
  await expect(main.getByText('You have read everything.')).toBeVisible();
  await expect(all).toBeChecked();
  await expect(main.getByRole('button', { name: 'Mark all as read' })).toHaveCount(0);
  await expect(main.getByRole('link', { name: /^Starred messages \d/ })).toHaveAttribute('href', '#narrow/is/starred');
  expect(await violationsIn(page)).toEqual([]);
  await takePictures(page, 'read');
  await main.getByRole('button', { name: 'New direct message' }).click();
  await expect(page.getByRole('dialog')).toBeVisible();
  await page.keyboard.press('Escape');
  await main.getByRole('link', { name: 'Browse channels' }).click();
  await expect(page).toHaveURL(/#channels\/all$/);
});

test('counts mentions, starred messages, drafts and scheduled messages in the sidebar', async ({ server, logIn }) => {
  const { page } = await logIn('cordelia', '#inbox');
  const link = (name: string) => page.getByRole('navigation', { name: 'Conversations' }).getByRole('link', { name });
  await expect(link('Starred messages')).toHaveText('Starred messages');
  const { id } = await post(server, 'iago', 'counted', "Look, @**Cordelia, Lear's daughter**");
  const { message } = await server.call('iago', 'GET', `/messages/${id}`);
  await expect(link('Mentions')).toContainText('1');
  await server.call('cordelia', 'POST', '/messages/flags', { messages: [id], op: 'add', flag: 'starred' });
  await expect(link('Starred messages')).toContainText('1');
  await server.call('cordelia', 'PATCH', '/settings', { starred_message_counts: false });
  await expect(link('Starred messages')).toHaveText('Starred messages');
  await server.call('cordelia', 'POST', '/scheduled_messages', {
    type: 'channel',
    to: message.stream_id,
    topic: 'counted',
    content: 'Later',
    scheduled_delivery_timestamp: Math.floor(Date.now() / 1000) + 3600,
  });
  await expect(link('Scheduled messages')).toContainText('1');

  await row(page, 'counted').getByRole('link').click();
  const composer = page.getByRole('main').getByRole('textbox', { name: 'Message' });
  await expect(composer).toBeVisible();
  const placesOf = () =>
    page
      .locator('[part="sidebar"] nav a')
      .evaluateAll((links) => links.map((each) => each.getBoundingClientRect().top));
  await expect(link('Drafts')).toHaveText('Drafts');
  const before = await placesOf();
  await composer.fill('Unfinished');
  await expect(link('Drafts')).toContainText('1');
  expect(await placesOf()).toEqual(before);
});
