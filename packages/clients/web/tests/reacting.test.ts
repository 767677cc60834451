import type { Page } from '@playwright/test';
import { choose, expect, goTo, messageWith, placeOf, post, pressIn, send, test, violationsIn } from './stories.js';

test('reacts with any emoji, found by parts of its name and chosen by keyboard', async ({ server, logIn }) => {
  await post(server, 'cordelia', 'emoji', 'Pick one');
  const { page } = await logIn('hamlet', await placeOf(server, 'emoji'));
  const message = messageWith(page, 'Pick one');
  await pressIn(message, { name: 'Add a reaction' });
  const search = page.getByRole('combobox', { name: 'Search emoji' });
  await expect(search).toBeFocused();
  await expect(page.getByRole('option').nth(40)).toBeAttached();
  expect(await violationsIn(page)).toEqual([]);
  await search.fill('rad nuc');
  await expect(page.getByText('No emoji found')).toBeVisible();
  await search.fill('work ham');
  await page.keyboard.press('Enter');
  await search.fill('person bow');
  await page.keyboard.press('ArrowDown');
  await search.fill('octop');
  await expect(page.getByRole('option', { name: ':octopus:' })).toHaveAttribute('aria-selected', 'true');
  await page.keyboard.press('Enter');
  await expect(search).toHaveCount(0);
  await expect(message.getByRole('button', { name: /reacted with :octopus:/ })).toBeVisible();
});

test('lists the reader first, at most ten people, and the number of others who reacted', async ({ server, logIn }) => {
  const { id } = await post(server, 'cordelia', 'reactions', 'Popular');
  for (const person of ['iago', 'hamlet', 'zoe']) {
    await server.call(person, 'POST', `/messages/${id}/reactions`, { emoji_name: 'tada' });
  }
  const place = await placeOf(server, 'reactions');
  const reactionOn = (page: Page) => messageWith(page, 'Popular').getByRole('button', { name: /reacted with :tada:/ });
  const hamlet = await logIn('hamlet', place);
  const { full_name: zoe } = await server.call('zoe', 'GET', '/users/me');
  await expect(reactionOn(hamlet.page)).toHaveAttribute('title', `You, Iago, and ${zoe} reacted with :tada:`);
  const { page } = await logIn('zoe', '#drafts');
  await page.route(/\/json\/messages\?/, async (route) => {
    const response = await route.fetch();
    const body = await response.json();
    for (const { reactions } of body.messages) {
      for (let n = 0; reactions.length > 0 && n < 10; n++) reactions.push({ ...reactions[0], user_id: 9000 + n });
    }
    await route.fulfill({ response, json: body });
  });
  await goTo(page, place);
  const title = /^You, Iago, King Hamlet, .*, and 3 others reacted with :tada:$/;
  await expect(reactionOn(page)).toHaveAttribute('title', title);
});

test('offers custom emoji in reactions and texts', async ({ server, logIn }) => {
  const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  await server.upload('iago', '/realm/emoji/our_thing', 'thing.png', Buffer.from(pixel, 'base64'));
  const { page } = await logIn('hamlet', await placeOf(server, 'own-emoji'));
  await page.getByRole('button', { name: 'Insert emoji' }).click();
  await page.getByRole('combobox', { name: 'Search emoji' }).fill('our th');
  await page.getByRole('option', { name: ':our_thing:' }).click();
  const field = page.getByRole('textbox', { name: 'Message' });
  await expect(field).toHaveValue(':our_thing: ');
  await expect(field).toBeFocused();
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await expect(page.getByRole('article').getByRole('img', { name: ':our thing:' })).toBeVisible();
});

test('votes in a poll and adds an option', async ({ server, logIn }) => {
  const place = await placeOf(server, 'polls');
  const hamlet = await logIn('hamlet', place);
  await send(hamlet.page, '/poll Where do we meet?\nRome\nVerona');
  const cordelia = await logIn('cordelia', place);
  const poll = (page: typeof hamlet.page) => page.getByRole('group', { name: 'Where do we meet?' });
  const vote = poll(cordelia.page).getByRole('listitem').filter({ hasText: 'Verona' }).getByRole('button');
  await vote.click();
  await expect(vote).toHaveAttribute('aria-pressed', 'true');
  await expect(poll(hamlet.page).getByRole('listitem').filter({ hasText: 'Verona' })).toContainText('Cordelia');
  expect(await violationsIn(cordelia.page)).toEqual([]);
  await hamlet.page.route('**/json/submessage', async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 400));
    await route.continue();
  });
  for (const option of ['Venice', 'Padua']) {
    await poll(hamlet.page).getByRole('textbox', { name: 'New option' }).fill(option);
    await hamlet.page.keyboard.press('Enter');
  }
  await expect(poll(cordelia.page).getByRole('listitem')).toHaveCount(4);
  await vote.click();
  await expect(poll(hamlet.page).getByRole('listitem').filter({ hasText: 'Verona' })).not.toContainText('Cordelia');
});

