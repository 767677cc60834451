import { expect, goTo, messageWith, type Person, post, test, violationsIn } from './stories.js';

/** Control of a setting in its row. */
const row = ({ page }: Person, name: string) => page.locator(`[data-setting="${name}"]`);

const saved = (person: Person, name: string) => expect(row(person, name).getByText('Saved')).toBeVisible();

test('opens all personal settings from the menu, without axe findings', async ({ logIn }) => {
  const { page } = await logIn('cordelia', '#inbox');
  await page.getByRole('button', { name: 'Main menu' }).click();
  await page.getByRole('menuitem', { name: 'Settings', exact: true }).click();
  const sections = page.getByRole('navigation', { name: 'Personal settings' });
  await expect(sections.getByRole('link')).toHaveCount(10);
  for (const link of await sections.getByRole('link').all()) {
    await link.click();
    await expect(page.getByRole('heading', { level: 2, name: (await link.textContent())! })).toBeVisible();
    expect(await violationsIn(page)).toEqual([]);
  }
});

test("changes the user's name and a profile field, which another window shows", async ({ logIn }) => {
  const zoe = await logIn('zoe', '#settings/profile');
  const other = await logIn('zoe', '#settings/profile');
  await zoe.page.getByLabel('Name', { exact: true }).fill('Zoe the Second');
  await zoe.page.keyboard.press('Enter');
  await saved(zoe, 'full_name');
  await expect(other.page.getByLabel('Name', { exact: true })).toHaveValue('Zoe the Second');
  await zoe.page.getByLabel('Favorite food').fill('Pears');
  await zoe.page.keyboard.press('Enter');
  await expect(other.page.getByLabel('Favorite food')).toHaveValue('Pears');
});

test('keeps an unsaved text across other pages and a reload until it is saved or discarded', async ({
  server,
  logIn,
}) => {
  const cordelia = await logIn('cordelia', '#settings/profile');
  const { page } = cordelia;
  const name = page.getByLabel('Name', { exact: true });
  const food = page.getByLabel('Favorite food');
  const foodRow = page.locator('[data-setting]').filter({ has: food });
  const notice = row(cordelia, 'full_name').getByText('to “Cordelia of Britain”');
  await name.fill('Cordelia of France');
  await food.fill('Salt');
  await goTo(page, '#inbox');
  await expect(name).toHaveCount(0);
  await goTo(page, '#settings/profile');
  await expect(name).toHaveValue('Cordelia of France');
  await foodRow.getByRole('button', { name: 'Cancel' }).click();
  await page.reload();
  await expect(name).toHaveValue('Cordelia of France');
  await expect(food).not.toHaveValue('Salt');
  await server.call('cordelia', 'PATCH', '/settings', { full_name: 'Cordelia of Britain' });
  await expect(notice).toBeVisible();
  await page.reload();
  await expect(notice).toBeVisible();
  await name.press('Enter');
  await saved(cordelia, 'full_name');
  await page.reload();
  await expect(name).toHaveValue('Cordelia of France');
  await expect(row(cordelia, 'full_name').getByRole('button', { name: 'Save' })).toHaveCount(0);
  // Other stories refer to this person by the original name.
  await server.call('cordelia', 'PATCH', '/settings', { full_name: "Cordelia, Lear's daughter" });
});

test('clears profile fields of every kind, of oneself and of another person', async ({ server, logIn }) => {
  const { custom_fields: fields } = await server.call('othello', 'GET', '/realm/profile_fields');
  const values = { Birthday: '2001-02-03', 'Favorite website': 'https://example.com/', 'Favorite editor': '1' };
  const fill = () =>
    server.call('othello', 'PATCH', '/users/me/profile_data', {
      data: Object.entries(values).map(([name, value]) => ({
        ...{ id: fields.find((field: { name: string }) => field.name === name).id, value },
      })),
    });
  const { page: own } = await logIn('othello', '#settings/profile');
  const { page: managed } = await logIn('iago', '#organization/users');
  await managed.getByRole('searchbox', { name: 'Search people' }).fill('othello');
  await managed.getByRole('button', { name: 'Manage Othello, the Moor of Venice' }).click();
  for (const page of [own, managed]) {
    await fill();
    const list = page.getByLabel('Favorite editor');
    for (const [name, value] of Object.entries(values).slice(0, 2)) {
      const row = page.locator('[data-setting]').filter({ has: page.getByLabel(name) });
      await expect(page.getByLabel(name)).toHaveValue(value);
      await page.getByLabel(name).fill('');
      await row.getByRole('button', { name: 'Save' }).click();
      await expect(row.getByText('Saved')).toBeVisible();
    }
    await expect(list.locator('option:checked')).toHaveText('Emacs');
    await list.selectOption({ label: '–' });
    await expect(list.locator('option')).toHaveText(['–', 'Vim', 'Emacs']);
    const dataOf = async () => Object.keys((await server.call('othello', 'GET', '/users/me')).profile_data);
    await expect.poll(dataOf).toEqual([]);
  }
});

