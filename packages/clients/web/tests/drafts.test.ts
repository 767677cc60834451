import type { Page } from '@playwright/test';
import {
  chooseInMenu,
  expect,
  goTo,
  idOf,
  messageWith,
  type Person,
  placeOf,
  pressIn,
  type Server,
  send,
  test,
  violationsIn,
} from './stories.js';

const WRITER = 'prospero';

const textsOf = async (server: Server, topic: string): Promise<readonly string[]> => {
  const { drafts } = await server.call(WRITER, 'GET', '/drafts');
  return drafts
    .filter((draft: { topic: string }) => draft.topic === topic)
    .map(({ content }: { content: string }) => content)
    .sort();
};

/** Opens the current place in a second window. Returns both with their fields. */
async function inTwoWindows({ page, context }: Person, url: string) {
  const fieldOf = (each: Page) => each.getByRole('textbox', { name: 'Message' });
  const second = await context.newPage();
  await second.goto(url);
  await expect(fieldOf(second)).toBeVisible();
  return { page, field: fieldOf(page), second, secondField: fieldOf(second) };
}

test('saves a draft on the server, continues it in another browser and removes it when it is sent', async ({
  server,
  logIn,
}) => {
  const place = await placeOf(server, 'drafts-of-prospero', 'Denmark');
  const laptop = await logIn(WRITER, place);
  const field = laptop.page.getByRole('textbox', { name: 'Message' });
  await field.fill('Neither a borrower');
  await expect.poll(() => textsOf(server, 'drafts-of-prospero')).toEqual(['Neither a borrower']);

  const phone = await logIn(WRITER, '#drafts');
  const row = phone.page.getByRole('listitem').filter({ hasText: 'Neither a borrower' });
  await expect(row).toBeVisible();
  expect(await violationsIn(phone.page)).toEqual([]);
  await row.getByRole('link').click();
  const other = phone.page.getByRole('textbox', { name: 'Message' });
  await expect(other).toHaveValue('Neither a borrower');
  await phone.page.keyboard.press('r');
  await phone.page.keyboard.type(' nor a lender be');
  await expect(field).toHaveValue('Neither a borrower nor a lender be');
  await phone.page.getByRole('button', { name: 'Send', exact: true }).click();
  await expect(field).toHaveValue('');
  await expect.poll(() => textsOf(server, 'drafts-of-prospero')).toEqual([]);
});

test('shows both texts when two windows edit one draft', async ({ server, logIn }) => {
  const place = await placeOf(server, 'two-windows', 'Denmark');
  const { page, field, second, secondField } = await inTwoWindows(await logIn(WRITER, place), `${server.url}/${place}`);
  // An unfocused field accepts the text of the other window.
  await secondField.focus();
  await field.fill('Written on the left');
  await secondField.fill('Written on the right');
  await expect(page.getByRole('list', { name: 'Other drafts' })).toContainText('Written on the right');
  await expect(second.getByRole('list', { name: 'Other drafts' })).toContainText('Written on the left');
  await expect.poll(() => textsOf(server, 'two-windows')).toEqual(['Written on the left', 'Written on the right']);
  await page.bringToFront();
  expect(await violationsIn(page)).toEqual([]);

  await page.getByRole('list', { name: 'Other drafts' }).getByRole('button', { name: 'Edit' }).click();
  await expect(field).toHaveValue('Written on the right');
  await expect(page.getByRole('list', { name: 'Other drafts' })).toContainText('Written on the left');
  await page.getByRole('list', { name: 'Other drafts' }).getByRole('button', { name: 'Delete' }).click();
  await expect.poll(() => textsOf(server, 'two-windows')).toEqual(['Written on the right']);
  await field.fill('');
  await second.close();
});

test('continues in an empty field the text started in another window', async ({ server, logIn }) => {
  const place = await placeOf(server, 'begun-elsewhere', 'Denmark');
  const { field, second, secondField } = await inTwoWindows(await logIn(WRITER, place), `${server.url}/${place}`);
  await field.fill('Begun');
  await expect(secondField).toHaveValue('Begun');
  await expect(second.getByRole('list', { name: 'Other drafts' })).toHaveCount(0);
  await field.fill('Begun and continued');
  await expect(secondField).toHaveValue('Begun and continued');
  await secondField.fill('Begun, continued and finished');
  await expect(field).toHaveValue('Begun, continued and finished');
  await second.getByRole('button', { name: 'Send', exact: true }).click();
  await expect(field).toHaveValue('');
  await expect.poll(() => textsOf(server, 'begun-elsewhere')).toEqual([]);
  await expect(secondField).toHaveValue('');
});

