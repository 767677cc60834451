import { choose, expect, goTo, messageWith, placeOf, post, pressIn, send, test, violationsIn } from './stories.js';

test('moves a message and later ones to another topic', async ({ server, logIn }) => {
  for (const text of ['stays here', 'goes away', 'goes too']) await post(server, 'iago', 'crowded', text);
  const { page } = await logIn('iago', await placeOf(server, 'crowded'));
  await choose(page, 'goes away', 'Move messages');
  const dialog = page.getByRole('dialog', { name: 'Move messages' });
  await expect(dialog).toBeVisible();
  expect(await violationsIn(page)).toEqual([]);
  await dialog.getByLabel('Topic', { exact: true }).fill('airy');
  await dialog.getByLabel('In the old topic').check();
  await dialog.getByRole('button', { name: 'Move' }).click();
  await expect(dialog).toHaveCount(0);
  await expect(messageWith(page, 'stays here')).toBeVisible();
  await expect(messageWith(page, 'goes too')).toHaveCount(0);
  await expect(messageWith(page, '2 messages were moved from this topic')).toBeVisible();
  await goTo(page, await placeOf(server, 'airy'));
  await expect(messageWith(page, 'goes too')).toBeVisible();
});

test('shows why a move is rejected and keeps the dialog', async ({ server, logIn }) => {
  await post(server, 'iago', 'unmoved', 'Here I stay');
  const { page } = await logIn('iago', await placeOf(server, 'unmoved'));
  await page.route('**/json/messages/*', (route) =>
    route.request().method() === 'PATCH'
      ? route.fulfill({ status: 400, json: { result: 'error', msg: 'Too late to move', code: 'BAD_REQUEST' } })
      : route.continue(),
  );
  await choose(page, 'Here I stay', 'Move messages');
  await page.getByRole('dialog').getByLabel('Topic', { exact: true }).fill('elsewhere');
  await page.getByRole('dialog').getByRole('button', { name: 'Move' }).click();
  await expect(page.getByRole('dialog').getByRole('alert')).toHaveText('Too late to move');
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toHaveCount(0);
});

test('follows a resolved topic together with the unfinished text', async ({ server, logIn }) => {
  await post(server, 'cordelia', 'question', 'How does this work?');
  const place = await placeOf(server, 'question');
  const hamlet = await logIn('hamlet', place);
  const cordelia = await logIn('cordelia', place);
  await hamlet.page.getByRole('textbox', { name: 'Message' }).fill('I was just writing');
  await choose(cordelia.page, 'How does this work?', 'Mark topic as resolved');
  await expect(messageWith(hamlet.page, 'has marked this topic as resolved')).toBeVisible();
  await expect(hamlet.page.getByRole('heading', { level: 1 }).getByLabel('resolved')).toBeVisible();
  await expect(hamlet.page.getByRole('textbox', { name: 'Message' })).toHaveValue('I was just writing');
  await hamlet.page.getByRole('main').getByRole('button', { name: 'Topic actions' }).click();
  await hamlet.page.getByRole('menuitem', { name: 'Mark topic as unresolved' }).click();
  await expect(cordelia.page.getByRole('heading', { level: 1 }).getByLabel('resolved')).toHaveCount(0);
});

test('shows own edits and votes, and follows a resolved topic, in an unsubscribed channel', async ({
  server,
  logIn,
}) => {
  await server.call('iago', 'POST', '/channels/create', { name: 'Not joined', subscribers: [] });
  const { page } = await logIn('hamlet', await placeOf(server, 'guesses', 'Not joined'));
  await send(page, 'A tpyo');
  await send(page, '/poll Which?\nRed\nTea');
  await pressIn(messageWith(page, 'A tpyo'), { name: 'Edit' });
  await page.getByRole('textbox', { name: 'Edit message' }).fill('A typo, mended');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(messageWith(page, 'A typo, mended')).toContainText('edited');
  const vote = page.getByRole('group', { name: 'Which?' }).getByRole('button').first();
  await vote.click();
  await expect(vote).toHaveAttribute('aria-pressed', 'true');
  await choose(page, 'A typo, mended', 'Mark topic as resolved');
  await expect(page.getByRole('heading', { level: 1 }).getByLabel('resolved')).toBeVisible();
  await expect(messageWith(page, 'A typo, mended')).toBeVisible();
  await pressIn(messageWith(page, 'A typo, mended'), { name: 'More actions' });
  await expect(page.getByRole('menuitem', { name: 'Copy link to message' })).toBeVisible();
  await expect(page.getByRole('menuitem', { name: 'Mark as unread from here' })).toHaveCount(0);
  await page.keyboard.press('Escape');
  const notice = page.getByText('You are not subscribed.');
  await expect(notice).toBeVisible();
  await page.getByRole('button', { name: 'Subscribe' }).click();
  await expect(notice).toHaveCount(0);
  await choose(page, 'A typo, mended', 'Mark as unread from here');
});

