import {
  choose,
  expect,
  expectPastRefused,
  goTo,
  longPress,
  messageWith,
  openPhone,
  placeOf,
  post,
  test,
  violationsIn,
} from './stories.js';

const READER = 'cordelia';

test('reminds of a message with a note, lists it in every window and deletes it', async ({ server, logIn }) => {
  const place = await placeOf(server, 'reminders-of-cordelia');
  await post(server, 'iago', 'reminders-of-cordelia', 'Feed the falcon');
  const { page } = await logIn(READER, place);
  const other = await logIn(READER, '#reminders');
  const rows = other.page.getByRole('main').getByRole('listitem').filter({ hasText: 'Feed the falcon' });
  await choose(page, 'Feed the falcon', 'Remind me about this');
  const dialog = page.getByRole('dialog');
  await expect(dialog.getByRole('radio', { name: 'Tomorrow' })).toBeChecked();
  expect(await violationsIn(page)).toEqual([]);
  await dialog.getByRole('textbox', { name: 'Note' }).fill('before the hunt');
  await dialog.getByRole('radio', { name: 'In an hour' }).check();
  await dialog.getByRole('button', { name: 'Set reminder' }).click();
  await expect(dialog).toHaveCount(0);

  await expect(rows).toContainText('before the hunt');
  await expect(rows.getByRole('time')).toHaveCount(1);
  expect(await violationsIn(other.page)).toEqual([]);
  await page
    .getByRole('navigation')
    .getByRole('link', { name: /^Reminders/ })
    .click();
  const row = page.getByRole('main').getByRole('listitem').filter({ hasText: 'Feed the falcon' });
  await row.getByRole('button', { name: 'Delete' }).click();
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await expect(row).toHaveCount(0);
  await expect(rows).toHaveCount(0);
});

test('accepts a reminder time by keyboard, and shows why a time is rejected', async ({ server, logIn }) => {
  await post(server, 'iago', 'keys-of-cordelia', 'Feed the owl');
  const { page } = await logIn(READER, await placeOf(server, 'keys-of-cordelia'));
  await choose(page, 'Feed the owl', 'Remind me about this');
  const dialog = page.getByRole('dialog');
  await expect(dialog.getByRole('textbox', { name: 'Note' })).toBeFocused();
  await expectPastRefused(page);
  await dialog.getByLabel('Date and time').fill('2040-01-01T09:00');
  await page.keyboard.press('Enter');
  await expect(dialog).toHaveCount(0);
  await goTo(page, '#reminders');
  const row = page.getByRole('main').getByRole('listitem').filter({ hasText: 'Feed the owl' });
  await expect(row.getByRole('time')).toHaveAttribute('datetime', /^2040-01-01T/);
});

test('shows an error next to the form if the message has been deleted', async ({ server, logIn }) => {
  const { id } = await post(server, 'iago', 'gone-of-cordelia', 'Feed nobody');
  const { page } = await logIn(READER, await placeOf(server, 'gone-of-cordelia'));
  await choose(page, 'Feed nobody', 'Remind me about this');
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox', { name: 'Note' }).fill('kept');
  await server.call('iago', 'DELETE', `/messages/${id}`);
  await expect(messageWith(page, 'Feed nobody')).toHaveCount(0);
  await dialog.getByRole('button', { name: 'Set reminder' }).click();
  await expect(dialog.getByRole('alert')).toContainText('The message does not exist');
  await expect(dialog.getByRole('textbox', { name: 'Note' })).toHaveValue('kept');
});

test('confirms copied links, reminders and unread marks on a phone and to screen readers', async ({
  browser,
  server,
  logIn,
}) => {
  await post(server, 'iago', 'confirmed', 'Feed the raven');
  const place = await placeOf(server, 'confirmed');
  const { context } = await logIn('hamlet', place);
  await context.grantPermissions(['clipboard-write']);
  const page = await openPhone(browser, context);
  await page.context().grantPermissions(['clipboard-write']);
  await page.goto(`${server.url}/${place}`);
  const said = page.getByRole('main').getByRole('status');
  const top = () => messageWith(page, 'Feed the raven').evaluate((each) => each.getBoundingClientRect().top);
  await expect(messageWith(page, 'Feed the raven')).toBeVisible();
  const before = await top();
  const act = async (entry: string) => {
    await longPress(page, messageWith(page, 'Feed the raven'));
    await page.getByRole('menuitem', { name: entry }).tap();
  };
  await act('Copy link to message');
  await expect(said.filter({ hasText: 'Link copied' })).toBeInViewport();
  expect(await top()).toBe(before);
  await act('Remind me about this');
  await page.getByRole('button', { name: 'Set reminder' }).tap();
  await expect(said.filter({ hasText: 'You will be reminded:' })).toBeInViewport();
  await act('Mark as unread from here');
  await expect(said.filter({ hasText: 'Marked as unread' })).toBeInViewport();
  expect(await violationsIn(page)).toEqual([]);
  await expect(said.filter({ hasText: 'Marked as unread' })).toHaveCount(0);
  await page.context().close();
});