test('keeps drafts only in this browser if the user disables synchronization', async ({ server, logIn }) => {
  await server.call('zoe', 'PATCH', '/settings', { enable_drafts_synchronization: false });
  const { page } = await logIn('zoe', await placeOf(server, 'drafts-at-home', 'Denmark'));
  const calls: string[] = [];
  page.on('request', (request) => request.url().includes('/drafts') && calls.push(request.url()));
  await page.getByRole('textbox', { name: 'Message' }).fill('Only here');
  await goTo(page, '#drafts');
  const row = page.getByRole('main').getByRole('listitem').filter({ hasText: 'Only here' });
  await row.getByRole('button', { name: 'Delete draft' }).click();
  await expect(row).toHaveCount(0);
  expect(calls.filter((url) => url.includes('/json/'))).toEqual([]);
});

test('moves a text along while its topic is being typed', async ({ server, logIn }) => {
  const { stream_id: id } = await server.call(WRITER, 'GET', '/get_stream_id', { stream: 'Denmark' });
  const { page } = await logIn(WRITER, `#narrow/channel/${id}-Denmark`);
  await page.getByRole('textbox', { name: 'Message' }).fill('A text before its topic');
  await page.waitForTimeout(1000);
  await page.getByRole('combobox', { name: 'Topic' }).pressSequentially('ophelia letters', { delay: 30 });
  await goTo(page, '#drafts');
  const rows = page.getByRole('main').getByRole('listitem').filter({ hasText: 'A text before its topic' });
  await expect(rows).toHaveCount(1);
  await expect(rows).toContainText('ophelia letters');
  await rows.getByRole('link').click();
  await send(page, 'A text before its topic, sent');
  await goTo(page, '#drafts');
  await expect(rows).toHaveCount(0);
});

test('keeps the topic typed in a channel until the message is sent', async ({ server, logIn }) => {
  const { stream_id: id } = await server.call(WRITER, 'GET', '/get_stream_id', { stream: 'Denmark' });
  const { page } = await logIn(WRITER, `#narrow/channel/${id}-Denmark`);
  const topic = page.getByRole('combobox', { name: 'Topic' });
  const text = page.getByRole('textbox', { name: 'Message' });
  await topic.fill('returning');
  await text.fill('Unsent in a channel');
  await goTo(page, '#inbox');
  await goTo(page, `#narrow/channel/${id}-Denmark`);
  await expect(topic).toHaveValue('returning');
  await expect(text).toHaveValue('Unsent in a channel');
  await page.reload();
  await expect(topic).toHaveValue('returning');
  await expect(text).toHaveValue('Unsent in a channel');
  await send(page, 'Sent in a channel');
  await expect(topic).toHaveValue('returning');
  await goTo(page, '#inbox');
  await goTo(page, `#narrow/channel/${id}-Denmark`);
  await expect(text).toHaveValue('');
  await expect(topic).toHaveValue('');
});

test('keeps a text after Escape, a click elsewhere, closing the page and a crash', async ({ server, logIn }) => {
  const place = await placeOf(server, 'survivor', 'Denmark');
  const { page, context } = await logIn(WRITER, place);
  const fieldOf = (window: typeof page) => window.getByRole('textbox', { name: 'Message' });
  await fieldOf(page).fill('One');
  await page.keyboard.press('Escape');
  await expect(fieldOf(page)).not.toBeFocused();
  await expect(fieldOf(page)).toHaveValue('One');
  await page.getByRole('heading', { level: 1 }).click();
  await fieldOf(page).fill('One two');
  await page.close({ runBeforeUnload: true });
  const second = await context.newPage();
  await second.goto(`${server.url}/${place}`);
  await expect(fieldOf(second)).toHaveValue('One two');
  await fieldOf(second).fill('One two three');
  await expect.poll(() => textsOf(server, 'survivor')).toEqual(['One two three']);
  const crashed = second.waitForEvent('crash');
  await second.goto('chrome://crash').catch(() => {});
  await crashed;
  const third = await context.newPage();
  await third.goto(`${server.url}/${place}`);
  await expect(fieldOf(third)).toHaveValue('One two three');
  await fieldOf(third).fill('');
});

