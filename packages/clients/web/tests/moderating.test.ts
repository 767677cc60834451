import { expect, goTo, messageWith, placeOf, post, pressIn, test, violationsIn } from './stories.js';

test('reports a message if the organization has a channel for reports', async ({ server, logIn }) => {
  await post(server, 'cordelia', 'reported', 'Buy my watches');
  await post(server, 'hamlet', 'reported', 'No, thank you');
  const { page } = await logIn('hamlet', await placeOf(server, 'reported'));
  const menuOf = async (text: string) => {
    await pressIn(messageWith(page, text), { name: 'More actions' });
    await expect(page.getByRole('menuitem', { name: 'Copy link to message' })).toBeVisible();
  };
  const entry = page.getByRole('menuitem', { name: 'Report this message…' });
  await menuOf('Buy my watches');
  await expect(entry).toHaveCount(0);
  await page.keyboard.press('Escape');

  await server.call('iago', 'POST', '/users/me/subscriptions', {
    subscriptions: [{ name: 'reports' }],
    invite_only: true,
  });
  const { stream_id: id } = await server.call('iago', 'GET', '/get_stream_id', { stream: 'reports' });
  await server.call('iago', 'PATCH', '/realm', { moderation_request_channel_id: id });
  // Events arrive in order, so the setting is applied once this message is visible.
  await post(server, 'cordelia', 'reported', 'Even cheaper now');
  await expect(messageWith(page, 'Even cheaper now')).toBeVisible();
  await menuOf('No, thank you');
  await expect(entry).toHaveCount(0);
  await page.keyboard.press('Escape');
  await menuOf('Buy my watches');
  await entry.click();
  const dialog = page.getByRole('dialog', { name: 'Report a message' });
  await dialog.getByLabel('Reason').selectOption('Other reason');
  await expect(dialog.getByRole('button', { name: 'Report' })).toBeDisabled();
  await dialog.getByLabel('Description').fill('They are not real');
  expect(await violationsIn(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Report' }).click();
  await expect(dialog).toHaveCount(0);
  await expect(page.getByRole('dialog', { name: 'The message was reported' })).toBeVisible();
  expect(await violationsIn(page)).toEqual([]);
  await page.keyboard.press('Escape');
  const { messages } = await server.call('iago', 'GET', '/messages', {
    narrow: [{ operator: 'channel', operand: id }],
    anchor: 'newest',
    num_before: 5,
    num_after: 0,
    apply_markdown: false,
  });
  expect(messages.at(-1).content).toContain('They are not real');
});

test('deletes a topic after a confirmation that names it', async ({ server, logIn }) => {
  await post(server, 'cordelia', 'doomed', 'First to go');
  await post(server, 'hamlet', 'doomed', 'Last to go');
  const place = await placeOf(server, 'doomed');
  const hamlet = await logIn('hamlet', place);
  await hamlet.page.getByRole('main').getByRole('button', { name: 'Topic actions' }).click();
  await expect(hamlet.page.getByRole('menuitem', { name: 'Copy link to topic' })).toBeVisible();
  const entry = { name: 'Delete topic' };
  await expect(hamlet.page.getByRole('menuitem', entry)).toHaveCount(0);
  await hamlet.page.keyboard.press('Escape');

  const { page } = await logIn('iago', place);
  let calls = 0;
  await page.route('**/json/streams/*/delete_topic', (route) =>
    ++calls === 1 ? route.fulfill({ json: { result: 'success', msg: '', complete: false } }) : route.continue(),
  );
  await page.getByRole('main').getByRole('button', { name: 'Topic actions' }).click();
  await page.getByRole('menuitem', entry).click();
  const dialog = page.getByRole('dialog', { name: 'Delete this topic?' });
  await expect(dialog).toContainText('“doomed” in #Verona');
  expect(await violationsIn(page)).toEqual([]);
  await dialog.getByRole('button', entry).click();
  await expect(dialog).toHaveCount(0);
  expect(calls).toBe(2);
  for (const person of [page, hamlet.page]) await expect(messageWith(person, 'to go')).toHaveCount(0);
  for (const person of [page, hamlet.page]) {
    const sidebar = person.getByRole('navigation', { name: 'Conversations' });
    await expect(sidebar.getByRole('link', { name: 'Verona' })).toBeVisible();
    // Listed while it is open.
    await expect(sidebar.getByRole('link', { name: 'doomed' })).toHaveAttribute('aria-current', 'page');
    await goTo(person, '#inbox');
    await expect(sidebar.getByRole('link', { name: 'doomed' })).toHaveCount(0);
  }
});

test('keeps a dialog with unsaved input open when the user clicks outside it', async ({ server, logIn }) => {
  const { page } = await logIn('hamlet', await placeOf(server, 'dialogs'));
  const open = page.getByRole('button', { name: 'Saved snippets' });
  const dialog = page.getByRole('dialog');
  await open.click();
  await dialog.getByRole('button', { name: 'New snippet' }).click();
  await page.mouse.click(5, 5);
  await expect(dialog).toHaveCount(0);
  await open.click();
  await dialog.getByRole('button', { name: 'New snippet' }).click();
  await dialog.getByLabel('Text').fill('A long speech');
  await page.mouse.click(5, 5);
  await expect(dialog.getByLabel('Text')).toHaveValue('A long speech');
  await page.keyboard.press('Escape');
  await expect(dialog).toHaveCount(0);
});
