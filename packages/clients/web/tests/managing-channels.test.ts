import { expect, goTo, idOf, messageWith, type Person, send, test, violationsIn } from './stories.js';

/** Control of a setting in its row. */
const row = ({ page }: Person, name: string) => page.locator(`[data-setting="${name}"]`);

const saved = (person: Person, name: string) => expect(row(person, name).getByText('Saved')).toBeVisible();

test('browses channels, joins one and leaves it', async ({ logIn }) => {
  const hamlet = await logIn('hamlet', '#channels/all');
  const { page } = hamlet;
  await page.getByRole('searchbox', { name: 'Search channels' }).fill('ven');
  const list = page.getByRole('list', { name: 'Channels' });
  await expect(list.getByRole('listitem')).toHaveCount(1);
  await expect(list).toContainText('A northeastern Italian city');
  expect(await violationsIn(page)).toEqual([]);
  const sidebar = page.getByRole('navigation', { name: 'Conversations' });
  await list.getByRole('button', { name: 'Subscribe to Venice' }).click();
  await expect(sidebar.getByRole('link', { name: /channel Venice/ })).toBeVisible();
  await list.getByRole('button', { name: 'Subscribed to Venice' }).click();
  await expect(sidebar.getByRole('link', { name: /channel Venice/ })).toHaveCount(0);
});

test('asks before leaving a private channel, and leaves it', async ({ logIn, server }) => {
  const { page } = await logIn('prospero', '#channels/subscribed');
  const dialog = page.getByRole('dialog');
  const members = [await idOf(server, 'prospero'), await idOf(server, 'iago')];
  const leave: Readonly<Record<string, (name: string, id: number) => Promise<void>>> = {
    'from the list': (name) => page.getByRole('button', { name: `Subscribed to ${name}: unsubscribe` }).click(),
    'by the menu': async (name) => {
      const link = page.getByRole('navigation', { name: 'Conversations' }).getByRole('link', { name });
      await link.hover();
      await link.locator('..').getByRole('button', { name: 'Channel actions' }).click();
      await page.getByRole('menuitem', { name: 'Unsubscribe' }).click();
    },
    'as a subscriber': async (_, id) => {
      await goTo(page, `#channels/${id}/private/subscribers`);
      await page.getByRole('button', { name: 'Remove Prospero from The Tempest' }).click();
    },
  };
  for (const [way, start] of Object.entries(leave)) {
    const name = `private ${way}`;
    await server.call('iago', 'POST', '/users/me/subscriptions', {
      ...{ subscriptions: [{ name }], principals: members, invite_only: true },
    });
    const { stream_id: id } = await server.call('iago', 'GET', '/get_stream_id', { stream: name });
    const link = page.getByRole('navigation', { name: 'Conversations' }).getByRole('link', { name });
    await start(name, id);
    await expect(dialog).toContainText('You cannot return until someone adds you again.');
    expect(await violationsIn(page)).toEqual([]);
    const { subscriptions } = await server.call('prospero', 'GET', '/users/me/subscriptions');
    expect(subscriptions.map((each: { name: string }) => each.name)).toContain(name);
    await dialog.getByRole('button', { name: 'Unsubscribe' }).click();
    await expect(link).toHaveCount(0);
  }
});

test('creates a private channel with people, who can post there at once', async ({ logIn }) => {
  const iago = await logIn('iago', '#channels/new');
  const cordelia = await logIn('cordelia', '#inbox');
  const { page } = iago;
  await page.getByLabel('Name', { exact: true }).fill('secret plans');
  await page.getByLabel('Description').fill('Only for *two*');
  await page.getByLabel('Who can read the channel?').selectOption({ label: 'Subscribers, with all earlier messages' });
  await page.getByRole('combobox', { name: 'People' }).fill('cord');
  await page.keyboard.press('Enter');
  await page.getByText('Advanced settings and permissions').click();
  expect(await violationsIn(page)).toEqual([]);
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await expect(page.getByRole('heading', { level: 1 })).toContainText('secret plans');
  const link = cordelia.page.getByRole('navigation', { name: 'Conversations' }).getByRole('link', { name: /secret/ });
  await link.click();
  await cordelia.page.getByLabel('Topic', { exact: true }).fill('first');
  await send(cordelia.page, 'Here I am');
  await expect(messageWith(page, 'Here I am')).toBeVisible();
});

test('explains why a channel cannot be created and keeps the input', async ({ logIn }) => {
  const { page } = await logIn('iago', '#channels/new');
  await page.getByLabel('Name', { exact: true }).fill('verona');
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await expect(page.getByRole('alert')).toHaveText('A channel named “verona” already exists.');
  await expect(page.getByLabel('Name', { exact: true })).toHaveValue('verona');
});