test('keeps an unfinished edit across windows and reloads until it is saved or discarded after a question', async ({
  server,
  logIn,
}) => {
  const place = await placeOf(server, 'unfinished-edit', 'Denmark');
  const { page, context } = await logIn(WRITER, place);
  await send(page, 'As it was sent');
  const row = messageWith(page, 'As it was sent');
  const field = page.getByRole('textbox', { name: 'Edit message' });
  const begin = async () => {
    await pressIn(row, { name: 'Edit', exact: true });
  };
  const kept = page.getByText('You have not saved your changes to this message.');
  await begin();
  await expect(field).toHaveValue('As it was sent');
  await page.keyboard.press('Escape');
  await expect(row).toBeVisible();
  await expect(kept).toHaveCount(0);

  await begin();
  await field.fill('Half of a better');
  const question = page.getByRole('dialog', { name: 'Discard your changes?' });
  await page.keyboard.press('Escape');
  await expect(question.getByRole('button', { name: 'Cancel' })).toBeFocused();
  expect(await violationsIn(page)).toEqual([]);
  await page.keyboard.press('Enter');
  await expect(question).toHaveCount(0);
  await expect(field).toBeFocused();
  await field.fill('Half of a better text');
  await page.getByRole('article').filter({ has: field }).getByRole('button', { name: 'Cancel' }).click();
  await question.getByRole('button', { name: 'Cancel' }).click();
  await expect(field).toHaveValue('Half of a better text');

  const second = await context.newPage();
  await second.goto(`${server.url}/${place}`);
  const secondRow = messageWith(second, 'As it was sent');
  await expect(secondRow).toContainText('You have not saved your changes to this message.');
  expect(await violationsIn(second)).toEqual([]);
  await secondRow.getByRole('button', { name: 'Continue editing' }).click();
  const secondField = second.getByRole('textbox', { name: 'Edit message' });
  await expect(secondField).toHaveValue('Half of a better text');
  await secondField.fill('A better text');
  await expect(field).toHaveValue('A better text');

  await page.bringToFront();
  await page.reload();
  await expect(kept).toBeVisible();
  await row.getByRole('button', { name: 'Discard changes' }).click();
  await question.getByRole('button', { name: 'Discard' }).click();
  await expect(kept).toHaveCount(0);
  await expect(row).toBeVisible();
  await expect(secondField).toHaveCount(0);
  await expect(secondRow).toBeVisible();
  await begin();
  await expect(field).toHaveValue('As it was sent');
  await field.fill('A better text');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(messageWith(second, 'A better text')).toBeVisible();
  await expect(second.getByText('You have not saved your changes to this message.')).toHaveCount(0);
});

test('shows both texts when two devices edit one message, and saves afterwards', async ({ server, logIn }) => {
  const place = await placeOf(server, 'two-editors', 'Denmark');
  const laptop = await logIn(WRITER, place);
  await send(laptop.page, 'Sent by one device');
  const phone = await logIn(WRITER, place);
  const fieldOf = (page: Page) => page.getByRole('textbox', { name: 'Edit message' });
  const begin = async (page: Page) => {
    await pressIn(messageWith(page, 'Sent by one device'), { name: 'Edit', exact: true });
    await expect(fieldOf(page)).toHaveValue('Sent by one device');
  };
  const otherOf = (page: Page) => page.getByRole('textbox', { name: 'This message was changed in another window' });
  const save = (page: Page) => page.getByRole('button', { name: 'Save', exact: true }).click();
  await begin(laptop.page);
  await begin(phone.page);
  await fieldOf(laptop.page).fill('Changed on the laptop');
  await fieldOf(phone.page).fill('Changed on the phone');
  // The change from the phone arrives while the laptop's change is pending.
  let isFirst = true;
  await laptop.page.route(/\/json\/messages\/\d+$/, async (route) => {
    if (isFirst) {
      isFirst = false;
      const saved = phone.page.waitForResponse((response) => response.request().method() === 'PATCH');
      await save(phone.page);
      await saved;
    }
    await route.continue();
  });
  await save(laptop.page);
  await expect(otherOf(laptop.page)).toHaveValue('Changed on the phone');
  await expect(fieldOf(laptop.page)).toHaveValue('Changed on the laptop');
  expect(await violationsIn(laptop.page)).toEqual([]);
  await laptop.page.getByRole('button', { name: 'Save anyway' }).click();
  await expect(messageWith(phone.page, 'Changed on the laptop')).toBeVisible();
  await expect(fieldOf(laptop.page)).toHaveCount(0);
});