test("follows a link to the message's current topic, and replies there", async ({ server, logIn }) => {
  const { id } = await post(server, 'cordelia', 'linked', 'Find me');
  const link = `${await placeOf(server, 'linked')}/with/${id}`;
  const { page } = await logIn('hamlet', link);
  await expect(messageWith(page, 'Find me')).toBeVisible();
  await goTo(page, '#inbox');
  await server.call('cordelia', 'PATCH', `/messages/${id}`, { topic: 'found', propagate_mode: 'change_all' });
  const other = await logIn('iago', link);
  await goTo(page, link);
  for (const each of [page, other.page]) {
    await expect(each.getByRole('heading', { level: 1 })).toContainText('found');
    await expect(messageWith(each, 'Find me')).toBeVisible();
  }
  await send(page, 'I am here');
  await expect(messageWith(other.page, 'I am here')).toBeVisible();
});

test('keeps every typed letter while a topic is resolved', async ({ server, logIn }) => {
  const { id } = await post(server, 'cordelia', 'typed through', 'Wait for it');
  const { page } = await logIn('hamlet', await placeOf(server, 'typed through'));
  const field = page.getByRole('textbox', { name: 'Message' });
  await field.focus();
  const text = 'Not a single letter runs a shortcut or gets lost';
  const typing = page.keyboard.type(text, { delay: 40 });
  await expect(field).toHaveValue(/^Not a single/);
  await server.call('cordelia', 'PATCH', `/messages/${id}`, { topic: '✔ typed through', propagate_mode: 'change_all' });
  await typing;
  await expect(page.getByRole('heading', { level: 1 }).getByLabel('resolved')).toBeVisible();
  await expect(field).toHaveValue(text);
  await expect(field).toBeFocused();
});

test("opens a message link at the message's new place", async ({ server, logIn }) => {
  const { id } = await post(server, 'cordelia', 'linked', 'The message of the link');
  const place = `${await placeOf(server, 'linked')}/near/${id}`;
  await server.call('cordelia', 'PATCH', `/messages/${id}`, { topic: '✔ linked', propagate_mode: 'change_all' });
  const { page } = await logIn('hamlet', place);
  await expect(page.getByRole('heading', { level: 1 }).getByLabel('resolved')).toBeVisible();
  await expect(messageWith(page, 'The message of the link')).toBeInViewport();
  await expect(page).toHaveTitle(/#Verona > ✔ linked - Zulip Dev - Parley$/);
});

test('mutes and follows a topic by keyboard', async ({ server, logIn }) => {
  await post(server, 'cordelia', 'noise', 'Noise');
  const { page } = await logIn('hamlet', await placeOf(server, 'noise'));
  const button = page.getByRole('main').getByRole('button', { name: 'Topic actions' });
  await button.focus();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('menuitemradio', { name: 'Default' })).toBeChecked();
  expect(await violationsIn(page)).toEqual([]);
  await page.getByRole('menuitemradio', { name: 'Muted' }).focus();
  await page.keyboard.press('Enter');
  await expect(button).toBeFocused();
  const entry = page.getByRole('navigation', { name: 'Conversations' }).getByRole('link', { name: 'noise' });
  await expect(entry.getByLabel('muted')).toBeVisible();
  await button.click();
  await page.getByRole('menuitemradio', { name: 'Followed' }).click();
  await expect(entry.getByLabel('muted')).toHaveCount(0);
});

