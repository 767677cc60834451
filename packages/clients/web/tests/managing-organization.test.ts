import type { Locator, Page } from '@playwright/test';
import { expect, goTo, idOf, type Person, test, violationsIn } from './stories.js';

/** Control of a setting in its row. */
const row = ({ page }: Person, name: string) => page.locator(`[data-setting="${name}"]`);

test('shows all organization settings to owners and members, without axe findings', async ({ logIn }) => {
  for (const person of ['desdemona', 'hamlet']) {
    const { page } = await logIn(person, '#organization');
    const sections = page.getByRole('navigation', { name: 'Organization settings' });
    await expect(sections.getByRole('link').first()).toBeVisible();
    for (const link of await sections.getByRole('link').all()) {
      await link.click();
      await expect(page.getByRole('heading', { level: 2, name: (await link.textContent())! })).toBeVisible();
      expect(await violationsIn(page)).toEqual([]);
    }
  }
});

test('changes organization settings and permissions, which others see immediately', async ({ logIn }) => {
  const desdemona = await logIn('desdemona', '#organization/organization-profile');
  const hamlet = await logIn('hamlet', '#organization/organization-profile');
  await desdemona.page.getByLabel('Description').fill('A **new** description');
  await row(desdemona, 'description').getByRole('button', { name: 'Save' }).click();
  await expect(hamlet.page.getByLabel('Description')).toHaveValue('A **new** description');
  await expect(hamlet.page.getByLabel('Description')).toBeDisabled();
  for (const { page } of [desdemona, hamlet]) await goTo(page, '#organization/organization-permissions');
  await desdemona.page.getByRole('combobox', { name: 'Who can add emoji?' }).fill('hamlet');
  await desdemona.page.keyboard.press('Enter');
  await expect(row(hamlet, 'can_add_custom_emoji_group')).toContainText('King Hamlet');
  await goTo(desdemona.page, '#organization/organization-settings');
  await desdemona.page.getByLabel('Messages can be edited').selectOption({ label: 'Other' });
  await row(desdemona, 'message_content_edit_limit_seconds').getByRole('spinbutton').fill('15');
  await desdemona.page.keyboard.press('Enter');
  await expect(row(desdemona, 'message_content_edit_limit_seconds').getByText('Saved')).toBeVisible();
});

test('closes the question about a deactivation when the user leaves the page', async ({ logIn }) => {
  const { page } = await logIn('iago', '#organization/organization-profile');
  await goTo(page, '#organization/users');
  await page.getByRole('button', { name: 'Deactivate Cordelia' }).click();
  const dialog = page.getByRole('dialog');
  await expect(dialog.getByRole('button', { name: 'Deactivate' })).toBeVisible();
  await page.goBack();
  await expect(page.getByRole('heading', { level: 2, name: 'Organization profile' })).toBeVisible();
  await expect(dialog).toHaveCount(0);
});

