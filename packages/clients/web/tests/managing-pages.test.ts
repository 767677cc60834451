import type { Locator, Page } from '@playwright/test';
import { emailOf, expect, goTo, idOf, type Server, test } from './stories.js';

const REFUSED = 'Refused by the story';

/** Rejects changes by the page until the returned function is called. */
async function refuse(page: Page): Promise<() => Promise<void>> {
  const pattern = /\/json\/(?!users\/me\/presence|typing|drafts|register)/;
  await page.route(pattern, (route) =>
    route.request().method() === 'GET'
      ? route.fallback()
      : route.fulfill({ status: 400, json: { result: 'error', msg: REFUSED, code: 'BAD_REQUEST' } }),
  );
  return () => page.unroute(pattern);
}

interface List {
  readonly place: string;
  /** Adds an item from another window. */
  add(server: Server): Promise<unknown>;
  /** Button that removes the item, or field with `choice`. */
  readonly remove: string | RegExp;
  readonly choice?: string;
  /** Confirmation button of the dialog. */
  readonly confirm?: string;
}

const OWNER = 'desdemona';
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

async function channelNamed(server: Server, name: string): Promise<number> {
  await server.call(OWNER, 'POST', '/users/me/subscriptions', { subscriptions: [{ name }], announce: false });
  return (await server.call(OWNER, 'GET', '/get_stream_id', { stream: name })).stream_id;
}

const LISTS: readonly List[] = [
  {
    place: '#settings/alert-words',
    add: (server) => server.call(OWNER, 'POST', '/users/me/alert_words', { alert_words: ['quagga'] }),
    remove: 'Remove quagga',
  },
  {
    place: '#settings/topics',
    add: async (server) =>
      server.call(OWNER, 'POST', '/user_topics', {
        ...{ stream_id: await channelNamed(server, 'managed topics'), topic: 'managed topic', visibility_policy: 1 },
      }),
    remove: 'Notifications of managed topic',
    choice: 'Default',
  },
  {
    place: '#settings/muted-users',
    add: async (server) => server.call(OWNER, 'POST', `/users/me/muted_users/${await idOf(server, 'polonius')}`),
    remove: 'Unmute Polonius',
  },
  {
    place: '#settings/your-bots',
    add: (server) => server.call(OWNER, 'POST', '/bots', { full_name: 'Own Bot', short_name: 'own', bot_type: 1 }),
    remove: 'Deactivate Own Bot',
    confirm: 'Deactivate',
  },
  {
    place: '#settings/uploaded-files',
    add: (server) => server.upload(OWNER, '/user_uploads', 'managed.txt', Buffer.from('text')),
    remove: 'Delete managed.txt',
    confirm: 'Delete',
  },
  {
    place: '#organization/bots',
    add: (server) => server.call('iago', 'POST', '/bots', { full_name: 'Other Bot', short_name: 'other', bot_type: 1 }),
    remove: 'Deactivate Other Bot',
    confirm: 'Deactivate',
  },
  {
    place: '#organization/organization-permissions',
    add: (server) =>
      server.call(OWNER, 'POST', '/realm/domains', { domain: 'managed.example', allow_subdomains: false }),
    remove: 'Remove: managed.example',
    confirm: 'Remove',
  },
  {
    place: '#organization/emoji-settings',
    add: (server) => server.upload(OWNER, '/realm/emoji/managed_emoji', 'pixel.png', PIXEL),
    remove: 'Remove: :managed_emoji:',
    confirm: 'Remove',
  },
  {
    place: '#organization/linkifier-settings',
    add: (server) =>
      server.call(OWNER, 'POST', '/realm/filters', {
        ...{ pattern: 'MANAGED-(?P<id>[0-9]+)', url_template: 'https://managed.example/{id}' },
      }),
    remove: 'Remove: MANAGED-(?P<id>[0-9]+)',
    confirm: 'Remove',
  },
  {
    place: '#organization/playground-settings',
    add: (server) =>
      server.call(OWNER, 'POST', '/realm/playgrounds', {
        ...{ name: 'Managed playground', pygments_language: 'Python', url_template: 'https://managed.example/{code}' },
      }),
    remove: 'Remove: Managed playground',
    confirm: 'Remove',
  },
  {
    place: '#organization/profile-field-settings',
    add: (server) => server.call(OWNER, 'POST', '/realm/profile_fields', { name: 'Managed field', field_type: 1 }),
    remove: 'Remove: Managed field',
    confirm: 'Remove',
  },
  {
    place: '#organization/default-channels-list',
    add: async (server) =>
      server.call(OWNER, 'POST', '/default_streams', { stream_id: await channelNamed(server, 'managed default') }),
    remove: 'Remove: managed default',
    confirm: 'Remove',
  },
  {
    place: '#organization/channel-folders',
    add: (server) => server.call(OWNER, 'POST', '/channel_folders/create', { name: 'Managed folder' }),
    remove: 'Archive: Managed folder',
    confirm: 'Archive',
  },
  {
    place: '#organization/default-channel-groups',
    add: async (server) => {
      await channelNamed(server, 'managed group');
      await server.call(OWNER, 'POST', '/default_stream_groups/create', {
        ...{ group_name: 'Managed group', description: 'Of the story', stream_names: ['managed group'] },
      });
    },
    remove: 'Remove: Managed group',
    confirm: 'Remove',
  },
  {
    place: '#organization/users',
    add: (server) =>
      server.call(OWNER, 'POST', '/users', {
        ...{ email: emailOf('aardvark'), password: `pw-${emailOf('aardvark')}`, full_name: 'Aardvark Managed' },
      }),
    remove: 'Deactivate Aardvark Managed',
    confirm: 'Deactivate',
  },
  {
    place: '#organization/data-exports-admin',
    add: async (server) => {
      const { exports } = await server.call(OWNER, 'GET', '/export/realm');
      for (const { id, export_url: url } of exports) if (url) await server.call(OWNER, 'DELETE', `/export/realm/${id}`);
      await server.call(OWNER, 'POST', '/export/realm');
    },
    remove: /^Delete: /,
    confirm: 'Delete',
  },
  {
    place: '#organization/invitations',
    add: (server) =>
      server.call(OWNER, 'POST', '/invites', {
        ...{ invitee_emails: 'managed@example.com', invite_expires_in_minutes: 1440, stream_ids: [] },
      }),
    remove: 'Withdraw managed@example.com',
    confirm: 'Withdraw',
  },
];