test('applies theme, font size and language, here and in another window', async ({ server, logIn }) => {
  const polonius = await logIn('polonius', '#settings/preferences');
  const other = await logIn('polonius', '#inbox');
  const { page } = polonius;
  await page.getByLabel('Theme').selectOption({ label: 'Dark' });
  await saved(polonius, 'color_scheme');
  await page.getByLabel('Text size').selectOption({ label: 'Large' });
  for (const each of [page, other.page]) {
    await expect(each.locator('html')).toHaveAttribute('data-theme', 'dark');
    await expect(each.locator('html')).toHaveAttribute('style', 'font-size: 112.5%;');
  }
  expect(await violationsIn(page)).toEqual([]);
  await page.getByLabel('Language').selectOption({ label: 'Deutsch' });
  await expect(page.getByRole('heading', { level: 2, name: 'Voreinstellungen' })).toBeVisible();
  await expect(other.page.getByRole('heading', { level: 1 })).toHaveText('Posteingang');
  await page.reload();
  await expect(page.getByLabel('Design')).toHaveValue('2');
  // Other stories read this person's pages in English.
  await server.call('polonius', 'PATCH', '/settings', { default_language: 'en' });
});

test("shows the page's language and resets it to the organization's default", async ({ browser, server, logIn }) => {
  const { context } = await logIn('prospero');
  const german = await browser.newContext({ locale: 'de-DE', storageState: await context.storageState() });
  const page = await german.newPage();
  await page.goto(`${server.url}/#settings/preferences`);
  const title = page.getByRole('main').getByRole('heading', { level: 2 }).last();
  await expect(title).toHaveText('Voreinstellungen');
  await expect(page.getByLabel('Sprache').locator(':checked')).toHaveText('Deutsch');
  await page.getByLabel('Sprache').selectOption({ label: 'English' });
  await expect(title).toHaveText('Preferences');
  await page.reload();
  await expect(title).toHaveText('Preferences');
  await expect(page.getByLabel('Language').locator(':checked')).toHaveText('English');
  // The language of another app, without a translation here.
  await expect(page.getByText('There is no translation')).toHaveCount(0);
  await server.call('prospero', 'PATCH', '/settings', { default_language: 'sv' });
  await expect(page.getByText('There is no translation for “Swedish”, which you chose elsewhere.')).toBeVisible();
  await expect(page.getByLabel('Language').locator(':checked')).toHaveText('English');
  await page.getByLabel('Language').selectOption({ label: 'English' });
  await german.close();
});

for (const [name, place, property] of [
  ['Group channels by folder in the sidebar', '#settings/preferences', 'web_left_sidebar_show_channel_folders'],
  ['Direct messages and mentions: Browser', '#settings/notifications', 'enable_desktop_notifications'],
] as const) {
  test(`saves the last of two quick choices of “${name}”, although the first request takes longer`, async ({
    logIn,
    server,
  }) => {
    const { page } = await logIn('zoe', place);
    const box = page.getByRole('checkbox', { name });
    await expect(box).toBeChecked();
    let begun = 0;
    let done = 0;
    await page.route('**/json/settings', async (route) => {
      begun++;
      if (begun === 1) await new Promise((resolve) => setTimeout(resolve, 1000));
      await route.continue();
    });
    page.on('requestfinished', (request) => {
      if (request.url().endsWith('/json/settings')) done++;
    });
    await box.uncheck();
    await box.check();
    await expect.poll(() => done).toBe(2);
    await expect(box).toBeChecked();
    const { user_settings: saved } = await server.call('zoe', 'POST', '/register', {
      fetch_event_types: ['user_settings'],
    });
    expect(saved[property]).toBe(true);
  });
}