test('finds a person by email address, changes a role, deactivates a person and reactivates them', async ({
  logIn,
}) => {
  const { page } = await logIn('iago', '#organization/users');
  const people = page.getByRole('table', { name: 'People' });
  await page.getByRole('searchbox', { name: 'Search people' }).fill('desd');
  await expect(people.getByRole('button', { name: 'Manage Desdemona' })).toBeVisible();
  await expect(people.getByRole('button', { name: 'Deactivate Desdemona' })).toHaveCount(0);
  await page.getByRole('searchbox', { name: 'Search people' }).fill('Prospero@zulip');
  await expect(people.getByRole('row')).toHaveCount(2);
  await page.getByRole('button', { name: /Manage Prospero/ }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Role').selectOption({ label: 'Moderator' });
  await expect(dialog.getByText('Saved')).toBeVisible();
  expect(await violationsIn(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await expect(people).toContainText('Moderator');
  await page.getByRole('button', { name: /Deactivate Prospero/ }).click();
  await dialog.getByRole('button', { name: 'Deactivate' }).click();
  await page.getByRole('combobox', { name: 'Accounts' }).selectOption({ label: 'Deactivated' });
  await page.getByRole('button', { name: /Reactivate Prospero/ }).click();
  await expect(people).not.toBeAttached();
});

test('offers only roles that the person can receive', async ({ logIn }) => {
  const { page } = await logIn('desdemona', '#organization/users');
  const role = page.getByRole('dialog').getByLabel('Role');
  for (const [name, roles] of [
    ['Zoe', ['Owner', 'Administrator', 'Moderator', 'Member', 'Guest']],
    ['Polonius', ['Moderator', 'Member', 'Guest']],
  ] as const) {
    await page.getByRole('button', { name: `Manage ${name}` }).click();
    await expect(role.getByRole('option')).toHaveText(roles);
    await page.keyboard.press('Escape');
  }
});

test("opens the people and invitation pages at Zulip's addresses", async ({ logIn }) => {
  const { page } = await logIn('iago', '#organization/users/deactivated');
  await expect(page.getByRole('combobox', { name: 'Accounts' })).toHaveValue('deactivated');
  await goTo(page, '#organization/users/active');
  await expect(page.getByRole('combobox', { name: 'Accounts' })).toHaveValue('active');
  for (const hash of ['#organization/users/invitations', '#invite']) {
    await goTo(page, hash);
    await expect(page.getByRole('heading', { name: 'Invitations' })).toBeVisible();
    await goTo(page, '#inbox');
  }
});

test('shows which pages are reserved for administrators, and links to the others', async ({ logIn }) => {
  const { page } = await logIn('hamlet', '#organization/data-exports-admin');
  const notice = page.getByText('This page is for administrators only.');
  await expect(notice).toBeVisible();
  await goTo(page, '#organization/organization-level-user-defaults');
  await expect(notice).toBeVisible();
  expect(await violationsIn(page)).toEqual([]);
  await notice.getByRole('link', { name: 'Organization settings' }).click();
  await expect(page.getByRole('heading', { name: 'Organization profile' })).toBeVisible();
});

test('invites by link and revokes the invitation, which another window shows', async ({ logIn }) => {
  const { page } = await logIn('iago', '#organization/invitations');
  const other = await logIn('desdemona', '#organization/invitations');
  await page.getByRole('button', { name: 'Create link' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Expires').selectOption({ label: 'Never' });
  expect(await violationsIn(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Create' }).click();
  await expect(dialog.getByRole('textbox', { name: 'Invitation link' })).toHaveValue(/\/join\//);
  await page.keyboard.press('Escape');
  for (const each of [page, other.page]) {
    await expect(each.getByRole('list', { name: 'Invitations' })).toContainText('never expires');
  }
  await page.getByRole('button', { name: 'Invite by email' }).click();
  await dialog.getByLabel('Email addresses').fill('not an address');
  await dialog.getByRole('button', { name: 'Invite' }).click();
  await expect(dialog.getByRole('alert')).toBeVisible();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: /Withdraw/ }).click();
  await dialog.getByRole('button', { name: 'Withdraw' }).click();
  await expect(other.page.getByText('There are no open invitations.')).toBeVisible();
});

test('shows which addresses were not invited and why, and keeps only these addresses', async ({ logIn }) => {
  const { page, context } = await logIn('iago', '#organization/invitations');
  await context.grantPermissions(['clipboard-write']);
  await page.getByRole('button', { name: 'Invite by email' }).click();
  const dialog = page.getByRole('dialog');
  const field = dialog.getByLabel('Email addresses');
  const refused = dialog.getByRole('list', { name: 'Addresses that were not invited' });
  await field.fill('new.person@example.com\nnonsense');
  await dialog.getByRole('button', { name: 'Invite' }).click();
  await expect(refused.getByRole('listitem')).toHaveText([/nonsense.*Invalid address\./]);
  await expect(field).toHaveValue('new.person@example.com\nnonsense');
  await expect(dialog.getByRole('alert')).toHaveText('No one was invited because of these addresses.');
  await field.fill('new.person@example.com\nhamlet@zulip.com');
  await dialog.getByRole('button', { name: 'Invite' }).click();
  await expect(refused.getByRole('listitem')).toHaveText([/hamlet@zulip\.com.*Already has an account\./]);
  await expect(field).toHaveValue('hamlet@zulip.com');
  await expect(dialog.getByRole('alert')).toHaveText('Not everyone could be invited.');
  expect(await violationsIn(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Create link' }).click();
  await dialog.getByRole('button', { name: 'Create' }).click();
  await dialog.getByRole('button', { name: 'Copy link' }).waitFor();
  await page.keyboard.press('Escape');
  const item = (text: string) => page.getByRole('listitem').filter({ hasText: text });
  await item('Link for several people').getByRole('button', { name: 'Copy link' }).click();
  await expect(item('Link for several people').getByText('Copied')).toBeVisible();
  await page.getByRole('button', { name: 'Send again to new.person@example.com' }).click();
  await expect(item('new.person@example.com').getByText('Sent')).toBeVisible();
  for (const title of ['Link for several people', 'new.person@example.com']) {
    await page.getByRole('button', { name: `Withdraw ${title}` }).click();
    await dialog.getByRole('button', { name: 'Withdraw' }).click();
  }
  await expect(page.getByText('There are no open invitations.')).toBeVisible();
});

test('explains errors that share a code, and invitation errors, in German', async ({ browser, server, logIn }) => {
  const { context } = await logIn('desdemona');
  const german = await browser.newContext({ locale: 'de-DE', storageState: await context.storageState() });
  const page = await german.newPage();
  const dialog = page.getByRole('dialog');
  await page.goto(`${server.url}/#organization/organization-permissions`);
  await page.getByRole('button', { name: 'Domain hinzufügen' }).click();
  await dialog.getByLabel('Domain', { exact: true }).fill('example');
  await page.keyboard.press('Enter');
  await expect(dialog.getByRole('alert')).toHaveText('Diese Domain ist nicht möglich: Sie braucht einen Punkt.');
  await page.keyboard.press('Escape');
  await goTo(page, '#settings/account-and-privacy');
  await page.getByLabel('E-Mail-Adresse', { exact: true }).fill('hamlet@zulip.com');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('alert')).toHaveText('Hat bereits ein Konto.');
  await goTo(page, '#organization/invitations');
  await page.getByRole('button', { name: 'Per E-Mail einladen' }).click();
  await dialog.getByLabel('E-Mail-Adressen').fill('hamlet@zulip.com');
  await dialog.getByRole('button', { name: 'Einladen' }).click();
  await expect(dialog.getByRole('listitem')).toContainText('Hat bereits ein Konto.');
  await german.close();
});

test('fetches no invitations for people without permission to invite', async ({ logIn }) => {
  const { page } = await logIn('polonius', '#inbox');
  const calls: string[] = [];
  page.on('request', (request) => calls.push(request.url()));
  await goTo(page, '#organization/invitations');
  await expect(page.getByText('You are not allowed to invite people.')).toBeVisible();
  expect(calls.filter((url) => url.includes('/invites'))).toEqual([]);
});

test('logs a person out everywhere, and removes their second factors', async ({ logIn, server }) => {
  const { page } = await logIn('iago', '#organization/users');
  const aaron = await logIn('aaron', '#inbox');
  const search = page.getByRole('searchbox', { name: 'Search people' });
  const dialog = page.getByRole('dialog');
  const manage = async (name: string) => {
    await search.fill(name);
    await page.getByRole('button', { name: `Manage ${name}` }).click();
  };
  await manage('aaron');
  expect(await violationsIn(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Log out everywhere' }).click();
  await expect(dialog.getByRole('list', { name: 'Sessions' })).toContainText('Chrome, Linux');
  expect(await violationsIn(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Log out' }).click();
  await expect(dialog).toHaveCount(0);
  const { sessions } = await server.call('iago', 'GET', `/users/${await idOf(server, 'aaron')}/sessions`);
  expect(sessions).toEqual([]);
  await aaron.page.reload();
  await expect(aaron.page).toHaveURL(/\/login\//);
  await manage('aaron');
  await dialog.getByRole('button', { name: 'Remove second factors' }).click();
  await expect(dialog).toContainText('They can then log in with a password alone.');
  await dialog.getByRole('button', { name: 'Remove' }).click();
  await expect(dialog.getByRole('alert')).toContainText('There is no such second factor.');
  await page.keyboard.press('Escape');
  await manage('Desdemona');
  await expect(dialog.getByLabel('Role')).toBeDisabled();
  await expect(dialog.getByRole('button', { name: 'Log out everywhere' })).toHaveCount(0);
});

test('offers no log-in method reserved for development servers', async ({ logIn }) => {
  const desdemona = await logIn('desdemona', '#organization/auth-methods');
  await expect(row(desdemona, 'Email').getByRole('checkbox')).toBeEnabled();
  await expect(row(desdemona, 'Dev').getByRole('checkbox')).toBeDisabled();
});

test('applies both changes when two log-in methods are turned off before the first response', async ({
  browser,
  server,
  logIn,
}) => {
  const { context } = await logIn('desdemona');
  const other = await browser.newContext({ storageState: await context.storageState() });
  const page = await other.newPage();
  // This server has only one log-in method.
  await page.route('**/json/register', async (route) => {
    const response = await route.fetch();
    const method = { enabled: true, available: true };
    const realm_authentication_methods = { Email: method, GitHub: method, Google: method };
    await route.fulfill({ response, json: { ...(await response.json()), realm_authentication_methods } });
  });
  const sent: unknown[] = [];
  let respond = () => {};
  const isWanted = new Promise<void>((resolve) => {
    respond = resolve;
  });
  await page.route('**/json/realm', async (route) => {
    sent.push(JSON.parse(new URLSearchParams(route.request().postData()!).get('authentication_methods')!));
    await isWanted;
    await route.fulfill({ json: { result: 'success', msg: '' } });
  });
  await page.goto(`${server.url}/#organization/auth-methods`);
  await page.getByRole('checkbox', { name: 'GitHub' }).click();
  await page.getByRole('checkbox', { name: 'Google' }).click();
  await expect.poll(() => sent.length).toBeGreaterThan(0);
  respond();
  await expect.poll(() => sent.at(-1)).toEqual({ Email: true, GitHub: false, Google: false });
  expect(sent[0]).toEqual({ Email: true, GitHub: false, Google: true });
  await other.close();
});

test('applies a second move of an entry before the first response, and keeps the focus', async ({ server, logIn }) => {
  const { page } = await logIn('iago', '#organization/channel-folders');
  const create = async (name: string) =>
    (await server.call('iago', 'POST', '/channel_folders/create', { name })).channel_folder_id as number;
  const ids = [await create('Folder A'), await create('Folder B'), await create('Folder C')];
  const items = page.getByRole('list', { name: 'Channel folders' }).getByRole('listitem');
  const up = page.getByRole('button', { name: 'Move Folder C up' });
  await expect(up).toBeVisible();
  let respond = () => {};
  const isWanted = new Promise<void>((resolve) => {
    respond = resolve;
  });
  await page.route('**/json/channel_folders', async (route) => {
    await isWanted;
    await route.continue();
  });
  await up.focus();
  await page.keyboard.press('Enter');
  await expect(items.last()).toContainText('Folder B');
  await expect(up).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(items.last()).toContainText('Folder B');
  respond();
  const order = async () => {
    const { channel_folders: folders } = await server.call('iago', 'GET', '/channel_folders');
    return folders.map(({ id }: { id: number }) => id).filter((id: number) => ids.includes(id));
  };
  await expect.poll(order).toEqual([ids[2], ids[0], ids[1]]);
  while ((await items.first().textContent()) !== 'Folder C') {
    await up.focus();
    await page.keyboard.press('Enter');
  }
  await expect(page.getByRole('button', { name: 'Move Folder C down' })).toBeFocused();
  for (const id of ids) {
    await server.call('iago', 'PATCH', `/channel_folders/${id}`, { is_archived: true });
  }
});

test('sends only changed values of a dialog, so that changes from another window are kept', async ({
  server,
  logIn,
}) => {
  const folder = { name: 'Projects', description: 'For work' };
  const { channel_folder_id: folderId } = await server.call('iago', 'POST', '/channel_folders/create', folder);
  const linkifier = { pattern: 'T(?P<id>[0-9]+)', url_template: 'https://example.com/old/{id}' };
  const { id } = await server.call('iago', 'POST', '/realm/filters', linkifier);
  const { page } = await logIn('iago', '#organization/channel-folders');
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'Edit Projects' }).click();
  await server.call('desdemona', 'PATCH', `/channel_folders/${folderId}`, { description: 'For play' });
  // The list behind the dialog shows it.
  await expect(page.getByText('For play')).toBeVisible();
  await dialog.getByLabel('Name').fill('Plans');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByRole('list', { name: 'Channel folders' })).toContainText(/Plans.*For play/);
  await goTo(page, '#organization/linkifier-settings');
  const list = page.getByRole('list', { name: 'Linkifiers' });
  await page.getByRole('button', { name: `Edit ${linkifier.pattern}` }).click();
  const url_template = 'https://example.com/new/{id}';
  await server.call('desdemona', 'PATCH', `/realm/filters/${id}`, { ...linkifier, url_template });
  await expect(page.getByText(url_template)).toBeVisible();
  await dialog.getByLabel('Pattern').fill('Task(?P<id>[0-9]+)');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(list).toContainText('Task(?P<id>[0-9]+)');
  await expect(list).toContainText(url_template);
  await server.call('iago', 'DELETE', `/realm/filters/${id}`);
});

test('adds, orders, changes and removes linkifiers and profile fields', async ({ logIn, server }) => {
  const { page } = await logIn('iago', '#organization/linkifier-settings');
  const dialog = page.getByRole('dialog');
  const add = async (pattern: string) => {
    await page.getByRole('button', { name: 'Add linkifier' }).click();
    await dialog.getByLabel('Pattern').fill(pattern);
    await dialog.getByLabel('Address', { exact: true }).fill('https://tickets.example.com/{id}');
    await dialog.getByRole('button', { name: 'Add' }).click();
  };
  await add('T-(?P<id>[0-9]+)');
  const edit = async (example: string, reverse: string) => {
    await page.getByRole('button', { name: 'Edit T-(?P<id>[0-9]+)' }).click();
    await dialog.getByLabel('Example of a text').fill(example);
    await dialog.getByLabel('Text for a pasted address').fill(reverse);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await expect(dialog).toHaveCount(0);
  };
  await edit('T-5', 'T-{id}');
  await edit('', '');
  const { linkifiers } = await server.call('iago', 'GET', '/realm/linkifiers');
  expect(linkifiers.at(-1)).toMatchObject({ example_input: null, reverse_template: null });
  await add('(?P<id>[0-9]+)X');
  const items = page.getByRole('list', { name: 'Linkifiers' }).getByRole('listitem');
  await expect(items.last()).toContainText('(?P<id>[0-9]+)X');
  const count = await items.count();
  await items.last().getByRole('button', { name: /up$/ }).click();
  await expect(items.last()).toContainText('T-(?P<id>[0-9]+)');
  await items
    .last()
    .getByRole('button', { name: /Remove/ })
    .click();
  await dialog.getByRole('button', { name: 'Remove' }).click();
  await expect(items).toHaveCount(count - 1);
  await goTo(page, '#organization/profile-field-settings');
  await page.getByRole('button', { name: 'Add profile field' }).click();
  await dialog.getByLabel('Kind').selectOption({ label: 'List of options' });
  await dialog.getByLabel('Name').fill('Size of shirt');
  await dialog.getByRole('textbox', { name: 'Option 1' }).fill('Small');
  await dialog.getByRole('button', { name: 'Add option' }).click();
  await expect(dialog.getByRole('textbox', { name: 'Option 2' })).toBeFocused();
  await dialog.getByRole('textbox', { name: 'Option 2' }).fill('Large');
  await dialog.getByRole('button', { name: 'Move Large up' }).click();
  expect(await violationsIn(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Add', exact: true }).click();
  await expect(page.getByRole('list', { name: 'Profile fields' })).toContainText('Size of shirt');
  const { custom_fields } = await server.call('iago', 'GET', '/realm/profile_fields');
  const { field_data } = custom_fields.find(({ name }: { name: string }) => name === 'Size of shirt');
  expect(
    Object.values(JSON.parse(field_data))
      .map((option) => Object.values(option as object).join())
      .sort(),
  ).toEqual(['Large,1', 'Small,2']);
});

test("keeps users' choices when an option is renamed, and warns that deleting an option deletes them", async ({
  logIn,
  server,
}) => {
  const { page } = await logIn('iago', '#organization/profile-field-settings');
  const dialog = page.getByRole('dialog');
  const field = await server.call('iago', 'POST', '/realm/profile_fields', {
    field_type: 3,
    name: 'Size of hat',
    field_data: { 0: { text: 'Small', order: '1' }, big: { text: 'Large', order: '2' } },
  });
  const chosen = async (person: string) =>
    (await server.call(person, 'GET', '/users/me', { include_custom_profile_fields: true })).profile_data?.[field.id]
      ?.value;
  for (const [person, value] of [
    ['hamlet', '0'],
    ['cordelia', 'big'],
  ] as const) {
    await server.call(person, 'PATCH', '/users/me/profile_data', { data: [{ id: field.id, value }] });
  }
  const edit = page.getByRole('button', { name: 'Edit Size of hat' });
  await edit.click();
  await dialog.getByRole('textbox', { name: 'Option 2' }).fill('Enormous');
  await dialog.getByRole('button', { name: 'Add option' }).click();
  await dialog.getByRole('textbox', { name: 'Option 3' }).fill('Huge');
  await expect(dialog.getByText('The choices that people made there are deleted.')).toHaveCount(0);
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(dialog).toHaveCount(0);
  expect([await chosen('hamlet'), await chosen('cordelia')]).toEqual(['0', 'big']);
  await edit.click();
  await dialog.getByRole('button', { name: 'Remove Enormous' }).click();
  await expect(dialog.getByText('The choices that people made there are deleted.')).toBeVisible();
  expect(await violationsIn(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(dialog).toHaveCount(0);
  expect([await chosen('hamlet'), await chosen('cordelia')]).toEqual(['0', undefined]);
  await server.call('iago', 'DELETE', `/realm/profile_fields/${field.id}`);
});

test('creates a group, changes its members and deactivates it', async ({ logIn }) => {
  const { page } = await logIn('iago', '#groups/all');
  const other = await logIn('hamlet', '#groups/all');
  await page.getByRole('button', { name: 'Create group' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('actors');
  await dialog.getByRole('combobox', { name: 'People' }).fill('oth');
  await page.keyboard.press('Enter');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await expect(page.getByRole('main').getByRole('heading', { level: 2 })).toHaveText('actors');
  await expect(other.page.getByRole('list', { name: 'Groups' })).toContainText('actors');
  expect(await violationsIn(page)).toEqual([]);
  await page.getByRole('link', { name: 'Members' }).click();
  await page.getByRole('button', { name: /Remove Othello/ }).click();
  await expect(page.getByRole('list', { name: 'Members' })).not.toContainText('Othello');
  await page.getByRole('link', { name: 'General', exact: true }).click();
  await page.getByRole('button', { name: 'Deactivate group' }).click();
  await dialog.getByRole('button', { name: 'Deactivate' }).click();
  await expect(page.getByText('This group is deactivated.')).toBeVisible();
});

test('lists imports for owners, who undo them', async ({ logIn }) => {
  const { page } = await logIn('desdemona');
  const undone: string[] = [];
  const imports = ['complete', 'undone', 'undoing'].map((status, index) => ({
    ...{ id: index + 1, source: `slack:T${index}`, started_at: 1_700_000_000, status, message_count: 1200 },
  }));
  await page.route('**/json/realm/imports', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...(await response.json()), imports } });
  });
  await page.route('**/json/realm/imports/*/undo', async (route) => {
    undone.push(new URL(route.request().url()).pathname);
    imports[0]!.status = 'undoing';
    await route.fulfill({ json: { result: 'success', msg: '' } });
  });
  await goTo(page, '#organization/imports');
  const list = page.getByRole('list', { name: 'Imports' });
  await expect(list).toContainText(/slack:T0.*1,?200 messages.*slack:T1.*undone.*slack:T2.*being undone/);
  // The undo of T2 may have been interrupted.
  await expect(list.getByRole('button')).toHaveCount(2);
  for (const source of ['slack:T2', 'slack:T0']) {
    await list.getByRole('button', { name: `Undo: ${source}` }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Undo' }).click();
    await expect(page.getByRole('dialog')).toHaveCount(0);
  }
  await expect(list).toContainText(/slack:T0.*being undone.*slack:T1/);
  expect(undone.map((path) => path.split('/').at(-2))).toEqual(['3', '1']);

  const other = await logIn('iago', '#organization/imports');
  await expect(other.page.getByRole('link', { name: 'Data exports' })).toBeVisible();
  await expect(other.page.getByRole('link', { name: 'Imports' })).toHaveCount(0);
});

/** Export of a channel with one message, and a record with a mistake. */
const RECORDS = [
  { kind: 'organization', id: '1', name: 'Acme' },
  { kind: 'person', id: 'ann', name: 'Ann Lee' },
  { kind: 'channel', id: 'c', name: 'sales', privacy: 'public', members: ['ann'] },
  { kind: 'message', id: 'm', channel: 'c', sender: 'ann', sentAt: 1_700_000_000, content: 'Who calls?' },
  { kind: 'message', id: 'x' },
].map((record) => JSON.stringify({ source: 'crm', ...record }));

async function uploadExport(page: Page, lines: readonly string[]): Promise<Locator> {
  await page.getByRole('button', { name: 'Import an export' }).click();
  const dialog = page.getByRole('dialog');
  const file = { name: 'records.jsonl', mimeType: 'application/jsonl', buffer: Buffer.from(lines.join('\n')) };
  await dialog.getByLabel('Export', { exact: true }).setInputFiles(file);
  await dialog.getByRole('button', { name: 'Upload' }).click();
  return page.getByRole('region', { name: 'records.jsonl' });
}

test('checks an uploaded export, shows the report, imports it and undoes the import', async ({ logIn }) => {
  const { page } = await logIn('desdemona', '#organization/imports');
  const rejected = await uploadExport(page, RECORDS);
  await expect(rejected.getByRole('alert')).toContainText('line 5', { timeout: 60_000 });
  await rejected.getByRole('button', { name: 'Discard' }).click();
  await expect(rejected).toHaveCount(0);

  const run = await uploadExport(page, RECORDS.slice(0, -1));
  await expect(run.getByRole('status')).toHaveText('The dry run is complete. Nothing was changed yet.', {
    timeout: 60_000,
  });
  await page.reload();
  await expect(run.getByLabel('Report')).toContainText('Messages: 1');
  await expect(run.getByLabel('Report')).toContainText('Nobody gains access to a conversation by the import.');
  expect(await violationsIn(page)).toEqual([]);
  const downloading = page.waitForEvent('download');
  await run.getByRole('link', { name: 'Download the whole report' }).click();
  expect((await downloading).suggestedFilename()).toBe('import-report.html');

  await run.getByRole('button', { name: 'Import', exact: true }).click();
  const list = page.getByRole('list', { name: 'Imports' });
  await expect(list).toContainText(/crm.*1 message/, { timeout: 60_000 });
  const imported = page.getByRole('region', { name: 'Export' });
  await expect(imported.getByRole('status')).toHaveText('The export was imported.', { timeout: 60_000 });
  await imported.getByRole('button', { name: 'Close' }).click();
  await expect(imported).toHaveCount(0);
  await list.getByRole('button', { name: 'Undo: crm' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Undo' }).click();
  await expect(list).toContainText(/crm.*undone/, { timeout: 60_000 });
});

test('names the command where the server accepts no exports', async ({ logIn }) => {
  const { page } = await logIn('desdemona');
  await page.route('**/json/realm/imports', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...(await response.json()), accepts_uploads: false } });
  });
  await goTo(page, '#organization/imports');
  await expect(page.getByText('by the command: parley import')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Import an export' })).toHaveCount(0);
});

test("starts an export, and lists it in another administrator's window", async ({ logIn, server }) => {
  await server.call('cordelia', 'PATCH', '/settings', { allow_private_data_export: true });
  const { page } = await logIn('desdemona', '#organization/data-exports-admin');
  const other = await logIn('iago', '#organization/data-exports-admin');
  await expect(other.page.getByRole('button', { name: 'Start export' })).toBeVisible();
  await page.getByRole('button', { name: 'Start export' }).click();
  await expect(page.getByRole('dialog')).toContainText('1 person agrees to the export of private data.');
  await page.getByRole('dialog').getByRole('button', { name: 'Start export' }).click();
  await expect(page.getByRole('list', { name: 'Data exports' })).toContainText('Desdemona');
  await other.page.evaluate(() => dispatchEvent(new Event('focus')));
  await expect(other.page.getByRole('list', { name: 'Data exports' })).toContainText('Desdemona');
});

test('adds default channels once some are chosen', async ({ logIn, server }) => {
  const name = 'for everybody new';
  await server.call('iago', 'POST', '/users/me/subscriptions', { subscriptions: [{ name }], announce: false });
  const { page } = await logIn('iago', '#organization/default-channels-list');
  await page.getByRole('button', { name: 'Add default channel' }).click();
  const dialog = page.getByRole('dialog');
  const add = dialog.getByRole('button', { name: 'Add', exact: true });
  await expect(add).toBeDisabled();
  await dialog.getByRole('combobox', { name: 'Channels' }).fill(name);
  await page.keyboard.press('Enter');
  await add.click();
  await expect(page.getByRole('list', { name: 'Default channels' })).toContainText(name);
});

test('manages groups of default channels, which another window shows', async ({ logIn, server }) => {
  const names = ['starter kit one', 'starter kit two'];
  await server.call('iago', 'POST', '/users/me/subscriptions', {
    subscriptions: names.map((name) => ({ name })),
    announce: false,
  });
  const { page } = await logIn('iago', '#organization/default-channel-groups');
  const other = await logIn('desdemona', '#organization/default-channel-groups');
  const groups = other.page.getByRole('list', { name: 'Default channel groups' });
  await page.getByRole('button', { name: 'Add group of channels' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Starter kit');
  const channels = dialog.getByRole('combobox', { name: 'Channels' });
  await channels.fill('starter kit one');
  await page.keyboard.press('Enter');
  expect(await violationsIn(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Add', exact: true }).click();
  await expect(groups).toContainText('#starter kit one');
  await page.getByRole('button', { name: 'Edit Starter kit' }).click();
  await dialog.getByLabel('Description').fill('For the first day');
  await channels.fill('starter kit two');
  await page.keyboard.press('Enter');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(groups).toContainText('For the first day · #starter kit one, #starter kit two');
  await page.getByRole('button', { name: 'Add group of channels' }).click();
  await dialog.getByLabel('Name').fill('Starter kit');
  await channels.fill('starter kit one');
  await page.keyboard.press('Enter');
  await dialog.getByRole('button', { name: 'Add', exact: true }).click();
  await expect(dialog.getByRole('alert')).toBeVisible();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Remove: Starter kit' }).click();
  await dialog.getByRole('button', { name: 'Remove' }).click();
  await expect(other.page.getByText('There are no groups of channels.')).toBeVisible();
});

test('puts the options of an integration into its address', async ({ logIn }) => {
  const { page } = await logIn('iago', '#organization/integrations');
  await page.getByRole('button', { name: 'Set up Prometheus Alertmanager' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Label of names').fill(' instance ');
  expect(await violationsIn(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Create bot' }).click();
  await expect(dialog.getByRole('status')).toHaveText(/\/alertmanager\?api_key=\w+&name=instance$/);
});

test('sets up an integration with chosen events, and shows a working URL', async ({ server, logIn }) => {
  const { page, context } = await logIn('iago', '#organization/integrations');
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const list = page.getByRole('list', { name: 'Integrations' });
  await page.getByRole('searchbox', { name: 'Search integrations' }).fill('github');
  await expect(list.getByRole('listitem')).toHaveCount(1);
  await expect(list.getByRole('link', { name: 'Documentation of GitHub' })).toHaveAttribute(
    'href',
    /docs\.github\.com/,
  );
  await page.getByRole('button', { name: 'Set up GitHub' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('combobox', { name: 'Channel' }).fill('Denmark');
  await page.keyboard.press('Enter');
  await dialog.getByText(/^Events: /).click();
  await dialog.getByRole('checkbox', { name: 'star', exact: true }).check();
  await dialog.getByRole('checkbox', { name: 'fork', exact: true }).uncheck();
  expect(await violationsIn(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Create bot' }).click();
  await dialog.getByRole('button', { name: 'Copy' }).click();
  await expect(dialog.getByRole('button', { name: 'Copied' })).toBeVisible();
  expect(await violationsIn(page)).toEqual([]);
  const address = await page.evaluate(() => navigator.clipboard.readText());
  await expect(dialog.getByRole('status')).toHaveText(address);
  expect(address).toContain('exclude_events=%5B%22fork%22%5D');
  const repository = { name: 'teapot' };
  for (const event of ['fork', 'star']) {
    const payload = { action: 'created', repository, forkee: { full_name: 'x/teapot' }, sender: { login: 'mona' } };
    const headers = { 'Content-Type': 'application/json', 'X-GitHub-Event': event };
    const { status } = await fetch(address, { method: 'POST', headers, body: JSON.stringify(payload) });
    expect(status).toBe(200);
  }
  const narrow = [
    { operator: 'channel', operand: 'Denmark' },
    { operator: 'topic', operand: 'teapot' },
  ];
  const query = { narrow, anchor: 'newest', num_before: 10, num_after: 0, apply_markdown: false };
  const { messages } = await server.call('iago', 'GET', '/messages', query);
  expect(messages.map(({ content }: { content: string }) => content)).toEqual(['**mona** starred the repository.']);
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Set up GitHub' }).click();
  await dialog.getByLabel('Bot').selectOption({ label: 'GitHub' });
  await dialog.getByRole('button', { name: 'Show address' }).click();
  const [key] = /api_key=\w+/.exec(address)!;
  await expect(dialog.getByRole('status')).toContainText(key);
});

test('shows the text to enter at a service without a fixed format', async ({ logIn }) => {
  const { page, context } = await logIn('iago', '#organization/integrations');
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByRole('button', { name: 'Set up Zabbix' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Create bot' }).click();
  await dialog.getByRole('button', { name: 'Copy text' }).click();
  await expect(dialog.getByRole('button', { name: 'Copied' })).toBeVisible();
  const text = await page.evaluate(() => navigator.clipboard.readText());
  expect(text).toContain(`url        ${await dialog.getByRole('status').textContent()}\n`);
  expect(text).toContain('{EVENT.STATUS}');
  expect(await violationsIn(page)).toEqual([]);
});