test('shows another device’s change to a message being edited, also after closing and reloading', async ({
  server,
  logIn,
}) => {
  const { page } = await logIn(WRITER, await placeOf(server, 'edited-meanwhile', 'Denmark'));
  await send(page, 'Before the changes');
  const row = messageWith(page, 'Before the changes');
  await pressIn(row, { name: 'Edit', exact: true });
  const field = page.getByRole('textbox', { name: 'Edit message' });
  await expect(field).toHaveValue('Before the changes');
  await field.fill('Changed here');
  const { messages } = await server.call(WRITER, 'GET', '/messages', {
    anchor: 'newest',
    num_before: 1,
    num_after: 0,
    narrow: [{ operator: 'topic', operand: 'edited-meanwhile' }],
  });
  await server.call(WRITER, 'PATCH', `/messages/${messages[0].id}`, { content: 'Changed elsewhere' });
  const other = page.getByRole('textbox', { name: 'This message was changed in another window' });
  await expect(other).toHaveValue('Changed elsewhere');
  await page.keyboard.press('Escape');
  await expect(messageWith(page, 'Changed elsewhere')).toBeVisible();
  await page.reload();
  await page.getByRole('button', { name: 'Continue editing' }).click();
  await expect(field).toHaveValue('Changed here');
  await expect(other).toHaveValue('Changed elsewhere');
  await page.getByRole('button', { name: 'Save anyway' }).click();
  await expect(messageWith(page, 'Changed here')).toBeVisible();
  await expect(field).toHaveCount(0);
});

test('keeps an edit as a draft if the message is deleted', async ({ server, logIn }) => {
  const place = await placeOf(server, 'deleted-edit', 'Denmark');
  const { page } = await logIn(WRITER, place);
  await send(page, 'To be deleted');
  const row = messageWith(page, 'To be deleted');
  await pressIn(row, { name: 'Edit', exact: true });
  await page.getByRole('textbox', { name: 'Edit message' }).fill('To be deleted with a long addition');
  const { messages } = await server.call(WRITER, 'GET', '/messages', {
    anchor: 'newest',
    num_before: 1,
    num_after: 0,
    narrow: [{ operator: 'topic', operand: 'deleted-edit' }],
  });
  await server.call('iago', 'DELETE', `/messages/${messages[0].id}`);
  const other = page.getByRole('list', { name: 'Other drafts' });
  await expect(other).toContainText('To be deleted with a long addition');
  await other.getByRole('button', { name: 'Edit' }).click();
  await expect(page.getByRole('textbox', { name: 'Message' })).toHaveValue('To be deleted with a long addition');
  await page.getByRole('textbox', { name: 'Message' }).fill('');
});

test('keeps unsent messages and unsaved edits as drafts on logout', async ({ server, logIn }) => {
  const { page, context } = await logIn(WRITER, await placeOf(server, 'unsent-at-log-out', 'Denmark'));
  for (const text of ['Left alone', 'To be changed']) {
    const to = { type: 'channel', to: 'Denmark', topic: 'unsent-at-log-out' };
    await server.call(WRITER, 'POST', '/messages', { ...to, content: text, read_by_sender: true });
    await expect(messageWith(page, text)).toBeVisible();
  }
  await page.route('**/json/messages', (route) =>
    route.request().method() === 'POST'
      ? route.fulfill({ status: 400, json: { result: 'error', code: 'BAD_REQUEST', msg: 'Refused' } })
      : route.continue(),
  );
  await send(page, 'Refused before the log-out');
  await expect(page.getByText('Not sent')).toBeVisible();
  for (const text of ['Left alone', 'To be changed']) {
    await pressIn(messageWith(page, text), { name: 'Edit', exact: true });
    await expect(page.getByRole('textbox', { name: 'Edit message' }).last()).toHaveValue(text);
  }
  await page.getByRole('textbox', { name: 'Edit message' }).last().fill('Changed before the log-out');
  await chooseInMenu(page, 'Log out');
  await page.waitForURL(/login/);
  const texts = await textsOf(server, 'unsent-at-log-out');
  expect([...texts].sort()).toEqual(['Changed before the log-out', 'Refused before the log-out']);
  await context.close();
});

test('keeps text typed just before logout, and edits of inaccessible messages, as drafts', async ({
  server,
  logIn,
}) => {
  const { page } = await logIn(WRITER, await placeOf(server, 'left-behind', 'Denmark'));
  await send(page, 'To be changed later');
  await messageWith(page, 'To be changed later').hover();
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  await page.getByRole('textbox', { name: 'Edit message' }).fill('Changed at last');
  await goTo(page, await placeOf(server, 'last-moment', 'Denmark'));
  await page.reload();
  await expect(page.getByRole('textbox', { name: 'Message' })).toBeVisible();
  await page.getByRole('button', { name: 'Main menu' }).click();
  // Runs before the field's delayed save.
  await page.getByRole('menuitem', { name: 'Log out' }).evaluate((entry: HTMLElement) => {
    const field = document.querySelector('textarea')!;
    Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, 'value')!.set!.call(field, 'Typed at last');
    field.dispatchEvent(new Event('input', { bubbles: true }));
    entry.click();
  });
  await page.waitForURL(/login/);
  expect(await textsOf(server, 'last-moment')).toEqual(['Typed at last']);
  expect(await textsOf(server, 'left-behind')).toEqual(['Changed at last']);
});