test('configures the notifications of each event', async ({ logIn }) => {
  const shiva = await logIn('shiva', '#settings/notifications');
  const other = await logIn('shiva', '#settings/notifications');
  const box = ({ page }: Person) => page.getByRole('checkbox', { name: 'All messages of channels: Email' });
  await box(shiva).check();
  await expect(box(other)).toBeChecked();
  await shiva.page.route('**/json/settings', (route) =>
    route.fulfill({ status: 400, json: { result: 'error', msg: 'Not today', code: 'BAD_REQUEST' } }),
  );
  await box(shiva).click();
  const section = shiva.page.locator('section', { has: shiva.page.getByRole('table') });
  await expect(section.getByRole('alert')).toHaveText('Not today');
  await expect(box(shiva)).toBeChecked();
  await shiva.page.unroute('**/json/settings');
  await box(shiva).uncheck();
  await expect(section.getByRole('alert')).toHaveCount(0);
});

test('rejects an image that is too large without sending it', async ({ logIn }) => {
  const { page } = await logIn('shiva', '#settings/profile');
  const section = page.locator('section', { has: page.getByRole('heading', { name: 'Picture', exact: true }) }).last();
  const chooser = page.waitForEvent('filechooser');
  await section.getByRole('button', { name: 'Upload' }).click();
  const buffer = Buffer.alloc(5 * 1024 * 1024 + 1);
  await (await chooser).setFiles([{ name: 'large.png', mimeType: 'image/png', buffer }]);
  await expect(section.getByRole('alert')).toHaveText('The file is larger than 5 MiB.');
});