test('keeps the input about a new channel while another page is visited', async ({ logIn }) => {
  const { page } = await logIn('iago', '#channels/new');
  await page.getByLabel('Name', { exact: true }).fill('half a channel');
  await page.getByLabel('Description').fill('For later');
  await goTo(page, '#inbox');
  await goTo(page, '#channels/new');
  await expect(page.getByLabel('Name', { exact: true })).toHaveValue('half a channel');
  await expect(page.getByLabel('Description')).toHaveValue('For later');
  await page.getByRole('button', { name: 'Cancel' }).click();
  await goTo(page, '#channels/new');
  await expect(page.getByLabel('Name', { exact: true })).toHaveValue('');
});

test('changes settings and permissions of a channel, which another window shows', async ({ server, logIn }) => {
  const { stream_id: id } = await server.call('hamlet', 'GET', '/get_stream_id', { stream: 'sandbox' });
  const iago = await logIn('iago', `#channels/${id}/sandbox/general`);
  const other = await logIn('desdemona', `#channels/${id}/sandbox/general`);
  await iago.page.getByLabel('Description').fill('Not the real thing');
  await row(iago, 'description').getByRole('button', { name: 'Save' }).click();
  await saved(iago, 'description');
  await expect(other.page.getByLabel('Description')).toHaveValue('Not the real thing');
  await iago.page.getByRole('checkbox', { name: 'Default channel' }).click();
  await expect(other.page.getByRole('checkbox', { name: 'Default channel' })).not.toBeChecked();
  await iago.page.getByRole('link', { name: 'Permissions' }).click();
  await other.page.getByRole('link', { name: 'Permissions' }).click();
  const posting = iago.page.getByRole('combobox', { name: 'Who can post?' });
  await posting.fill('moder');
  await iago.page.keyboard.press('Enter');
  await saved(iago, 'can_send_message_group');
  await expect(row(other, 'can_send_message_group')).toContainText('Moderators');
  await row(iago, 'can_send_message_group').getByRole('button', { name: 'Remove Everyone' }).click();
  await expect(row(other, 'can_send_message_group')).not.toContainText('Everyone');
  expect(await violationsIn(iago.page)).toEqual([]);
  const hamlet = await logIn('hamlet', `#channels/${id}/sandbox/permissions`);
  await expect(hamlet.page.getByRole('combobox', { name: 'Who can post?' })).toBeDisabled();
  await expect(hamlet.page.getByText('Only administrators of the channel')).toBeVisible();
  await hamlet.page.getByRole('link', { name: 'General', exact: true }).click();
  await expect(hamlet.page.getByText('Only administrators of the channel can change its settings.')).toBeVisible();
});

test('adds several people to a permission in quick succession', async ({ server, logIn }) => {
  const { stream_id: id } = await server.call('iago', 'GET', '/get_stream_id', { stream: 'Verona' });
  const { page } = await logIn('iago', `#channels/${id}/Verona/permissions`);
  const row = page.locator('[data-setting="can_resolve_topics_group"]');
  for (const name of ['Zoe', 'Othello', 'Prospero']) {
    await row.getByRole('combobox').fill(name);
    await page.keyboard.press('Enter');
  }
  const members = async () =>
    (await server.call('iago', 'GET', `/streams/${id}`)).stream.can_resolve_topics_group.direct_members;
  await expect.poll(members).toHaveLength(3);
  await expect(row.getByRole('button', { name: /^Remove/ })).toHaveCount(3);
  for (const name of ['Zoe', 'Othello', 'Prospero']) {
    await row.getByRole('button', { name: new RegExp(`^Remove ${name}`) }).click();
  }
  await expect(row.getByRole('button', { name: /^Remove/ })).toHaveCount(0);
  await expect(row.getByText('Saved')).toBeVisible();
});

test('shows an error next to the rejected change and restores the actual value', async ({ server, logIn }) => {
  const { stream_id: id } = await server.call('hamlet', 'GET', '/get_stream_id', { stream: 'Denmark' });
  const iago = await logIn('iago', `#channels/${id}/Denmark/general`);
  await iago.page.getByLabel('Name', { exact: true }).fill('Verona');
  await iago.page.keyboard.press('Enter');
  await expect(row(iago, 'name').getByRole('alert')).toContainText('already');
  await row(iago, 'name').getByRole('button', { name: 'Cancel' }).click();
  await expect(iago.page.getByLabel('Name', { exact: true })).toHaveValue('Denmark');
});