for (const [kind, lists] of Object.entries({ settings: LISTS.slice(0, 5), organization: LISTS.slice(5) })) {
  test(`shows items of the ${kind} added in another window, why removing one fails, and its removal`, async ({
    server,
    logIn,
  }) => {
    const { page } = await logIn(OWNER);
    for (const { place, add, remove, confirm, choice } of lists) {
      await goTo(page, place);
      await expect(page.getByRole('main').getByRole('heading', { level: 2 }).last()).toBeVisible();
      await add(server);
      const button = page.getByRole(choice === undefined ? 'button' : 'combobox', { name: remove, exact: true });
      const use = () => (choice === undefined ? button.click() : button.selectOption({ label: choice }));
      await expect(button, place).toBeVisible();
      const accept = await refuse(page);
      await use();
      const confirming = page.getByRole('dialog').getByRole('button', { name: confirm ?? '', exact: true });
      if (confirm !== undefined) await confirming.click();
      await expect(page.getByRole('alert').filter({ hasText: REFUSED }), place).toBeVisible();
      await accept();
      await (confirm === undefined ? use() : confirming.click());
      await expect(button, place).toHaveCount(0);
      await expect.poll(() => page.evaluate(() => document.activeElement?.tagName), place).not.toBe('BODY');
    }
  });
}

interface Control {
  set(row: Locator, value: string): Promise<unknown>;
  expectValue(row: Locator, value: string, place: string): Promise<void>;
}

const SWITCH: Control = {
  set: (row, value) => row.getByRole('checkbox').setChecked(value === 'on'),
  expectValue: (row, value, place) => expect(row.getByRole('checkbox'), place).toBeChecked({ checked: value === 'on' }),
};
const CHOICE: Control = {
  set: (row, value) => row.getByRole('combobox').selectOption({ label: value }),
  expectValue: (row, value, place) => expect(row.locator('option:checked'), place).toHaveText(value),
};
const TEXT: Control = {
  set: async (row, value) => {
    await row.getByRole('textbox').fill(value);
    await row.getByRole('button', { name: 'Save' }).click();
  },
  expectValue: (row, value, place) => expect(row.getByRole('textbox'), place).toHaveValue(value),
};

interface SettingsPage {
  readonly place: string | ((server: Server) => Promise<string>);
  /** One setting of the page. */
  readonly setting: string;
  readonly control: Control;
  /** Initial value, and a different one. */
  readonly values: readonly [string, string];
}

const ON = ['on', 'off'] as const;
const OFF = ['off', 'on'] as const;

const channelPage = (section: string) => async (server: Server) =>
  `#channels/${await channelNamed(server, 'managed page')}/managed-page/${section}`;

async function groupPage(server: Server): Promise<string> {
  const { group_id: id } = await server.call(OWNER, 'POST', '/user_groups/create', {
    ...{ name: 'managed page', description: 'Of the story', members: [await idOf(server, OWNER)] },
  });
  return `#groups/${id}/managed-page/general`;
}

