import type { Page } from '@playwright/test';
import {
  chooseInMenu,
  expect,
  expectPastRefused,
  goTo,
  idOf,
  placeOf,
  type Server,
  test,
  violationsIn,
} from './stories.js';

const WRITER = 'othello';

/** Schedules a message to Othello in an hour. */
const schedule = async (server: Server, person: string, content: string) =>
  server.call(person, 'POST', '/scheduled_messages', {
    type: 'direct',
    to: [await idOf(server, 'othello')],
    content,
    scheduled_delivery_timestamp: Math.floor(Date.now() / 1000) + 3600,
  });

/** Holds requests for a URL until the returned function is called. */
async function hold(page: Page, url: string): Promise<() => void> {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route(url, (route) => released.then(() => route.continue()));
  return release;
}

test('schedules a message, edits it on its page, follows changes from other devices and deletes it', async ({
  server,
  logIn,
}) => {
  const { page } = await logIn(WRITER, await placeOf(server, 'later-by-othello'));
  const field = page.getByRole('textbox', { name: 'Message' });
  await field.fill('The moor speaks tomorrow');
  await page.getByRole('button', { name: 'Send later' }).click();
  const dialog = page.getByRole('dialog');
  await expect(dialog.getByRole('radio', { name: 'Tomorrow' })).toBeChecked();
  expect(await violationsIn(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Schedule' }).click();
  await expect(dialog).toHaveCount(0);
  await expect(field).toHaveValue('');
  await page.getByRole('link', { name: 'To be sent' }).click();

  const row = page.getByRole('main').getByRole('listitem').filter({ hasText: 'The moor speaks' });
  await expect(row).toContainText('later-by-othello');
  expect(await violationsIn(page)).toEqual([]);
  await row.getByRole('button', { name: 'Edit' }).click();
  const editor = page
    .getByRole('main')
    .getByRole('listitem')
    .filter({ has: page.getByRole('textbox') });
  await editor.getByRole('textbox', { name: 'Message' }).fill('The moor speaks in 2040');
  await editor.getByLabel('Date and time').fill('2040-05-10T11:00');
  await editor.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(row).toContainText('The moor speaks in 2040');
  await expect(row.getByRole('time')).toHaveAttribute('datetime', /^2040-05-/);

  const { scheduled_messages: all } = await server.call(WRITER, 'GET', '/scheduled_messages');
  const { scheduled_message_id: id } = all.find(({ content }: { content: string }) => content.includes('2040'));
  await server.call(WRITER, 'PATCH', `/scheduled_messages/${id}`, { content: 'The moor speaks elsewhere' });
  await expect(row).toContainText('The moor speaks elsewhere');
  await row.getByRole('button', { name: 'Delete' }).click();
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await expect(row).toHaveCount(0);
});

test('schedules by keyboard, and keeps the text with the reason if its time has passed', async ({ server, logIn }) => {
  const { page } = await logIn(WRITER, await placeOf(server, 'past-of-othello'));
  await page.getByRole('textbox', { name: 'Message' }).fill('Too late for the moor');
  await page.getByRole('button', { name: 'Send later' }).focus();
  await page.keyboard.press('Enter');
  await expectPastRefused(page);
  await page.keyboard.press('Escape');
  await expect(page.getByRole('button', { name: 'Send later' })).toBeFocused();
  await expect(page.getByRole('textbox', { name: 'Message' })).toHaveValue('Too late for the moor');
});

test('keeps the text of a scheduled message and of a snippet changed in another window', async ({ server, logIn }) => {
  const { scheduled_message_id: id } = await schedule(server, 'othello', 'Before the change');
  const { page } = await logIn('othello', '#scheduled');
  const rows = page.getByRole('main').getByRole('listitem');
  await rows.filter({ hasText: 'Before the change' }).getByRole('button', { name: 'Edit' }).click();
  const editor = rows.filter({ has: page.getByRole('textbox') });
  await editor.getByLabel('Date and time').fill('2099-01-01T10:00');
  await server.call('othello', 'PATCH', `/scheduled_messages/${id}`, { content: 'Changed elsewhere' });
  await editor.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(editor).toHaveCount(0);
  await expect(rows.filter({ hasText: 'Changed elsewhere' })).toContainText('2099');
  await server.call('othello', 'DELETE', `/scheduled_messages/${id}`);

  const saved = { title: 'Greeting', content: 'Good morning' };
  const { saved_snippet_id: snippet } = await server.call('othello', 'POST', '/saved_snippets', saved);
  await goTo(page, await placeOf(server, 'snippets-of-othello'));
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'Saved snippets' }).click();
  await dialog.getByRole('button', { name: 'Edit' }).click();
  await dialog.getByRole('textbox', { name: 'Title' }).fill('Salutation');
  await server.call('othello', 'PATCH', `/saved_snippets/${snippet}`, { content: 'Good evening' });
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(dialog).toHaveCount(0);
  const { saved_snippets: snippets } = await server.call('othello', 'GET', '/saved_snippets');
  expect(snippets).toMatchObject([{ title: 'Salutation', content: 'Good evening' }]);
});