test('lists the files of drafts and scheduled messages instead of their links', async ({ server, logIn }) => {
  const place = await placeOf(server, 'drafts with files', 'Denmark');
  const { url } = (await server.upload(WRITER, '/user_uploads', 'plan.txt', Buffer.from('plan'))) as { url: string };
  const content = `The plan\n\n[plan.txt](${url})`;
  const to = Number(/channel\/(\d+)/.exec(place)![1]);
  const at = Math.floor(Date.now() / 1000);
  const draft = { type: 'stream', to: [to], topic: 'drafts with files', timestamp: at, content };
  await server.call(WRITER, 'POST', '/drafts', {
    drafts: [draft, { ...draft, content: 'Without files', timestamp: at + 1 }],
  });
  await server.call(WRITER, 'POST', '/scheduled_messages', {
    ...{ type: 'channel', to, topic: 'drafts with files', content, scheduled_delivery_timestamp: at + 3600 },
  });
  const { page } = await logIn(WRITER, '#drafts');
  const main = page.getByRole('main');
  for (const hash of ['#drafts', '#scheduled']) {
    await goTo(page, hash);
    const row = main.getByRole('listitem').filter({ hasText: 'The plan' });
    await expect(row.getByRole('list', { name: 'Uploads' })).toHaveText(/^plan\.txt\d+ bytes$/);
    await expect(main).not.toContainText('user_uploads');
    expect(await violationsIn(page)).toEqual([]);
  }
  await main.getByRole('button', { name: 'Edit' }).click();
  const editor = main.getByRole('listitem').filter({ has: page.getByRole('textbox') });
  await expect(editor.getByRole('textbox', { name: 'Message' })).toHaveValue('The plan');
  await editor.getByRole('textbox', { name: 'Message' }).fill('The other plan');
  await editor.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(editor).toHaveCount(0);
  const { scheduled_messages: scheduled } = await server.call(WRITER, 'GET', '/scheduled_messages');
  expect(scheduled.at(-1).content).toBe(`The other plan\n\n[plan.txt](${url})`);
  await goTo(page, place);
  const others = page.getByRole('list', { name: 'Other drafts' });
  await expect(others).toContainText('The plan');
  await expect(others).toContainText('plan.txt');
  await expect(others).not.toContainText('user_uploads');
});

test('keeps the text of a scheduled message if only its time changes, and schedules a poll after its files', async ({
  server,
  logIn,
}) => {
  const { url } = (await server.upload(WRITER, '/user_uploads', 'map.txt', Buffer.from('map'))) as { url: string };
  const link = `[map.txt](${url})`;
  const { scheduled_message_id: id } = await server.call(WRITER, 'POST', '/scheduled_messages', {
    type: 'direct',
    to: [await idOf(server, WRITER)],
    content: `The map\n${link}`,
    scheduled_delivery_timestamp: Math.floor(Date.now() / 1000) + 3600,
  });
  const contents = async () => {
    const { scheduled_messages: all } = await server.call(WRITER, 'GET', '/scheduled_messages');
    return all
      .filter((each: { scheduled_message_id: number }) => each.scheduled_message_id >= id)
      .map(({ content }: { content: string }) => content);
  };
  const { page } = await logIn(WRITER, '#scheduled');
  const row = page.getByRole('main').getByRole('listitem').filter({ hasText: 'The map' });
  const editor = page
    .getByRole('main')
    .getByRole('listitem')
    .filter({ has: page.getByRole('textbox') });
  await row.getByRole('button', { name: 'Edit' }).click();
  await editor.getByLabel('Date and time').fill('2099-01-01T10:00');
  await editor.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(row).toContainText('2099');
  expect(await contents()).toEqual([`The map\n${link}`]);

  await row.getByRole('button', { name: 'Edit' }).click();
  await editor.getByRole('button', { name: 'Remove map.txt' }).click();
  await editor.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Discard' }).click();

  await row.getByRole('button', { name: 'Edit' }).click();
  await editor.getByRole('textbox', { name: 'Message' }).fill('/poll Which way?\nNorth');
  await page.route('**/json/scheduled_messages/*', (route) => route.abort(), { times: 1 });
  await editor.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(editor.getByRole('alert')).toBeVisible();
  await expect(editor.getByRole('textbox', { name: 'Message' })).toHaveValue('');
  await editor.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(editor).toHaveCount(0);
  expect(await contents()).toEqual([link, '/poll Which way?\nNorth']);
});