const PAGES: readonly SettingsPage[] = [
  { place: '#settings/preferences', setting: 'receives_typing_notifications', control: SWITCH, values: ON },
  { place: '#settings/preferences', setting: 'translate_emoticons', control: SWITCH, values: OFF },
  { place: '#settings/notifications', setting: 'enable_digest_emails', control: SWITCH, values: ON },
  { place: '#settings/account-and-privacy', setting: 'send_read_receipts', control: SWITCH, values: ON },
  { place: '#organization/organization-settings', setting: 'inline_image_preview', control: SWITCH, values: ON },
  {
    place: '#organization/organization-level-user-defaults',
    ...{ setting: 'receives_typing_notifications', control: SWITCH, values: ON },
  },
  {
    place: '#organization/auth-methods',
    ...{ setting: 'second_factor_required_for', control: CHOICE, values: ['Nobody', 'Owners'] },
  },
  { place: channelPage('general'), setting: 'description', control: TEXT, values: ['', 'What it is about'] },
  { place: channelPage('personal'), setting: 'is_muted', control: SWITCH, values: OFF },
  { place: groupPage, setting: 'description', control: TEXT, values: ['Of the story', 'Who is in it'] },
];

test('saves on each settings page, shows why saving failed, and shows changes of another window', async ({
  server,
  logIn,
}) => {
  test.slow();
  const [first, second] = [await logIn(OWNER), await logIn(OWNER)];
  for (const { place, setting, control, values } of PAGES) {
    const hash = typeof place === 'string' ? place : await place(server);
    const [before, after] = values;
    const [row, other] = [first, second].map(({ page }) => page.locator(`[data-setting="${setting}"]`)) as [
      Locator,
      Locator,
    ];
    for (const { page } of [first, second]) await goTo(page, hash);
    for (const each of [row, other]) await control.expectValue(each, before, hash);
    const accept = await refuse(first.page);
    await control.set(row, after).catch(() => undefined);
    await expect(row.getByRole('alert'), hash).toContainText(REFUSED);
    await control.expectValue(other, before, hash);
    await accept();
    await control.set(row, after);
    await expect(row.getByText('Saved'), hash).toBeVisible();
    await control.expectValue(other, after, hash);
    await control.set(other, before);
    await control.expectValue(row, before, hash);
  }
});

test('shows new sessions on return to the page, why ending one failed, and ended sessions', async ({
  server,
  logIn,
}) => {
  // Sessions of other stories.
  await server.call('zoe', 'DELETE', '/users/me/sessions');
  const { page } = await logIn('zoe', '#settings/sessions');
  await expect(page.getByText('This browser')).toBeVisible();
  const logOut = page.getByRole('list', { name: 'Sessions' }).getByRole('button', { name: 'Log out' });
  await expect(logOut).toHaveCount(0);
  const other = await logIn('zoe', '#inbox');
  await page.evaluate(() => dispatchEvent(new Event('focus')));
  await expect(logOut).toHaveCount(1);
  const accept = await refuse(page);
  await logOut.click();
  await expect(page.getByRole('alert').filter({ hasText: REFUSED })).toBeVisible();
  await accept();
  await logOut.click();
  await expect(logOut).toHaveCount(0);
  await other.page.reload();
  await expect(other.page).toHaveURL(/\/login\//);
});

test('keeps the input of a closed dialog until it is sent or canceled', async ({ logIn }) => {
  const { page } = await logIn('iago', '#groups/all');
  const dialog = page.getByRole('dialog');
  const name = dialog.getByLabel('Name', { exact: true });
  const open = (button: string) => page.getByRole('button', { name: button }).click();
  await open('Create group');
  await name.fill('half a group');
  await dialog.getByRole('combobox', { name: 'People' }).fill('cord');
  await page.keyboard.press('Enter');
  await expect(dialog.getByRole('button', { name: /^Remove Cordelia/ })).toBeVisible();
  await page.reload();
  await open('Create group');
  await expect(name).toHaveValue('half a group');
  await expect(dialog.getByRole('button', { name: /^Remove Cordelia/ })).toBeVisible();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await open('Create group');
  await expect(name).toHaveValue('');
  await name.fill('a whole group');
  await dialog.getByRole('button', { name: 'Close' }).click();
  await open('Create group');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await expect(page.getByRole('heading', { name: 'a whole group' })).toBeVisible();
  await goTo(page, '#groups/all');
  await open('Create group');
  await expect(name).toHaveValue('');
  await page.keyboard.press('Escape');
  await goTo(page, '#organization/linkifier-settings');
  await open('Add linkifier');
  await dialog.getByLabel('Pattern').fill('half a pattern');
  await page.keyboard.press('Escape');
  await expect(dialog).toHaveCount(0);
  await goTo(page, '#organization/profile-field-settings');
  await goTo(page, '#organization/linkifier-settings');
  await open('Add linkifier');
  await expect(dialog.getByLabel('Pattern')).toHaveValue('half a pattern');
});