test('shows why a scheduled message failed and reschedules it', async ({ server, logIn }) => {
  const { id: channel } = await server.call('iago', 'POST', '/channels/create', {
    name: 'closed-before-later',
    subscribers: [await idOf(server, 'shiva')],
  });
  const inSeconds = (seconds: number) => Math.floor(Date.now() / 1000) + seconds;
  const { scheduled_message_id: id } = await server.call('shiva', 'POST', '/scheduled_messages', {
    type: 'channel',
    to: channel,
    topic: 'never',
    content: 'Words for a closed channel',
    scheduled_delivery_timestamp: inSeconds(3600),
  });
  await server.call('iago', 'DELETE', `/streams/${channel}`);
  const { page } = await logIn('shiva', '#scheduled');
  const row = page.getByRole('main').getByRole('listitem').filter({ hasText: 'Words for a closed channel' });
  await expect(row).toBeVisible();
  // A slow call arrives after its scheduled time.
  await expect(() =>
    server.call('shiva', 'PATCH', `/scheduled_messages/${id}`, { scheduled_delivery_timestamp: inSeconds(2) }),
  ).toPass();
  await expect(row).toContainText(/Not sent: .+/, { timeout: 60_000 });
  await row.getByRole('button', { name: 'Edit' }).click();
  const editor = page
    .getByRole('main')
    .getByRole('listitem')
    .filter({ has: page.getByRole('textbox') });
  await editor.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(editor.getByRole('alert')).toBeVisible();
  await editor.getByRole('button', { name: 'Cancel' }).click();
  await row.getByRole('button', { name: 'Delete' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await expect(row).toHaveCount(0);
});

test('keeps text typed while the previous text is being scheduled', async ({ server, logIn }) => {
  const { page } = await logIn(WRITER, await placeOf(server, 'slowly-by-othello'));
  const answer = await hold(page, '**/scheduled_messages');
  const field = page.getByRole('textbox', { name: 'Message' });
  await field.fill('For tomorrow');
  await page.getByRole('button', { name: 'Send later' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Schedule' }).click();
  await page.keyboard.press('Escape');
  await field.fill('For today');
  answer();
  await expect(page.getByRole('navigation').getByRole('link', { name: 'Scheduled messages' })).toBeVisible();
  await expect(field).toHaveValue('For today');
});

test('edits a scheduled message with the tools of the composer', async ({ server, logIn }) => {
  await schedule(server, 'cordelia', 'Words for tomorrow');
  const { page } = await logIn('cordelia', '#scheduled');
  const row = page.getByRole('main').getByRole('listitem').filter({ hasText: 'Othello' });
  const edit = row.getByRole('button', { name: 'Edit', exact: true });
  const field = row.getByRole('textbox', { name: 'Message' });
  await edit.click();
  await expect(field).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(field).toHaveCount(0);
  await expect(edit).toBeFocused();

  await edit.click();
  await page.keyboard.type(' :chees');
  await page.getByRole('option', { name: ':cheese:' }).click();
  await field.selectText();
  await row.getByRole('button', { name: 'Bold' }).click();
  await expect(field).toHaveValue(/^\*\*Words for tomorrow :cheese:\s*\*\*$/);
  await row.getByRole('button', { name: 'Preview' }).click();
  await expect(row.locator('strong', { hasText: 'Words' })).toContainText('🧀');
  await row.getByRole('toolbar').getByRole('button', { name: 'Edit' }).click();
  const [chooser] = await Promise.all([
    page.waitForEvent('filechooser'),
    row.getByRole('button', { name: 'Attach files' }).click(),
  ]);
  await chooser.setFiles({ name: 'speech.txt', mimeType: 'text/plain', buffer: Buffer.from('speech') });
  await expect(row.getByRole('list', { name: 'Uploads' })).toContainText('speech.txt');
  expect(await violationsIn(page)).toEqual([]);
  await page.reload();
  await expect(row.getByRole('list', { name: 'Uploads' })).toContainText('speech.txt');
  await row.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(field).toHaveCount(0);
  await expect(edit).toBeFocused();
  const { scheduled_messages: all } = await server.call('cordelia', 'GET', '/scheduled_messages');
  expect(all).toMatchObject([{ content: expect.stringMatching(/^\*\*Words.*\n\n\[speech\.txt\]\(\/user_uploads\//) }]);

  await edit.click();
  await field.fill('Other words');
  await row.getByRole('button', { name: 'Cancel' }).click();
  const question = page.getByRole('dialog', { name: 'Discard your changes?' });
  await question.getByRole('button', { name: 'Cancel' }).click();
  await expect(field).toBeFocused();
  await expect(field).toHaveValue('Other words');
  await page.keyboard.press('Escape');
  await question.getByRole('button', { name: 'Discard' }).click();
  await expect(field).toHaveCount(0);
  await expect(edit).toBeFocused();
  await expect(row).toContainText('Words for tomorrow');

  await edit.click();
  await row.getByLabel('Date and time').fill('2099-01-01T10:00');
  await row.getByRole('button', { name: 'Cancel' }).click();
  await question.getByRole('button', { name: 'Discard' }).click();
  await expect(edit).toBeFocused();

  await edit.click();
  await expect(field).toBeVisible();
  await goTo(page, '#drafts');
  await goTo(page, '#scheduled');
  await expect(edit).toBeVisible();

  await edit.click();
  await field.fill('Words that were sent in the meantime');
  await server.call('cordelia', 'DELETE', `/scheduled_messages/${all[0].scheduled_message_id}`);
  await expect(row).toHaveCount(0);
  await goTo(page, '#drafts');
  await expect(row).toContainText('Words that were sent in the meantime');
});

test('leaves the focus in another scheduled message while one is saved', async ({ server, logIn }) => {
  for (const content of ['First words', 'Second words']) {
    await schedule(server, 'hamlet', content);
  }
  const { page } = await logIn('hamlet', '#scheduled');
  const answer = await hold(page, '**/scheduled_messages/*');
  const rows = page.getByRole('main').getByRole('listitem');
  await rows.filter({ hasText: 'First words' }).getByRole('button', { name: 'Edit' }).click();
  const field = page.getByRole('textbox', { name: 'Message' });
  await field.fill('Changed words');
  await page.keyboard.press('Control+Enter');
  const other = rows.filter({ hasText: 'Second words' }).getByRole('button', { name: 'Edit' });
  await other.focus();
  answer();
  await expect(field).toHaveCount(0);
  await expect(rows.filter({ hasText: 'Changed words' })).toBeVisible();
  await expect(other).toBeFocused();
});

test('shows the text of a scheduled message until its editor has loaded', async ({ server, logIn }) => {
  await schedule(server, 'iago', 'Slow words');
  const { page } = await logIn('iago', '#scheduled');
  const load = await hold(page, '**/scheduled-editor*.js');
  const row = page.getByRole('main').getByRole('listitem').filter({ hasText: 'Othello' });
  await row.getByRole('button', { name: 'Edit' }).click();
  await expect(row.getByRole('button')).toHaveCount(0);
  await expect(row.getByText('Slow words')).toBeVisible();
  load();
  await expect(row.getByRole('textbox', { name: 'Message' })).toBeFocused();
});

test('keeps an unsaved edit of a scheduled message as a draft on logout', async ({ server, logIn }) => {
  await schedule(server, 'prospero', 'Calm seas');
  const { page } = await logIn('prospero', '#scheduled');
  const row = page.getByRole('main').getByRole('listitem');
  await row.getByRole('button', { name: 'Edit' }).click();
  await row.getByRole('textbox', { name: 'Message' }).fill('Calm seas, auspicious gales');
  await chooseInMenu(page, 'Log out');
  await page.waitForURL(/login/);
  const { drafts } = await server.call('prospero', 'GET', '/drafts');
  expect(drafts).toMatchObject([{ content: 'Calm seas, auspicious gales' }]);
});
