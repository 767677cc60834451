import { expect, goTo, idOf, messageWith, openPhone, placeOf, post, test, violationsIn } from './stories.js';

test('marks an edited message in its first line', async ({ logIn, server }) => {
  const { id: first } = await post(server, 'iago', 'marks', 'Before the change');
  const { id: second } = await post(server, 'iago', 'marks', 'Directly below it');
  const { page } = await logIn('hamlet', await placeOf(server, 'marks'));
  const heightOf = async (text: string) => (await messageWith(page, text).first().boundingBox())!.height;
  const before = [await heightOf('Before the change'), await heightOf('Directly below it')];
  for (const id of [first, second]) {
    await server.call('iago', 'PATCH', `/messages/${id}`, { content: id === first ? 'Changed' : 'Changed below' });
  }
  await expect(messageWith(page, 'Changed below')).toContainText('edited');
  await expect(page.getByText('edited')).toHaveCount(2);
  expect([await heightOf('Changed'), await heightOf('Changed below')]).toEqual(before);
});

test('keeps a tapped message unchanged on a phone', async ({ browser, logIn, server }) => {
  await post(server, 'iago', 'buttons', 'Covered by nothing');
  const { context } = await logIn('hamlet');
  const page = await openPhone(browser, context);
  await page.goto(`${server.url}/${await placeOf(server, 'buttons')}`);
  const message = messageWith(page, 'Covered by nothing');
  const before = await message.boundingBox();
  await message.tap();
  await expect(message.getByRole('toolbar')).toHaveCSS('opacity', '0');
  expect(await message.boundingBox()).toEqual(before);
  const title = page.getByRole('heading', { level: 1 });
  for (const name of ['Verona', 'buttons']) await expect(title.getByText(name, { exact: true })).toBeInViewport();
  await page.context().close();
});

test('opens a conversation without a focus ring around its messages', async ({ logIn, server }) => {
  await post(server, 'iago', 'rings', 'Ready to be read');
  const { page } = await logIn('hamlet', '#inbox');
  await goTo(page, await placeOf(server, 'rings'));
  const list = page.getByRole('region', { name: 'Messages' });
  await expect(list).toBeFocused();
  await expect(list).toHaveCSS('outline-style', 'none');
  await page.keyboard.press('ArrowUp');
  await expect(page.locator('[data-key]:focus')).toHaveCSS('outline-style', 'solid');
});

test('shows more messages in the compact density', async ({ logIn, server }) => {
  await post(server, 'iago', 'density', 'Of any height');
  const { page } = await logIn('zoe', await placeOf(server, 'density'));
  const height = async () => (await messageWith(page, 'Of any height').boundingBox())!.height;
  const comfortable = await height();
  await goTo(page, '#settings/preferences');
  await page.getByLabel('Density').selectOption({ label: 'Compact' });
  await expect(page.locator('html')).toHaveAttribute('data-compact');
  await goTo(page, await placeOf(server, 'density'));
  expect(await height()).toBeLessThan(comfortable - 8);
  await server.call('zoe', 'PATCH', '/settings', { web_line_height_percent: 140 });
  await expect.poll(height).toBe(comfortable);
});

test('shows initials of people without a picture in browsers that choose them', async ({ logIn, server }) => {
  await post(server, 'iago', 'initials', 'Signed');
  const { page } = await logIn('zoe', '#settings/preferences');
  await page.getByLabel('Show initials of people without a picture').check();
  await goTo(page, await placeOf(server, 'initials'));
  const side = messageWith(page, 'Signed').locator('[part="avatar"]');
  await expect(side).toHaveText('I');
  await page.reload();
  await expect(side).toHaveText('I');
  await goTo(page, '#settings/preferences');
  await page.getByLabel('Show initials of people without a picture').uncheck();
  await goTo(page, await placeOf(server, 'initials'));
  await expect(messageWith(page, 'Signed').locator('img[part="avatar"]')).toBeVisible();
});