test('pins, mutes and colors a channel', async ({ server, logIn }) => {
  await server.call('prospero', 'POST', '/users/me/subscriptions', { subscriptions: [{ name: 'rehearsals' }] });
  const { page } = await logIn('prospero');
  const navigation = page.getByRole('navigation', { name: 'Conversations' });
  const open = async () => {
    const link = navigation.getByRole('link', { name: 'rehearsals' });
    await link.hover();
    await link.locator('..').getByRole('button', { name: 'Channel actions' }).click();
  };
  for (const entry of ['Pin channel to top', 'Mute channel']) {
    await open();
    await page.getByRole('menuitem', { name: entry }).click();
  }
  await open();
  await expect(page.getByRole('menuitem', { name: 'Unmute channel' })).toBeVisible();
  await page.getByRole('menuitem', { name: 'Change color' }).click();
  await page.getByRole('dialog').getByRole('radio', { name: '#bd86e5' }).check();
  expect(await violationsIn(page)).toEqual([]);
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await expect(page.getByRole('dialog')).toHaveCount(0);
  const { subscriptions } = await server.call('prospero', 'GET', '/users/me/subscriptions');
  const rehearsals = subscriptions.find(({ name }: { name: string }) => name === 'rehearsals');
  expect(rehearsals).toMatchObject({ pin_to_top: true, is_muted: true, color: '#bd86e5' });
});

test('lists all topics of a channel on request, and always lists the current one', async ({ server, logIn }) => {
  for (let i = 0; i < 8; i++) await post(server, 'cordelia', `shelf ${i}`, 'A book');
  const { page } = await logIn('cordelia', await placeOf(server, 'shelf 0'));
  const sidebar = page.getByRole('navigation', { name: 'Conversations' });
  await expect(sidebar.getByRole('link', { name: 'shelf 7' })).toBeVisible();
  await expect(sidebar.getByRole('link', { name: 'shelf 0' })).toHaveAttribute('aria-current', 'page');
  await expect(sidebar.getByRole('link', { name: 'shelf 1' })).toBeHidden();
  await sidebar.getByRole('button', { name: 'More topics' }).click();
  await expect(sidebar.getByRole('link', { name: 'shelf 1' })).toBeVisible();
});

