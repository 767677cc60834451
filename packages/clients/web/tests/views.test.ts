import { expect, goTo, post, test, violationsIn } from './stories.js';

test('shows the chosen views in the sidebar, in every window', async ({ server, logIn }) => {
  const first = await logIn('aaron', '#inbox');
  const second = await logIn('aaron', '#inbox');
  const linkIn = ({ page }: typeof first, name: string) =>
    // Other stories may leave a count.
    page.getByRole('navigation', { name: 'Conversations' }).getByRole('link', { name: new RegExp(`^${name}`) });
  await expect(linkIn(first, 'Mentions')).toBeVisible();
  await expect(linkIn(first, 'Reminders')).toHaveCount(0);
  await first.page.getByRole('button', { name: 'Choose views' }).focus();
  await first.page.keyboard.press('Enter');
  const box = (name: string) => first.page.getByRole('dialog').getByRole('checkbox', { name, exact: true });
  await expect(box('Mentions')).toBeChecked();
  expect(await violationsIn(first.page)).toEqual([]);
  await box('Mentions').focus();
  await first.page.keyboard.press('Space');
  await expect(box('Mentions')).not.toBeChecked();
  await box('Reminders').focus();
  await first.page.keyboard.press('Space');
  await expect(box('Reminders')).toBeChecked();
  await first.page.keyboard.press('Escape');
  await expect(first.page.getByRole('button', { name: 'Choose views' })).toBeFocused();
  for (const person of [first, second]) {
    await expect(linkIn(person, 'Mentions')).toHaveCount(0);
    await expect(linkIn(person, 'Reminders')).toBeVisible();
  }
  const { navigation_views: views } = await server.call('aaron', 'GET', '/navigation_views');
  expect(views).toContainEqual({ fragment: 'narrow/is/mentioned', is_pinned: false, name: null });

  await first.page.getByRole('button', { name: 'Choose views' }).click();
  await box('Mentions').click();
  await expect(box('Mentions')).toBeChecked();
  await linkIn(second, 'Mentions').click();
  await expect(second.page).toHaveURL(/#narrow\/is\/mentioned$/);
});

test('lists recent read conversations, even of channels that were never opened', async ({ server, logIn }) => {
  const { id } = await post(server, 'desdemona', 'footsteps', 'Nobody was there');
  await server.call('prospero', 'POST', '/messages/flags', { messages: [id], op: 'add', flag: 'read' });
  const { page } = await logIn('prospero', '#inbox');
  await goTo(page, '#recent');
  await page.getByRole('main').getByRole('link', { name: 'footsteps' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toContainText('footsteps');
});

test('adds the current page as a view, shows why a name is rejected, and deletes it', async ({ server, logIn }) => {
  await server.call('desdemona', 'POST', '/navigation_views', {
    fragment: 'narrow/has/image',
    is_pinned: true,
    name: 'Pictures of desdemona',
  });
  const { page } = await logIn('desdemona', '#narrow/has/link');
  const links = page.getByRole('navigation', { name: 'Conversations' });
  await expect(links.getByRole('link', { name: 'Pictures of desdemona' })).toBeVisible();
  await page.getByRole('button', { name: 'Choose views' }).click();
  const dialog = page.getByRole('dialog');
  const name = dialog.getByRole('textbox', { name: 'Add the current page' });
  await name.fill('Pictures of desdemona');
  await name.press('Enter');
  await expect(dialog.getByRole('alert')).toContainText('already exists');
  await name.fill('Links of desdemona');
  await name.press('Enter');
  await expect(dialog.getByRole('checkbox', { name: 'Links of desdemona' })).toBeChecked();
  await expect(name).toHaveCount(0);
  expect(await violationsIn(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Delete the view Pictures of desdemona' }).click();
  await expect(dialog.getByRole('checkbox', { name: 'Pictures of desdemona' })).toHaveCount(0);
  await page.keyboard.press('Escape');
  await goTo(page, '#inbox');
  await links.getByRole('link', { name: 'Links of desdemona' }).click();
  await expect(page).toHaveURL(/#narrow\/has\/link$/);
  await server.call('desdemona', 'DELETE', '/navigation_views/narrow/has/link');
  await expect(links.getByRole('link', { name: 'Links of desdemona' })).toHaveCount(0);
});

test('marks conversations that mention the reader in the inbox and in recent conversations', async ({
  server,
  logIn,
}) => {
  const { page } = await logIn('othello', '#inbox');
  await post(server, 'iago', 'mentioning', 'Look, @**Othello, the Moor of Venice**');
  await post(server, 'iago', 'unmarked', 'Nobody is meant');
  const row = (topic: string) => page.getByRole('main').getByRole('listitem').filter({ hasText: topic });
  for (const place of ['#inbox', '#recent']) {
    await goTo(page, place);
    await expect(row('mentioning').getByRole('img', { name: 'You were mentioned' })).toBeVisible();
    await expect(row('unmarked')).toBeVisible();
    await expect(row('unmarked').getByRole('img', { name: 'You were mentioned' })).toHaveCount(0);
  }
});
