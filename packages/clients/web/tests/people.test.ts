import { choose, expect, goTo, idOf, messageWith, placeOf, post, send, test, violationsIn } from './stories.js';

test("opens a person's card from their name and from a mention, and starts a direct message", async ({
  server,
  logIn,
}) => {
  await post(server, 'cordelia', 'cards', `Ask @**King Hamlet** about it`);
  const { page } = await logIn('othello', await placeOf(server, 'cards'));
  await messageWith(page, 'Ask').getByRole('button', { name: '@King Hamlet' }).click();
  const card = page.getByRole('dialog');
  await expect(card.getByRole('heading')).toHaveText('King Hamlet');
  await expect(card).toContainText('Member');
  await expect(card).toContainText(/Member since\w+ \d+, \d{4}/);
  await expect(card).toContainText('The prince of Denmark');
  await expect(card).toContainText('January 1, 1900');
  expect(await violationsIn(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await expect(card).toHaveCount(0);
  await messageWith(page, 'Ask').getByRole('button', { name: 'Cordelia' }).click();
  await card.getByRole('link', { name: 'Send direct message' }).click();
  await expect(card).toHaveCount(0);
  await expect(page.getByRole('heading', { level: 1 })).toContainText('Cordelia');
  await send(page, 'A word in private');
  await expect(messageWith(page, 'A word in private')).toBeVisible();
});

test('opens a card that is longer than the window at its start', async ({ server, logIn }) => {
  await post(server, 'hamlet', 'long cards', 'Long story');
  const { page } = await logIn('othello', await placeOf(server, 'long cards'));
  await page.setViewportSize({ width: 900, height: 330 });
  await messageWith(page, 'Long story').getByRole('button', { name: 'King Hamlet' }).click();
  const card = page.getByRole('dialog');
  await expect(card.getByRole('heading')).toHaveText('King Hamlet');
  expect(await card.evaluate((it) => [it.scrollTop, it.scrollHeight > it.clientHeight])).toEqual([0, true]);
  await expect(card.getByRole('heading')).toBeInViewport();
});

test('hides messages of a muted person until requested', async ({ server, logIn }) => {
  await post(server, 'prospero', 'muting', 'What I always say');
  const place = await placeOf(server, 'muting');
  const { page } = await logIn('othello', place);
  const open = async () => {
    await page.getByRole('article').getByRole('button', { name: 'Prospero' }).click();
  };
  await open();
  await page.getByRole('dialog').getByRole('button', { name: 'Mute this person' }).click();
  await expect(page.getByText('What I always say')).toHaveCount(0);
  await page.getByRole('button', { name: /Show it/ }).click();
  await expect(page.getByText('What I always say')).toBeVisible();
  await goTo(page, '#recent');
  await expect(page.getByRole('listitem').filter({ hasText: 'muting' })).toContainText(
    'Message from a person you have muted.',
  );
  await expect(page.getByText('What I always say')).toHaveCount(0);
  await goTo(page, place);
  await open();
  await page.getByRole('dialog').getByRole('button', { name: 'Unmute this person' }).click();
});

test('sets a status that others see', async ({ server, logIn }) => {
  await post(server, 'iago', 'statuses', 'Here I am');
  const place = await placeOf(server, 'statuses');
  const iago = await logIn('iago', place);
  const cordelia = await logIn('cordelia', place);
  await iago.page.getByRole('complementary').getByRole('button', { name: 'Iago' }).click();
  await iago.page.getByRole('dialog').getByRole('button', { name: 'Set status' }).click();
  const dialog = iago.page.getByRole('dialog', { name: 'Set status' });
  await dialog.getByRole('button', { name: /In a meeting/ }).click();
  await dialog.getByRole('textbox', { name: 'Your status' }).fill('With the general');
  expect(await violationsIn(iago.page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(dialog).toHaveCount(0);
  await expect(messageWith(cordelia.page, 'Here I am').getByRole('img', { name: ':calendar:' })).toBeVisible();
  await messageWith(cordelia.page, 'Here I am').getByRole('button', { name: 'Iago' }).click();
  await expect(cordelia.page.getByRole('dialog')).toContainText('With the general');
});

test('lists all people, present ones first, and finds them by parts of their names', async ({ logIn }) => {
  const { page } = await logIn('hamlet', '#inbox');
  await logIn('desdemona');
  await page.getByRole('button', { name: 'People', exact: true }).click();
  const panel = page.getByRole('complementary', { name: 'People' });
  await expect(panel.getByRole('button', { name: /Hamlet.*active/ })).toBeVisible();
  await expect(panel.getByRole('button', { name: /Desdemona.*active/ })).toBeVisible();
  expect(await violationsIn(page)).toEqual([]);
  await panel.getByRole('searchbox').fill('ven moo');
  await expect(panel.getByRole('listitem')).toHaveCount(1);
  await expect(panel.getByRole('listitem')).toContainText('Othello');
});

test('shows who is typing, in channels and direct messages', async ({ server, logIn }) => {
  await post(server, 'hamlet', 'typing', 'Say something');
  const place = await placeOf(server, 'typing');
  const hamlet = await logIn('hamlet', place);
  const cordelia = await logIn('cordelia', place);
  const field = cordelia.page.getByRole('textbox', { name: 'Message' });
  await field.pressSequentially('Well');
  await expect(hamlet.page.getByText(/Cordelia.* is typing…/)).toBeVisible();
  await field.fill('');
  await expect(hamlet.page.getByText(/is typing…/)).toHaveCount(0);
  const direct = (id: number) => `#narrow/dm/${id}-x`;
  await goTo(hamlet.page, direct(await idOf(server, 'cordelia')));
  await goTo(cordelia.page, direct(await idOf(server, 'hamlet')));
  await expect(cordelia.page.getByRole('heading', { level: 1 })).toContainText('Hamlet');
  await field.pressSequentially('Well, my lord');
  await expect(hamlet.page.getByText(/Cordelia.* is typing…/)).toBeVisible();
  await cordelia.page.getByRole('button', { name: 'Send', exact: true }).click();
  await expect(hamlet.page.getByText(/is typing…/)).toHaveCount(0);
});

test('shows who has read a message', async ({ server, logIn }) => {
  const { id } = await post(server, 'hamlet', 'receipts', 'Read me');
  await server.call('cordelia', 'POST', '/messages/flags', { messages: [id], op: 'add', flag: 'read' });
  const { page } = await logIn('hamlet', await placeOf(server, 'receipts'));
  await choose(page, 'Read me', 'View read receipts');
  const dialog = page.getByRole('dialog', { name: 'Read receipts' });
  await expect(dialog).toContainText('1 person has read this message.');
  await expect(dialog.getByRole('listitem')).toContainText('Cordelia');
  expect(await violationsIn(page)).toEqual([]);
});

test('shows the members of a mentioned group, and that it was deactivated', async ({ server, logIn }) => {
  const members = [await idOf(server, 'hamlet'), await idOf(server, 'othello')];
  const group = { name: 'chorus', description: 'On stage', members };
  const { group_id: id } = await server.call('desdemona', 'POST', '/user_groups/create', group);
  await post(server, 'hamlet', 'groups', 'Hello @*chorus*');
  const { page } = await logIn('cordelia', await placeOf(server, 'groups'));
  await page.getByRole('article').getByRole('button', { name: '@chorus' }).click();
  const card = page.getByRole('dialog', { name: 'chorus' });
  await expect(card).toContainText('On stage');
  await expect(card.getByRole('listitem')).toHaveCount(2);
  expect(await violationsIn(page)).toEqual([]);
  await server.call('desdemona', 'POST', `/user_groups/${id}/deactivate`);
  await expect(card).toContainText('This group is deactivated.');
});

test('starts a conversation with several people by keyboard', async ({ logIn }) => {
  const { page } = await logIn('hamlet', '#inbox');
  await page.getByRole('button', { name: 'New direct message' }).click();
  const field = page.getByRole('combobox', { name: 'People' });
  await expect(field).toBeFocused();
  for (const [part, name] of [
    ['corde', 'Cordelia'],
    ['oth', 'Othello'],
  ] as const) {
    await field.fill(part);
    await expect(page.getByRole('option').first()).toContainText(name);
    await expect(page.getByRole('option', { name: 'Hamlet' })).toHaveCount(0);
    await page.keyboard.press('Enter');
  }
  expect(await violationsIn(page)).toEqual([]);
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { level: 1 })).toContainText(/Cordelia.*Othello/);
  await send(page, 'To both of you');
  await expect(messageWith(page, 'To both of you')).toBeVisible();
});

test('explains why the user cannot post there', async ({ server, logIn }) => {
  const { id } = await server.call('desdemona', 'POST', '/channels/create', {
    name: 'proclamations',
    subscribers: [await idOf(server, 'hamlet'), await idOf(server, 'desdemona')],
    can_send_message_group: { direct_members: [await idOf(server, 'desdemona')], direct_subgroups: [] },
  });
  const { page } = await logIn('hamlet', `#narrow/channel/${id}/topic/news`);
  await expect(page.getByText('You do not have permission to post in this channel.')).toBeVisible();
  await expect(page.getByRole('textbox', { name: 'Message' })).toHaveCount(0);
});

test('hides typing, presence and the direct conversation of a muted person', async ({ server, logIn }) => {
  await post(server, 'cordelia', 'silence', 'Quiet here');
  const [muted, self] = [await idOf(server, 'zoe'), await idOf(server, 'othello')];
  await server.call('zoe', 'POST', '/messages', { type: 'direct', to: [self], content: 'Only us' });
  const place = await placeOf(server, 'silence');
  const { page } = await logIn('othello', place);
  const zoe = await logIn('zoe', place);
  const direct = page.getByRole('navigation').getByRole('link', { name: 'Zoe' });
  await expect(direct).toBeVisible();
  await page.getByRole('button', { name: 'People', exact: true }).click();
  const panel = page.getByRole('complementary', { name: 'People' });
  await expect(panel.getByRole('button', { name: /Zoe/ })).toBeVisible();
  const field = zoe.page.getByRole('textbox', { name: 'Message' });
  await field.fill('Well');
  const typing = page.getByText(/Zoe.* is typing/);
  await expect(typing).toBeVisible();

  await server.call('othello', 'POST', `/users/me/muted_users/${muted}`);
  await expect(typing).toHaveCount(0);
  await expect(direct).toHaveCount(0);
  await expect(panel.getByRole('button', { name: /Zoe/ })).toHaveCount(0);
  await panel.getByRole('searchbox').fill('zoe');
  await expect(panel.getByRole('button', { name: /Zoe/ })).toBeVisible();
  await goTo(page, '#recent');
  const recent = page.getByRole('main').getByRole('listitem');
  await expect(recent.filter({ hasText: 'silence' })).toBeVisible();
  await expect(recent.filter({ hasText: 'Only us' })).toHaveCount(0);

  await server.call('othello', 'DELETE', `/users/me/muted_users/${muted}`);
  await expect(direct).toBeVisible();
});

test('starts a conversation with a bot', async ({ server, logIn }) => {
  await server.call('desdemona', 'POST', '/bots', { full_name: 'Prompter', short_name: 'prompter', bot_type: 1 });
  const { page } = await logIn('hamlet', '#inbox');
  await page.getByTitle('New direct message', { exact: true }).click();
  await page.getByRole('combobox', { name: 'People' }).fill('prompt');
  await expect(page.getByRole('option', { name: 'Prompter' })).toBeVisible();
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: /Name of a conversation/ }).fill('prompt');
  await page.getByRole('option', { name: 'Prompter' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toContainText('Prompter');
});

test('lists the members of the open channel first', async ({ server, logIn }) => {
  await server.call('hamlet', 'POST', '/users/me/subscriptions', { subscriptions: [{ name: 'panel members' }] });
  const { page } = await logIn('hamlet', await placeOf(server, 'welcome'));
  const { stream_id: id } = await server.call('hamlet', 'GET', '/get_stream_id', { stream: 'panel members' });
  await page.getByRole('button', { name: 'People', exact: true }).click();
  const people = page.getByRole('complementary', { name: 'People' }).getByRole('listitem');
  await expect(people.first()).toBeVisible();
  const before = await people.allTextContents();
  expect(before.length).toBeGreaterThan(3);
  await server.call('iago', 'POST', '/users/me/subscriptions', {
    subscriptions: [{ name: 'panel members' }],
    principals: [await idOf(server, 'zoe')],
  });
  await goTo(page, `#narrow/channel/${id}-panel`);
  await expect.poll(async () => (await people.allTextContents()).slice(0, 2).join()).toContain('Zoe');
  await goTo(page, '#inbox');
  await expect.poll(() => people.allTextContents()).toEqual(before);
});