test('creates a bot, shows and replaces its key, and deactivates the bot', async ({ logIn }) => {
  const { page } = await logIn('iago', '#settings/your-bots');
  await page.getByRole('button', { name: 'Add bot' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name', { exact: true }).fill('Weather');
  await dialog.getByLabel('Name in its address').fill('weather');
  expect(await violationsIn(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Create' }).click();
  await expect(page.getByRole('list', { name: 'Bots' })).toContainText('weather-bot@');
  await page.getByRole('button', { name: 'API key of Weather' }).click();
  await dialog.getByRole('button', { name: 'Show key' }).click();
  const key = await dialog.getByRole('status').textContent();
  expect(key).toMatch(/^\w{32}$/);
  await dialog.getByRole('button', { name: 'Replace key' }).click();
  await expect(dialog.getByRole('status')).not.toHaveText(key!);
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Deactivate Weather' }).click();
  await dialog.getByRole('button', { name: 'Deactivate' }).click();
  await expect(page.getByRole('button', { name: 'Reactivate Weather' })).toBeVisible();
});

test('offers bot management only to the owner and to administrators', async ({ server, logIn }) => {
  const add = (person: string, name: string) =>
    server.call(person, 'POST', '/bots', { full_name: `Bot of ${name}`, short_name: `bot-of-${name}`, bot_type: 1 });
  await add('iago', 'iago');
  await add('cordelia', 'cordelia');
  const { user_id: gone } = await add('iago', 'nobody');
  await server.call('iago', 'DELETE', `/bots/${gone}`);
  const { page: cordelia } = await logIn('cordelia', '#organization/bots');
  await expect(cordelia.getByRole('list', { name: 'Bots' })).toContainText('Bot of iago');
  await expect(cordelia.getByRole('button', { name: 'Edit Bot of cordelia' })).toBeVisible();
  for (const name of ['API key of', 'Edit', 'Deactivate', 'Reactivate']) {
    await expect(cordelia.getByRole('button', { name: new RegExp(`^${name} Bot of (iago|nobody)`) })).toHaveCount(0);
  }
  await cordelia.getByRole('searchbox', { name: 'Search bots' }).fill('of cordelia');
  await expect(cordelia.getByText('1 bot', { exact: true })).toBeVisible();
  const { page: iago } = await logIn('iago', '#organization/bots');
  await expect(iago.getByRole('button', { name: 'Edit Bot of cordelia' })).toBeVisible();
  await expect(iago.getByRole('button', { name: 'Reactivate Bot of nobody' })).toBeVisible();
});

test('ends another session, and shows why a password is rejected', async ({ logIn }) => {
  const { page } = await logIn('aaron', '#settings/sessions');
  const other = await logIn('aaron', '#inbox');
  await page.reload();
  const logOut = page.getByRole('list', { name: 'Sessions' }).getByRole('button', { name: 'Log out' });
  await logOut.click();
  await expect(logOut).toHaveCount(0);
  await other.page.reload();
  await expect(other.page).toHaveURL(/\/login\//);
  await goTo(page, '#settings/account-and-privacy');
  await page.getByRole('button', { name: 'Change password' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Present password').fill('wrong');
  await dialog.getByLabel('New password').fill('a much better one, really');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(dialog.getByRole('alert')).toHaveText('The present password is wrong.');
});

/** Fetched lists: place, call, response without entries, and the text then shown. */
const FETCHED = [
  ['#settings/uploaded-files', 'attachments', { attachments: [] }, 'You have not uploaded any files.'],
  ['#settings/sessions', 'users/me/sessions', {}, 'This browser'],
  ['#organization/data-exports-admin', 'export/realm', { exports: [] }, 'There are no exports.'],
  ['#organization/imports', 'realm/imports', { imports: [] }, 'There are no imports.'],
  ['#organization/audit-log', 'audit?*', { entries: [] }, 'Nothing found'],
  ['#organization/invitations', 'invites', { invites: [] }, 'There are no open invitations.'],
] as const;

test('shows that a list is loading, and only afterwards that it is empty', async ({ logIn }) => {
  const { page } = await logIn('desdemona');
  for (const [place, call, empty, text] of FETCHED) {
    let arrive = () => {};
    const arrival = new Promise<void>((resolve) => {
      arrive = resolve;
    });
    await page.route(`**/json/${call}`, async (route) => {
      await arrival;
      // Other stories may have added items.
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...(await response.json()), ...empty } });
    });
    await goTo(page, place);
    await expect(page.getByText('Loading…'), place).toBeVisible();
    await expect(page.getByText(text), place).toHaveCount(0);
    arrive();
    await expect(page.getByText(text), place).toBeVisible();
    await expect(page.getByText('Loading…'), place).toHaveCount(0);
  }
});

test('leads from an uploaded file to the messages that contain it', async ({ server, logIn }) => {
  const { url } = (await server.upload('cordelia', '/user_uploads', 'letter.txt', Buffer.from('Nothing'))) as {
    url: string;
  };
  const { id } = await post(server, 'cordelia', 'letters', `Read [letter.txt](${url})`);
  const { page } = await logIn('cordelia', '#settings/uploaded-files');
  const line = page.getByRole('main').getByRole('listitem').filter({ hasText: 'letter.txt' });
  await expect(line.getByRole('link', { name: 'letter.txt' })).toBeVisible();
  expect(await violationsIn(page)).toEqual([]);
  await line.getByRole('link', { name: `Message ${id}` }).click();
  await expect(messageWith(page, 'Read letter.txt')).toBeVisible();
  await expect(page.getByRole('article')).toHaveCount(1);
});

test('moves the focus from a removed control to its replacement', async ({ server, logIn }) => {
  for (const name of ['third.txt', 'second.txt', 'first.txt']) {
    await server.upload('othello', '/user_uploads', name, Buffer.from(name));
  }
  await server.call('othello', 'POST', '/users/me/alert_words', { alert_words: ['one', 'two'] });
  const othello = await logIn('othello', '#settings/uploaded-files');
  const { page } = othello;
  const button = (name: string) => page.getByRole('button', { name });
  const files = page.getByRole('list', { name: 'Uploaded files' }).getByRole('listitem');
  await files.first().getByRole('button').focus();
  const next = await files.nth(1).getByRole('button').getAttribute('aria-label');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).press('Enter');
  await expect(button(next!)).toBeFocused();
  await goTo(page, '#settings/alert-words');
  await button('Remove one').press('Enter');
  await expect(button('Remove two')).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('main').locator('section[tabindex="0"]')).toBeFocused();
  await goTo(page, '#settings/profile');
  await page.getByLabel('Favorite food').fill('Pears');
  const row = page.locator('[data-setting]').filter({ has: page.getByLabel('Favorite food') });
  await row.getByRole('button', { name: 'Save' }).press('Enter');
  await expect(page.getByLabel('Favorite food')).toBeFocused();
});