test('finds settings of all pages and changes them in the results', async ({ logIn, server }) => {
  const { page } = await logIn('zoe', '#settings/profile');
  const search = page.getByRole('searchbox', { name: 'Search settings' });
  await search.fill('emoticons');
  const found = page.getByRole('region', { name: 'Search settings' });
  await expect(found.getByRole('heading', { level: 2 })).toHaveText(['Preferences']);
  await expect(found.getByRole('checkbox')).toHaveCount(1);
  expect(await violationsIn(page)).toEqual([]);
  await found.getByRole('checkbox').check();
  await expect(found.getByText('Saved')).toBeVisible();
  await server.call('zoe', 'PATCH', '/settings', { translate_emoticons: false });
  await expect(found.getByRole('checkbox')).not.toBeChecked();
  await search.fill('xyzzyplugh');
  await expect(found.getByRole('status').first()).toHaveText('Nothing found');
  await search.fill('');
  await expect(page.getByRole('heading', { level: 2, name: 'Profile' })).toBeVisible();
});

test('sorts people, and changes the role of selected people', async ({ logIn, server }) => {
  const { page } = await logIn('iago', '#organization/users');
  const people = page.getByRole('table', { name: 'People' });
  const names = people.getByRole('row').getByRole('button', { name: /^Manage / });
  const first = await names.first().getAttribute('aria-label');
  await people.getByRole('button', { name: 'Name' }).click();
  await expect(people.getByRole('columnheader', { name: 'Name' })).toHaveAttribute('aria-sort', 'descending');
  await expect(names.first()).not.toHaveAttribute('aria-label', first!);
  await people.getByRole('button', { name: 'Role' }).click();
  await expect(people.getByRole('row').nth(1)).toContainText('Owner');
  await page.getByRole('searchbox', { name: 'Search people' }).fill('oth');
  const role = async () => (await server.call('iago', 'GET', `/users/${await idOf(server, 'othello')}`)).user.role;
  const before = await role();
  await people.getByRole('checkbox', { name: 'Select all' }).focus();
  await page.keyboard.press('Space');
  expect(await violationsIn(page)).toEqual([]);
  await page.getByRole('button', { name: 'Change role' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Role').selectOption({ label: 'Moderator' });
  await dialog.getByRole('button', { name: 'Change role' }).click();
  await expect(dialog).toHaveCount(0);
  await expect(people).toContainText('Moderator');
  expect(await role()).toBe(300);
  await server.call('iago', 'PATCH', `/users/${await idOf(server, 'othello')}`, { role: before });
});

test('deactivates several people at once', async ({ logIn, server }) => {
  for (const name of ['together one', 'together two']) {
    const email = `${name.replace(' ', '')}@zulip.com`;
    await server.call('desdemona', 'POST', '/users', { email, password: `pw-${email}`, full_name: `${name}` });
  }
  const { page } = await logIn('iago', '#organization/users');
  const people = page.getByRole('table', { name: 'People' });
  await people.getByRole('checkbox', { name: 'Select all' }).check();
  await expect(people.getByRole('checkbox', { name: 'Select Polonius' })).toBeChecked();
  await expect(people.getByRole('row', { name: 'Iago' }).getByRole('checkbox')).toHaveCount(0);
  await people.getByRole('checkbox', { name: 'Select all' }).uncheck();
  await page.getByRole('searchbox', { name: 'Search people' }).fill('together');
  for (const name of ['together one', 'together two']) {
    await page.getByRole('checkbox', { name: `Select ${name}` }).check();
  }
  await expect(page.getByText('2 selected')).toBeVisible();
  await page.getByRole('button', { name: 'Deactivate', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Deactivate' }).click();
  await expect(page.getByText('Nobody found')).toBeVisible();
  const { members } = await server.call('iago', 'GET', '/users');
  const active = members.filter(
    (each: { full_name: string; is_active: boolean }) => each.full_name.startsWith('together') && each.is_active,
  );
  expect(active).toEqual([]);
});