test('marks a topic and everything as read', async ({ server, logIn }) => {
  await post(server, 'cordelia', 'unread-one', 'one');
  await post(server, 'cordelia', 'unread-two', 'two');
  const { page } = await logIn('othello', '#inbox');
  const main = page.getByRole('main');
  await expect(main.getByRole('link', { name: /unread-two/ })).toBeVisible();
  await main.getByRole('button', { name: 'Mark all as read' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Mark as read' }).click();
  await expect(main.getByText('You have read everything.')).toBeVisible();
  await expect(page).not.toHaveTitle(/^\(/);
});

test("shows a message's versions and reactions, and copies a link to it", async ({ server, logIn }) => {
  const { id } = await post(server, 'hamlet', 'versions', 'The first draft');
  await server.call('hamlet', 'PATCH', `/messages/${id}`, { content: 'The second draft' });
  await server.call('cordelia', 'POST', `/messages/${id}/reactions`, { emoji_name: 'tada' });
  const { page, context } = await logIn('hamlet', await placeOf(server, 'versions'));
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await choose(page, 'The second draft', 'View edit history');
  const dialog = page.getByRole('dialog');
  await expect(dialog.locator('ins', { hasText: 'second' })).toBeVisible();
  await expect(dialog.locator('del', { hasText: 'first' })).toBeVisible();
  expect(await violationsIn(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Close' }).click();

  await choose(page, 'The second draft', 'See who reacted');
  await expect(dialog.getByRole('listitem')).toContainText('Cordelia');
  await page.keyboard.press('Escape');
  await expect(dialog).toHaveCount(0);

  await choose(page, 'The second draft', 'Copy link to message');
  const link = await page.evaluate(() => navigator.clipboard.readText());
  expect(link).toMatch(new RegExp(`^${server.url}/#narrow/channel/.*/near/${id}$`));
});

test('offers only permitted actions', async ({ server, logIn }) => {
  await post(server, 'iago', 'rules', 'Of another person');
  const { page } = await logIn('hamlet', await placeOf(server, 'rules'));
  const message = messageWith(page, 'Of another person');
  await message.hover();
  await expect(message.getByRole('button', { name: 'More actions' })).toBeVisible();
  await expect(message.getByRole('button', { name: 'Edit' })).toHaveCount(0);
  await message.getByRole('button', { name: 'More actions' }).click();
  await expect(page.getByRole('menuitem', { name: 'Copy link to message' })).toBeVisible();
  await expect(page.getByRole('menuitem', { name: 'Delete' })).toHaveCount(0);
});

test('groups channels by pins and folders in the sidebar, the inbox, the channel browser and for shortcuts', async ({
  server,
  logIn,
}) => {
  const makeFolder = async (name: string): Promise<number> =>
    (await server.call('iago', 'POST', '/channel_folders/create', { name })).channel_folder_id;
  const folders = [await makeFolder('Tragedies'), await makeFolder('Comedies')];
  const ids: number[] = [];
  for (const name of ['play one', 'play two', 'play three']) {
    const subscriptions = [{ name }];
    await server.call('hamlet', 'POST', '/users/me/subscriptions', { subscriptions });
    ids.push((await server.call('hamlet', 'GET', '/get_stream_id', { stream: name })).stream_id);
  }
  const file = (index: number, folder: number | null) =>
    server.call('iago', 'PATCH', `/streams/${ids[index]}`, { folder_id: folder });
  const pin = (value: boolean) =>
    server.call('hamlet', 'POST', '/users/me/subscriptions/properties', {
      subscription_data: [{ stream_id: ids[2], property: 'pin_to_top', value }],
    });
  const { page } = await logIn('hamlet', '#feed');
  const sidebar = page.getByRole('navigation', { name: 'Conversations' });
  const section = (title: string) =>
    sidebar.getByRole('group').filter({ has: page.getByRole('heading', { name: title, exact: true }) });
  await expect(section('Channels').getByRole('link', { name: 'play one' })).toBeVisible();
  await file(0, folders[1]!);
  await file(1, folders[0]!);
  await pin(true);
  await expect(sidebar.getByRole('heading')).toHaveText([
    ...['Views', 'Direct messages', 'Pinned channels', 'Tragedies', 'Comedies', 'Other channels'],
  ]);
  await expect(section('Pinned channels').getByRole('link')).toHaveText(['play three']);
  await expect(section('Comedies').getByRole('link')).toHaveText(['play one']);
  await expect(section('Other channels').getByRole('link', { name: 'Verona' })).toBeVisible();
  await section('Comedies').getByText('Comedies').click();
  await expect(section('Comedies').getByRole('link', { name: 'play one' })).toBeHidden();
  expect(await violationsIn(page)).toEqual([]);
  for (const name of ['play three', 'play two', 'play one']) {
    await page.keyboard.press('D');
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(name);
  }

  await server.call('iago', 'POST', '/users/me/subscriptions', { subscriptions: [{ name: 'play two' }] });
  const says = { type: 'channel', to: 'play two', topic: 'acts', content: 'The curtain rises' };
  await server.call('iago', 'POST', '/messages', says);
  await goTo(page, '#inbox');
  const main = page.getByRole('main');
  await expect(main.getByRole('heading', { name: 'Tragedies', level: 2 })).toBeVisible();
  await expect(main.getByRole('heading', { name: 'play two', level: 3 })).toBeVisible();
  await server.call('hamlet', 'PATCH', '/settings', { web_inbox_show_channel_folders: false });
  await expect(main.getByRole('heading', { name: 'play two', level: 2 })).toBeVisible();
  await expect(main.getByRole('heading', { name: 'Tragedies' })).toHaveCount(0);
  await goTo(page, '#channels/subscribed');
  await expect(main.getByRole('listitem').filter({ hasText: 'play two' })).toContainText('Tragedies');

  await goTo(page, '#settings/preferences');
  await page.getByRole('checkbox', { name: 'Group channels by folder in the sidebar' }).click();
  await expect(sidebar.getByRole('heading')).toHaveText(['Views', 'Direct messages', 'Channels']);
  await expect(section('Channels').getByRole('link').first()).toHaveText('play three');
  // Other stories share the organization.
  await pin(false);
  for (const index of [0, 1]) await file(index, null);
});