test('shows next to an unsaved text that another window changed it, with the new value', async ({ server, logIn }) => {
  const { stream_id: id } = await server.call('hamlet', 'GET', '/get_stream_id', { stream: 'sandbox' });
  const iago = await logIn('iago', `#channels/${id}/sandbox/general`);
  const other = await logIn('desdemona', `#channels/${id}/sandbox/general`);
  const field = iago.page.getByLabel('Description');
  const notice = row(iago, 'description').getByText('Someone changed this to');
  await field.fill('Text of Iago');
  await other.page.getByLabel('Description').fill('Text of Desdemona');
  await row(other, 'description').getByRole('button', { name: 'Save' }).click();
  await expect(notice).toContainText('to “Text of Desdemona”');
  await expect(field).toHaveValue('Text of Iago');
  expect(await violationsIn(iago.page)).toEqual([]);
  await row(iago, 'description').getByRole('button', { name: 'Save' }).click();
  await saved(iago, 'description');
  await expect(notice).toHaveCount(0);
  await expect(other.page.getByLabel('Description')).toHaveValue('Text of Iago');
});

test('changes personal settings of a channel, and mutes it', async ({ server, logIn }) => {
  const { stream_id: id } = await server.call('hamlet', 'GET', '/get_stream_id', { stream: 'Venice' });
  const othello = await logIn('othello', `#channels/${id}/Venice/personal`);
  const { page } = othello;
  await page.getByRole('checkbox', { name: 'Mute channel' }).check();
  await saved(othello, 'is_muted');
  const sidebar = page.getByRole('navigation', { name: 'Conversations' });
  await sidebar.getByRole('button', { name: /^Inactive or muted channels/ }).click();
  await expect(sidebar.getByRole('link', { name: /Venice/ })).toHaveAttribute('data-muted', 'true');
  await page.getByRole('radio', { name: '#4f8de4' }).check();
  await row(othello, 'color').getByRole('button', { name: 'Save' }).click();
  await saved(othello, 'color');
  await page.getByLabel('In the browser').selectOption({ label: 'On' });
  await saved(othello, 'desktop_notifications');
  expect(await violationsIn(page)).toEqual([]);
});

test('adds and removes subscribers, offers only others, and archives a channel', async ({ server, logIn }) => {
  await server.call('iago', 'POST', '/users/me/subscriptions', { subscriptions: [{ name: 'closing down' }] });
  const { stream_id: id } = await server.call('iago', 'GET', '/get_stream_id', { stream: 'closing down' });
  const { page } = await logIn('iago', `#channels/${id}/closing/subscribers`);
  await page.getByRole('combobox', { name: 'Add people' }).fill('prosp');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  const people = page.getByRole('list', { name: 'Subscribers' });
  await expect(people).toContainText('Prospero');
  await page.getByRole('combobox', { name: 'Add people' }).fill('o');
  await expect(page.getByRole('option', { name: /^Othello/ })).toBeVisible();
  await expect(page.getByRole('option', { name: /^Prospero/ })).toHaveCount(0);
  await page.getByRole('combobox', { name: 'Add people' }).fill('');
  expect(await violationsIn(page)).toEqual([]);
  await people.getByRole('button', { name: /Remove Prospero/ }).click();
  await expect(people).not.toContainText('Prospero');
  await page.getByRole('link', { name: 'General', exact: true }).click();
  await page.getByRole('button', { name: 'Archive channel' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Archive' }).click();
  await expect(page.getByText('This channel is archived.')).toBeVisible();
  await page.getByRole('button', { name: 'Unarchive channel' }).click();
  await expect(page.getByText('This channel is archived.')).toHaveCount(0);
});

test('shows the email address of a channel on request', async ({ logIn, server }) => {
  const name = 'post box of iago';
  await server.call('iago', 'POST', '/users/me/subscriptions', { subscriptions: [{ name }], announce: false });
  const { stream_id: id } = await server.call('iago', 'GET', '/get_stream_id', { stream: name });
  const { page } = await logIn('iago', `#channels/${id}/post/general`);
  const show = page.getByRole('button', { name: 'Show email address' });
  await show.click();
  await expect(page.getByText('This server does not receive emails.')).toBeVisible();
  // The server of these stories has no email address.
  await page.route('**/email_address*', (route) =>
    route.fulfill({ json: { result: 'success', msg: '', email: 'post.1234@mail.example' } }),
  );
  await page.reload();
  await show.click();
  await expect(page.getByText('post.1234@mail.example')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Copy email address' })).toBeVisible();
  expect(await violationsIn(page)).toEqual([]);
});

test('lists channels with the text of their descriptions', async ({ server, logIn }) => {
  await server.call('iago', 'POST', '/users/me/subscriptions', {
    subscriptions: [{ name: 'described', description: 'A **bold** and [linked](https://example.com) place' }],
  });
  const { page } = await logIn('iago', '#channels/all');
  const link = page.getByRole('main').getByRole('link', { name: /^described/ });
  await expect(link).toContainText(/· A bold and linked place$/);
  await link.click();
  await expect(page.getByRole('main')).toContainText('A bold and linked place');
  const { stream_id: id } = await server.call('iago', 'GET', '/get_stream_id', { stream: 'described' });
  await goTo(page, `#narrow/channel/${id}-described`);
  await expect(page.getByTitle('A bold and linked place')).toBeVisible();
});