test('shows that a vote and a poll option were not saved while offline', async ({ server, logIn }) => {
  const { page, context } = await logIn('hamlet', await placeOf(server, 'polls offline'));
  await send(page, '/poll When do we meet?\nToday');
  const poll = page.getByRole('group', { name: 'When do we meet?' });
  const vote = poll.getByRole('listitem').getByRole('button');
  const reason = poll.getByText('This was not saved, because there was no connection.');
  await expect(vote).toBeVisible();
  await context.setOffline(true);
  await vote.click();
  await expect(reason).toBeVisible();
  expect(await violationsIn(page)).toEqual([]);
  const option = poll.getByRole('textbox', { name: 'New option' });
  await option.fill('Tomorrow');
  await page.keyboard.press('Enter');
  await expect(option).toHaveValue('Tomorrow');
  await expect(reason).toBeVisible();
  await context.setOffline(false);
  await vote.click();
  await expect(vote).toHaveAttribute('aria-pressed', 'true');
  await expect(reason).toHaveCount(0);
  await option.press('Enter');
  await expect(poll.getByRole('listitem')).toHaveCount(2);
});

test("lets only the author change a poll's question and a to-do list's title", async ({ server, logIn }) => {
  const place = await placeOf(server, 'titles of widgets');
  const { page } = await logIn('hamlet', place);
  await send(page, '/poll Were do we eat?\nHere');
  await send(page, '/todo Shoping\nBread');
  const cordelia = await logIn('cordelia', place);
  for (const [before, label, after] of [
    ['Were do we eat?', 'question', 'Where do we eat?'],
    ['Shoping', 'title', 'Shopping'],
  ] as const) {
    const widget = page.getByRole('group', { name: before });
    const change = `Change ${label}`;
    await widget.getByRole('button', { name: change }).press('Enter');
    const field = page.getByRole('textbox', { name: change });
    await expect(field).toBeFocused();
    await expect(field).toHaveValue(before);
    expect(await violationsIn(page)).toEqual([]);
    await field.fill('Given up');
    await field.press('Escape');
    await expect(widget.getByRole('button', { name: change })).toBeFocused();
    await page.keyboard.press('Enter');
    await expect(field).toHaveValue('Given up');
    await field.fill(after);
    await field.press('Enter');
    await expect(field).toHaveCount(0);
    await expect(page.getByRole('group', { name: after }).getByRole('button', { name: change })).toBeFocused();
    await expect(cordelia.page.getByRole('group', { name: after })).toBeVisible();
  }
  await expect(cordelia.page.getByRole('button', { name: /^Change (question|title)/ })).toHaveCount(0);
});

test('ticks tasks of a to-do list and adds one', async ({ server, logIn }) => {
  const { page } = await logIn('hamlet', await placeOf(server, 'todo'));
  await send(page, '/todo Party\nCake: a big one\nCandles');
  const list = page.getByRole('group', { name: 'Party' });
  await list.getByRole('checkbox', { name: /Cake/ }).click();
  await list.getByRole('textbox', { name: 'New task' }).fill('Guests');
  await list.getByRole('button', { name: 'Add' }).click();
  await expect(list.getByRole('checkbox')).toHaveCount(3);
  await page.reload();
  await expect(list.getByRole('checkbox', { name: /Cake/ })).toBeChecked();
});

test('highlights search words', async ({ server, logIn }) => {
  const { id } = await post(server, 'cordelia', 'quinces everywhere', 'Two quinces and a pear');
  const { page } = await logIn('hamlet', '#feed');
  await page.getByRole('combobox', { name: 'Search' }).fill('quinces');
  await page.keyboard.press('Enter');
  await expect(messageWith(page, 'Two quinces').locator('mark')).toHaveText('quinces');
  await server.call('hamlet', 'POST', '/messages/flags', { messages: [id], op: 'add', flag: 'starred' });
  await expect(messageWith(page, 'Two quinces').getByRole('img', { name: 'Starred' })).toBeVisible();
  await expect(messageWith(page, 'Two quinces').locator('mark')).toHaveText('quinces');
  await expect(page.getByRole('region', { name: 'Messages' }).getByRole('link').locator('mark')).toHaveText('quinces');
});

test('collapses a message in every window, and expands it again', async ({ server, logIn }) => {
  await post(server, 'cordelia', 'collapsing', 'A very long speech');
  await post(server, 'cordelia', 'collapsing', 'Another word');
  const place = await placeOf(server, 'collapsing');
  const { page, context } = await logIn('hamlet', place);
  const other = await context.newPage();
  await other.goto(`${server.url}/${place}`);
  const row = page.getByRole('listitem').filter({ hasText: /very long speech|Collapsed message/ });
  await row.focus();
  await page.keyboard.press('-');
  const show = { name: 'Collapsed message. Show it' };
  await expect(row.getByRole('button', show)).toBeVisible();
  await expect(page.getByText('A very long speech')).toHaveCount(0);
  await expect(row).toBeFocused();
  await expect(other.getByText('A very long speech')).toHaveCount(0);
  await other.reload();
  await other.getByRole('button', show).click();
  await expect(other.getByText('A very long speech')).toBeVisible();
  await expect(page.getByText('A very long speech')).toBeVisible();

  await page.bringToFront();
  await choose(page, 'A very long speech', 'Collapse message');
  expect(await violationsIn(page)).toEqual([]);
  await row.getByRole('button', show).focus();
  await page.keyboard.press('Enter');
  await expect(page.getByText('A very long speech')).toBeVisible();
  await expect(row).toBeFocused();
  await page.keyboard.press('-');
  await pressIn(row, { name: 'More actions' });
  await page.getByRole('menuitem', { name: 'Expand message' }).click();
  await expect(page.getByText('A very long speech')).toBeVisible();
});
