import type { Locator, Page } from '@playwright/test';
import { emailOf, expect, goTo, idOf, type Server, test } from './stories.js';

const REFUSED = 'Refused by the story';

/** Refuses changes by the page until the returned function is called. */
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
  /** Adds an item, as another window does. */
  add(server: Server): Promise<unknown>;
  /** Button that removes the item. */
  readonly remove: string;
  /** Button of the dialog that asks first. */
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
    place: '#organization/invitations',
    add: (server) =>
      server.call(OWNER, 'POST', '/invites', {
        ...{ invitee_emails: 'managed@example.com', invite_expires_in_minutes: 1440, stream_ids: [] },
      }),
    remove: 'Withdraw managed@example.com',
    confirm: 'Withdraw',
  },
];

for (const [kind, lists] of Object.entries({ settings: LISTS.slice(0, 4), organization: LISTS.slice(4) })) {
  test(`shows what another window adds to each list of the ${kind}, why it stays, and that it was removed`, async ({
    server,
    logIn,
  }) => {
    const { page } = await logIn(OWNER);
    for (const { place, add, remove, confirm } of lists) {
      await goTo(page, place);
      await expect(page.getByRole('main').getByRole('heading', { level: 2 }).last()).toBeVisible();
      await add(server);
      const button = page.getByRole('button', { name: remove, exact: true });
      await expect(button, place).toBeVisible();
      const accept = await refuse(page);
      await button.click();
      const confirming = page.getByRole('dialog').getByRole('button', { name: confirm ?? '', exact: true });
      if (confirm !== undefined) await confirming.click();
      await expect(page.getByRole('alert').filter({ hasText: REFUSED }), place).toBeVisible();
      await accept();
      await (confirm === undefined ? button : confirming).click();
      await expect(button, place).toHaveCount(0);
    }
  });
}

/** Pages of settings, each with one that is on or off. */
const SWITCHES: Readonly<Record<string, string>> = {
  '#settings/preferences': 'receives_typing_notifications',
  '#settings/notifications': 'enable_digest_emails',
  '#settings/account-and-privacy': 'send_read_receipts',
  '#organization/organization-settings': 'inline_image_preview',
  '#organization/organization-level-user-defaults': 'receives_typing_notifications',
};

test('saves on each page of settings, shows why it could not, and follows another window', async ({ logIn }) => {
  const [first, second] = [await logIn('iago'), await logIn('iago')];
  for (const [place, setting] of Object.entries(SWITCHES)) {
    const [box, other] = [first, second].map(({ page }) =>
      page.locator(`[data-setting="${setting}"]`).getByRole('checkbox'),
    ) as [Locator, Locator];
    const row = first.page.locator(`[data-setting="${setting}"]`);
    for (const { page } of [first, second]) await goTo(page, place);
    await expect(box, place).toBeEnabled();
    await expect(other, place).toBeEnabled();
    const wasChecked = await box.isChecked();
    const accept = await refuse(first.page);
    await box.click();
    await expect(row.getByRole('alert'), place).toContainText(REFUSED);
    await expect(box, place).toBeChecked({ checked: wasChecked });
    await accept();
    await box.click();
    await expect(row.getByText('Saved'), place).toBeVisible();
    await expect(other, place).toBeChecked({ checked: !wasChecked });
    await other.click();
    await expect(box, place).toBeChecked({ checked: wasChecked });
  }
});
