import { expect, goTo, idOf, messageWith, placeOf, post, send, test, violationsIn } from './stories.js';

test('opens a conversation by part of its name', async ({ server, logIn }) => {
  const { page } = await logIn('hamlet', '#inbox');
  await page.keyboard.press('Control+k');
  const field = page.getByRole('combobox', { name: /Name of a conversation/ });
  await expect(field).toBeFocused();
  await field.fill('verona');
  await expect(page.getByRole('option', { name: 'Verona' }).first()).toHaveAttribute('aria-selected', 'true');
  expect(await violationsIn(page)).toEqual([]);
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { level: 1 })).toContainText('Verona');
  await post(server, 'hamlet', '', 'To a topic without a name');
  await page.keyboard.press('Control+k');
  await field.fill('gen chat');
  await expect(page.getByRole('option', { name: 'general chat #Verona' })).toBeVisible();
  await field.fill('corde lear');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { level: 1 })).toContainText('Cordelia');
});

test('types keys pressed after a shortcut into the field of the overlay that it opens', async ({ server, logIn }) => {
  await post(server, 'cordelia', 'design', 'Not to be opened');
  const { page } = await logIn('hamlet', '#inbox');
  const field = page.getByRole('dialog').getByRole('combobox');
  const type = (keys: string) =>
    page.evaluate((all) => {
      for (const key of all) {
        const target = document.activeElement ?? document.body;
        target.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
      }
    }, keys);
  for (let n = 0; n < 4; n++) {
    await page.keyboard.press('Control+k');
    await page.keyboard.type('design');
    await expect(field).toHaveValue('design');
    await page.keyboard.press('Escape');
    await expect(field).toHaveCount(0);
  }
  await page.reload();
  await page.route(/\/web\/(direct-dialog|finder|dialog|pick-field|people-list)[^/]*\.js$/, async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 500));
    await route.continue();
  });
  await expect(page.locator('[part="sidebar"] input[type="search"]')).toBeAttached();
  await page.locator('main').focus();
  await page.keyboard.press('x');
  await type('cord');
  await expect(page.getByRole('dialog').locator('input').first()).toHaveValue('cord');
  await expect(page).toHaveURL(/#inbox$/);
});

test('finds topics of channels that were not opened, despite a mistyped letter, and offers to search messages', async ({
  server,
  logIn,
}) => {
  const topic = { type: 'channel', to: 'Denmark', topic: 'rotten castle', content: 'Hm', read_by_sender: true };
  await server.call('hamlet', 'POST', '/users/me/subscriptions', { subscriptions: [{ name: 'Denmark' }] });
  await server.call('hamlet', 'POST', '/messages', topic);
  const { page } = await logIn('hamlet', '#inbox');
  const field = page.getByRole('combobox', { name: /Name of a conversation/ });
  await page.keyboard.press('Control+k');
  const top = async () => (await field.boundingBox())!.y;
  const before = await top();
  for (const query of ['castle rotten', 'denmark rot', 'rottne cas', 'castel']) {
    await field.fill(query);
    await expect(page.getByRole('option', { name: 'rotten castle #Denmark' })).toBeVisible();
    expect(await top()).toBe(before);
  }
  await field.fill('nothing like this');
  const dialog = page.getByRole('dialog', { name: 'Go to…' });
  await expect(dialog.getByRole('status')).toHaveText('Nothing found');
  expect(await top()).toBe(before);
  expect(await violationsIn(page)).toEqual([]);
  await page.getByRole('option', { name: 'Search messages for “nothing like this”' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toContainText('nothing like this');
});

test('finds single settings in Ctrl+K by labels and options, and opens them', async ({ logIn }) => {
  const { page } = await logIn('hamlet', '#inbox');
  const field = page.getByRole('combobox', { name: /Name of a conversation/ });
  const option = (name: string) => page.getByRole('option', { name, exact: true });
  await page.keyboard.press('Control+k');
  await field.fill('two-factor');
  await expect(option('Second factors Account and privacy')).toBeVisible();
  await field.fill('api key');
  await expect(option('Show or replace API key Account and privacy')).toHaveAttribute('aria-selected', 'true');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('button', { name: 'Show or replace API key' })).toBeFocused();
  await page.keyboard.press('Control+k');
  await field.fill('compact');
  await expect(option('Density Preferences')).toBeVisible();
  await field.fill('density');
  await expect(option('Density Preferences')).toHaveAttribute('aria-selected', 'true');
  expect(await violationsIn(page)).toEqual([]);
  await page.keyboard.press('Enter');
  const setting = page.getByRole('combobox', { name: 'Density' });
  await expect(setting).toBeInViewport();
  await expect(setting).toBeFocused();
});

test('lists recent conversations first in Ctrl+K, also read ones', async ({ server, logIn }) => {
  await post(server, 'cordelia', 'read before', 'Read');
  const { page } = await logIn('cordelia', '#inbox');
  await page.keyboard.press('Control+k');
  await expect(page.getByRole('option').first()).toHaveText(/read before.*Verona/);
});

test('lists people among the recent conversations in Ctrl+K, each of them once', async ({ server, logIn }) => {
  const to = [await idOf(server, 'othello')];
  await server.call('prospero', 'POST', '/messages', { type: 'direct', to, content: 'A recent message' });
  const { page } = await logIn('prospero', '#inbox');
  await page.keyboard.press('Control+k');
  await expect(page.getByRole('option').first()).toHaveText(/^Othello/);
  await page.getByRole('combobox', { name: /Name of a conversation/ }).fill('othello');
  await expect(page.getByRole('option', { name: /^Othello/ })).toHaveCount(1);
});

test('lists conversations in Ctrl+K that were missed because the event queue expired', async ({ server, logIn }) => {
  const { page, context } = await logIn('iago', '#inbox');
  const options = page.getByRole('option');
  await page.keyboard.press('Control+k');
  await expect(options.first()).toBeVisible();
  await page.keyboard.press('Escape');
  await context.setOffline(true);
  await post(server, 'iago', 'sent elsewhere', 'Already read');
  const error = { result: 'error', msg: 'Bad event queue ID', code: 'BAD_EVENT_QUEUE_ID', queue_id: 'expired' };
  await page.route(/\/json\/events/, (route) => route.fulfill({ status: 400, json: error }));
  const registered = page.waitForResponse(/\/json\/register/);
  await context.setOffline(false);
  await registered;
  await page.unroute(/\/json\/events/);
  await page.keyboard.press('Control+k');
  await expect(options.first()).toHaveText(/sent elsewhere.*Verona/);
});

test('shows where a search looks, and searches everywhere after Backspace or on request', async ({ server, logIn }) => {
  await post(server, 'iago', 'first haystack', 'A needle here');
  await post(server, 'iago', 'second haystack', 'A needle there');
  const { page } = await logIn('hamlet', await placeOf(server, 'first haystack'));
  const field = page.getByRole('combobox', { name: 'Search' });
  const scope = page.getByRole('search').getByText('in this topic');
  await field.focus();
  await expect(scope).toBeVisible();
  await expect(field).toHaveAccessibleDescription('in this topic');
  expect(await violationsIn(page)).toEqual([]);
  await field.fill('needle');
  await field.press('Enter');
  await expect(messageWith(page, 'needle here')).toBeVisible();
  await expect(messageWith(page, 'needle there')).toHaveCount(0);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Search: needle');
  const filters = page.getByRole('main').locator('a[title^="Remove "]');
  await expect(filters.first()).toBeHidden();
  await expect(field).toHaveAccessibleDescription(/channel:Verona topic:"first haystack"/);
  await page.setViewportSize({ width: 640, height: 800 });
  await expect(filters.first()).toBeVisible();
  await expect(filters).toHaveText([/channel:Verona/, /topic:"first haystack"/]);
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.getByRole('link', { name: 'Search everywhere' }).click();
  await expect(messageWith(page, 'needle there')).toBeVisible();
  await expect(page.getByRole('link', { name: 'Search everywhere' })).toHaveCount(0);
  await goTo(page, await placeOf(server, 'first haystack'));
  await field.focus();
  await field.press('Backspace');
  await expect(scope).toHaveCount(0);
  await field.fill('needle');
  await field.press('Enter');
  await expect(messageWith(page, 'needle there')).toBeVisible();
  await goTo(page, await placeOf(server, 'first haystack'));
  await field.fill('nowhere-in-this-topic');
  await field.press('Enter');
  await expect(page.getByRole('main')).toContainText('Nothing found');
  await expect(page.getByRole('main')).toContainText('Try fewer or other words.');
  await expect(page.getByRole('link', { name: 'Search everywhere' }).last()).toBeVisible();
  await expect(page.getByRole('link', { name: 'topic:"first haystack"' })).toBeHidden();
  await page.setViewportSize({ width: 640, height: 800 });
  await expect(page.getByRole('link', { name: 'topic:"first haystack"' })).toBeVisible();
  expect(await violationsIn(page)).toEqual([]);
});

test('understands filters as people type them, and names the unknown ones', async ({ server, logIn }) => {
  await post(server, 'iago', 'typed filters', 'A [plan](/user_uploads/plan.pdf) for the marmalade');
  const { page } = await logIn('hamlet', '#inbox');
  const field = page.getByRole('main').getByRole('combobox', { name: 'Search' });
  const search = async (text: string) => {
    await field.fill(text);
    await field.press('Enter');
  };
  await search('marmalade in:verona from:@iago after:yesterday');
  await expect(messageWith(page, 'for the marmalade')).toBeVisible();
  const day = new Date(Date.now() - 86_400_000).toISOString().slice(0, 7);
  await expect(page).toHaveURL(new RegExp(`channel/\\d+-Verona/sender/\\d+-Iago/after/${day}`));
  await goTo(page, '#inbox');
  await search('flavor:bitter marmalade');
  await expect(page.getByRole('alert')).toHaveText(
    'There is no filter flavor:bitter. Quotation marks search for the words.',
  );
  await expect(page).toHaveURL(/#inbox$/);
  await search('"flavor:bitter" marmalade');
  await expect(page).toHaveURL(/search/);
});

test('shows the most relevant hits first on request, and removes filters', async ({ server, logIn }) => {
  await post(server, 'iago', 'first orchard', 'An apricot, more apricots: apricot');
  await post(server, 'cordelia', 'second orchard', 'Cherries and one apricots');
  const { page } = await logIn('hamlet', '#narrow/channel/Verona/channel/Verona/search/apricot');
  const hits = page.getByRole('article');
  await expect(hits).toHaveText([/more apricots/, /Cherries/]);
  await page.getByRole('button', { name: 'Most relevant' }).click();
  await expect(hits).toHaveText([/more apricots/, /Cherries/]);
  await expect(hits.first()).toContainText('first orchard');
  await expect(hits.first().locator('.highlight, mark').first()).toHaveText('apricot');
  expect(await violationsIn(page)).toEqual([]);
  await page.setViewportSize({ width: 640, height: 800 });
  await page.getByRole('link', { name: 'channel:Verona' }).click();
  await expect(page.getByRole('link', { name: 'channel:Verona' })).toHaveCount(0);
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.reload();
  await expect(page.getByRole('button', { name: 'Most relevant' })).toHaveAttribute('aria-pressed', 'true');
  await hits.first().waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  await expect(hits.nth(1).getByRole('link').first()).toBeFocused();
  await page.keyboard.press('k');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { level: 1 })).toContainText('first orchard');
});

test('turns completed search filters into chips, which Backspace and clicks remove', async ({ server, logIn }) => {
  await post(server, 'iago', 'chips', 'A persimmon: https://example.com');
  const { page } = await logIn('hamlet', '#feed');
  const field = page.getByRole('combobox', { name: 'Search' });
  const heading = page.getByRole('heading', { level: 1 });
  const chip = (name: string) => page.getByRole('search').getByRole('button', { name, exact: true });
  await field.focus();
  await expect(page.getByRole('option').first()).toBeVisible();
  await field.pressSequentially('from:iago from:nobody ');
  await expect(chip('sender:Iago')).toBeVisible();
  await expect(field).toHaveValue('from:nobody ');
  await field.fill('');
  await field.pressSequentially('has:li');
  await expect(page.getByRole('search').getByRole('option')).toHaveText([
    /^Search for “sender:Iago has:li”/,
    /^has:link/,
  ]);
  await field.press('ArrowDown');
  await field.press('Enter');
  await expect(field).toHaveValue('');
  await expect(field).toHaveAccessibleDescription('sender:Iago has:link');
  await field.pressSequentially('persimmon');
  expect(await violationsIn(page)).toEqual([]);
  await field.press('Enter');
  await expect(heading).toHaveText('Search: persimmon');
  await page.reload();
  await expect(field).toHaveAccessibleDescription('sender:Iago has:link');
  await expect(field).toHaveValue('persimmon');
  await field.press('Home');
  await field.press('Backspace');
  await expect(field).toHaveAccessibleDescription('sender:Iago');
  await field.press('Enter');
  await expect(page).not.toHaveURL(/has/);
  await chip('sender:Iago').click();
  await expect(field).toBeFocused();
  await field.press('Enter');
  await expect(heading).toHaveText('Search: persimmon');
  await goTo(page, '#feed');
  await field.pressSequentially('is:unread fig');
  await field.press('Control+a');
  await field.press('p');
  await expect(chip('is:unread')).toHaveCount(0);
  await expect(field).toHaveValue('p');
});

test('returns to the unfinished text', async ({ server, logIn }) => {
  const { page } = await logIn('hamlet', await placeOf(server, 'palette while writing'));
  const field = page.getByRole('textbox', { name: 'Message', exact: true });
  await field.fill('Dear ');
  await page.keyboard.press('Control+k');
  await expect(page.getByRole('dialog', { name: 'Go to…' })).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(field).toBeFocused();
  await page.keyboard.type('all');
  await expect(field).toHaveValue('Dear all');
});

test("supports Zulip's shortcuts, which can be turned off", async ({ logIn }) => {
  const { page } = await logIn('hamlet', '#inbox');
  const heading = page.getByRole('heading', { level: 1 });
  await page.keyboard.press('t');
  await expect(heading).toHaveText('Recent conversations');
  await page.keyboard.press('a');
  await expect(heading).toHaveText('Combined feed');
  await page.getByRole('article').last().waitFor();
  await page.keyboard.press('k');
  await expect(page.getByRole('listitem').and(page.locator(':focus'))).toBeVisible();
  await page.keyboard.press('/');
  await expect(page.getByRole('combobox', { name: 'Search' }).first()).toBeFocused();
  await page.keyboard.press('t');
  await expect(heading).toHaveText('Combined feed');
  await page.getByRole('combobox', { name: 'Search' }).first().blur();
  await page.keyboard.press('?');
  await expect(page.getByRole('dialog', { name: 'Keyboard shortcuts' })).toBeVisible();
  expect(await violationsIn(page)).toEqual([]);
  await page.getByRole('checkbox', { name: 'Shortcuts of one letter' }).uncheck();
  await page.keyboard.press('Escape');
  await page.keyboard.press('t');
  await expect(heading).toHaveText('Combined feed');
});

test('acts on the focused message', async ({ server, logIn }) => {
  await post(server, 'cordelia', 'keys', 'Message for keys');
  const { page } = await logIn('hamlet', await placeOf(server, 'keys'));
  const heading = page.getByRole('heading', { level: 1 });
  const field = page.getByRole('textbox', { name: 'Message', exact: true });
  const press = (key: string) => page.keyboard.press(key);
  const row = page.getByRole('listitem').filter({ hasText: 'Message for keys' });
  await expect(row).toHaveAccessibleName(/^Cordelia, Lear's daughter, \d.*, Message for keys$/);
  await messageWith(page, 'Message for keys').waitFor();
  await press('ArrowUp');
  await expect(row).toBeFocused();

  await press('+');
  const thumb = row.getByRole('button', { name: /reacted with :\+1:/ });
  await expect(thumb).toHaveAttribute('aria-pressed', 'true');
  await press('=');
  await expect(thumb).toBeHidden();
  await press('Control+s');
  await expect(row.getByRole('img', { name: 'Starred' })).toBeVisible();
  for (const [key, name] of [
    [':', 'Add a reaction'],
    ['V', 'Read receipts'],
    ['u', "Cordelia, Lear's daughter"],
  ] as const) {
    await press(key);
    await expect(page.getByRole('dialog', { name })).toBeVisible();
    await press('Escape');
    await expect(page.getByRole('dialog')).toHaveCount(0);
  }
  await press('i');
  await expect(page.getByRole('menu', { name: 'More actions' })).toBeVisible();
  await press('Escape');
  await press('M');
  await expect
    .poll(async () => {
      const { user_topics: topics } = await server.call('hamlet', 'POST', '/register', {
        fetch_event_types: ['user_topic'],
      });
      return topics.find((each: { topic_name: string }) => each.topic_name === 'keys')?.visibility_policy;
    })
    .toBe(1);
  await row.focus();
  await press('U');
  await expect(page.getByText('New', { exact: true })).toBeVisible();
  await row.focus();
  await press('>');
  await expect(field).toHaveValue(/```quote\nMessage for keys\n```\n$/);
  await field.fill('');
  await row.focus();
  await press('@');
  await expect(field).toHaveValue(
    new RegExp(`^@\\*\\*Cordelia, Lear's daughter\\|${await idOf(server, 'cordelia')}\\*\\* $`),
  );
  await field.fill('');
  await row.focus();
  await press('Enter');
  await expect(field).toBeFocused();
  await row.focus();
  await press('s');
  await expect(heading).toHaveText('Verona');
  await row.focus();
  await press('s');
  await expect(heading).toContainText('keys');
  await row.focus();
  await press('R');
  await expect(heading).toHaveText("Cordelia, Lear's daughter");
  await expect(field).toBeFocused();
});

test('reaches the buttons of a message without a name with the Tab key', async ({ server, logIn }) => {
  await post(server, 'cordelia', 'tab key', 'First of two');
  await post(server, 'cordelia', 'tab key', 'Second of two');
  const { page } = await logIn('hamlet', await placeOf(server, 'tab key'));
  await messageWith(page, 'Second of two').waitFor();
  await page.keyboard.press('ArrowUp');
  await expect(page.getByRole('listitem').filter({ hasText: 'Second of two' })).toBeFocused();
  await page.keyboard.press('Tab');
  const toolbar = messageWith(page, 'Second of two').getByRole('toolbar');
  await expect(toolbar.getByRole('button').first()).toBeFocused();
  await expect(toolbar).toHaveCSS('opacity', '1');
  const more = toolbar.getByRole('button', { name: 'More actions' });
  await more.focus();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('menu')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('menu')).toHaveCount(0);
  await expect(more).toBeFocused();
});

test('returns to the first view with Escape, unless the user chose otherwise', async ({ server, logIn }) => {
  await post(server, 'cordelia', 'escape', 'Read in its topic');
  const set = (settings: Readonly<Record<string, unknown>>) => server.call('hamlet', 'PATCH', '/settings', settings);
  await set({ web_home_view: 'recent' });
  const { page } = await logIn('hamlet', await placeOf(server, 'escape'));
  const message = messageWith(page, 'Read in its topic');
  const row = page.locator('[data-key]').filter({ hasText: 'Read in its topic' });
  await message.waitFor();
  await page.getByRole('textbox', { name: 'Message', exact: true }).focus();
  await page.keyboard.press('Escape');
  await expect(message).toBeVisible();
  await row.focus();
  await page.keyboard.press('i');
  await expect(page.getByRole('menu')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('menu')).toHaveCount(0);
  await expect(message).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page).toHaveURL(/#recent$/);
  await page.goBack();
  await message.waitFor();
  await set({ web_home_view: 'inbox', web_escape_navigates_to_home_view: false });
  await goTo(page, '#settings/preferences');
  const choice = page.getByRole('checkbox', { name: 'Return to the first view with Escape' });
  await expect(choice).not.toBeChecked();
  await goTo(page, await placeOf(server, 'escape'));
  await row.focus();
  await page.keyboard.press('Escape');
  await page.keyboard.press('?');
  await expect(page.getByRole('dialog')).toBeVisible();
  await expect(page).toHaveURL(/escape$/);
  await set({ web_escape_navigates_to_home_view: true });
});

test('edits the last own message, moves it and shows its history', async ({ server, logIn }) => {
  const { page } = await logIn('iago', await placeOf(server, 'own keys'));
  const field = page.getByRole('textbox', { name: 'Message', exact: true });
  await send(page, 'First of my own');
  await messageWith(page, 'First of my own').hover();
  // The message has received its id.
  await messageWith(page, 'First of my own').getByRole('button', { name: 'Edit' }).waitFor();
  await expect(field).toBeFocused();
  await page.keyboard.press('ArrowUp');
  const editor = page.getByRole('textbox', { name: 'Edit message' });
  await expect(editor).toBeFocused();
  await editor.fill('Changed by keys');
  await page.keyboard.press('Control+Enter');
  await expect(messageWith(page, 'Changed by keys')).toContainText('edited');
  const row = page.getByRole('listitem').filter({ hasText: 'Changed by keys' });
  await row.focus();
  await page.keyboard.press('H');
  await expect(page.getByRole('dialog', { name: 'Edit history' })).toBeVisible();
  await page.keyboard.press('Escape');
  await row.focus();
  await page.keyboard.press('m');
  await expect(page.getByRole('dialog', { name: 'Move messages' })).toBeVisible();
  await page.keyboard.press('Escape');
  await row.focus();
  await page.keyboard.press('e');
  await expect(editor).toHaveValue('Changed by keys');
});

test('opens channels, people and new messages with keys', async ({ server, logIn }) => {
  const { page } = await logIn('hamlet', '#feed');
  const heading = page.getByRole('heading', { level: 1 });
  const press = (key: string) => page.keyboard.press(key);
  await page.getByRole('article').last().waitFor();
  await press('c');
  await expect(page.getByRole('dialog', { name: 'Go to…' })).toBeVisible();
  await press('Escape');
  await press('D');
  await expect(heading).not.toHaveText('Combined feed');
  const first = String(await heading.textContent());
  await press('D');
  await expect(heading).not.toHaveText(first);
  await press('A');
  await expect(heading).toHaveText(first);
  await post(server, 'iago', 'a topic', 'A word');
  await goTo(page, await placeOf(server, 'a topic'));
  await expect(heading).toContainText('Verona');
  await messageWith(page, 'A word').waitFor();
  const field = page.getByRole('textbox', { name: 'Message', exact: true });
  const place = page.url();
  await press('c');
  await expect(field).toBeFocused();
  await press('Escape');
  await press('k');
  await expect(page.locator('[data-key]:focus')).toBeVisible();
  await press('c');
  await expect(field).toBeFocused();
  expect(page.url()).toBe(place);
  await press('Escape');
  await goTo(page, (await placeOf(server, 'a topic')).replace(/\/topic.*/, ''));
  await press('c');
  await expect(page.getByRole('combobox', { name: 'Topic' })).toBeFocused();
  await page.getByRole('combobox', { name: 'Topic' }).blur();
  await press('P');
  await expect(heading).toContainText('is:dm');
  await press('x');
  await page.getByRole('dialog', { name: 'New direct message' }).getByRole('combobox').fill('othello');
  await press('Enter');
  await press('Enter');
  await expect(heading).toContainText('Othello');
  await expect(field).toBeFocused();
  await press('Escape');
  await press('c');
  await expect(field).toBeFocused();
  await expect(heading).toContainText('Othello');
  await press('Escape');
  await press('w');
  await expect(page.getByRole('searchbox', { name: 'Search people' })).toBeFocused();
  await page.getByRole('searchbox', { name: 'Search people' }).blur();
  await press('g');
  await expect(page.getByRole('menu', { name: 'Main menu' })).toBeVisible();
});

test('opens settings pages and runs actions by parts of their names', async ({ logIn }) => {
  const { page } = await logIn('iago', '#inbox');
  const field = page.getByRole('combobox', { name: /Name of a conversation/ });
  const choose = async (query: string, name: string) => {
    await page.keyboard.press('Control+k');
    await field.fill(query);
    await expect(page.getByRole('option', { name }).first()).toBeVisible();
    await page.getByRole('option', { name }).first().click();
  };
  await choose('second factors', 'Required for');
  await expect(page.getByRole('combobox', { name: 'Required for' })).toBeInViewport();
  await choose('data exp', 'Data exports');
  await expect(page.getByRole('heading', { level: 2, name: 'Data exports' })).toBeVisible();
  await choose('new channel', 'Create channel');
  await expect(page.getByRole('heading', { level: 2, name: 'Create channel' })).toBeVisible();
  await choose('alert', 'Alert words');
  await expect(page.getByRole('heading', { level: 2, name: 'Alert words' })).toBeVisible();
  await choose('new direct', 'New direct message');
  await expect(page.getByRole('dialog', { name: 'New direct message' })).toBeVisible();
  await page.keyboard.press('Escape');
  await choose('keyboard', 'Keyboard shortcuts');
  await expect(page.getByRole('dialog', { name: 'Keyboard shortcuts' })).toBeVisible();
  await page.keyboard.press('Escape');
  await choose('night', 'Dark theme');
  await expect(page.locator('html')).toHaveAttribute('data-theme', /dark/);
  await choose('logout', 'Log out');
  await expect(page).toHaveURL(/\/login\//);
});

test('returns the focus to the message after a menu, card or dialog opened with a key', async ({ server, logIn }) => {
  for (const text of ['First for focus', 'Last for focus']) await post(server, 'cordelia', 'focus', text);
  const { page } = await logIn('hamlet', await placeOf(server, 'focus'));
  const row = (text: string) => page.getByRole('listitem').filter({ hasText: text });
  await messageWith(page, 'Last for focus').waitFor();
  await page.keyboard.press('ArrowUp');
  await expect(row('Last for focus')).toBeFocused();
  const overlay = page.locator('[role="dialog"], [role="menu"]');
  for (const key of ['i', 'u', 'V', ':']) {
    await page.keyboard.press(key);
    await expect(overlay).toBeVisible();
    await page.keyboard.press('Escape');
    await expect(overlay).toHaveCount(0);
    await expect(row('Last for focus'), key).toBeFocused();
  }
  await page.keyboard.press('i');
  await page.getByRole('menuitem', { name: 'Remind me about this…' }).press('Enter');
  await expect(page.getByRole('dialog')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(row('Last for focus')).toBeFocused();
  await page.keyboard.press('ArrowUp');
  await expect(row('First for focus')).toBeFocused();
});

test('leaves an empty search field with Escape', async ({ logIn }) => {
  const { page } = await logIn('hamlet', '#inbox');
  await page.keyboard.press('/');
  const field = page.getByRole('combobox', { name: 'Search' });
  await expect(field).toBeFocused();
  await expect(page.getByRole('option').first()).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(field).not.toBeFocused();
  await page.keyboard.press('w');
  const people = page.getByRole('searchbox', { name: 'Search people' });
  await expect(people).toBeFocused();
  await people.fill('ha');
  await page.keyboard.press('Escape');
  await expect(people).toHaveValue('');
  await page.keyboard.press('Escape');
  await page.keyboard.press('t');
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Recent conversations');
});

test('moves to the neighbors of a focused message that was deleted', async ({ server, logIn }) => {
  for (const text of ['First', 'Second', 'Third', 'Fourth']) await post(server, 'iago', 'gaps', `${text} with a gap`);
  const { page } = await logIn('iago', await placeOf(server, 'gaps'));
  const row = (text: string) => page.getByRole('listitem').filter({ hasText: `${text} with a gap` });
  for (const [text, key, next] of [
    ['Second', 'ArrowUp', 'First'],
    ['Third', 'ArrowDown', 'Fourth'],
  ] as const) {
    await row(text).focus();
    await page.keyboard.press('i');
    await page.getByRole('menuitem', { name: 'Delete' }).press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).press('Enter');
    await expect(row(text)).toHaveCount(0);
    await expect(page.getByRole('dialog')).toHaveCount(0);
    await page.keyboard.press(key);
    await expect(row(next)).toBeFocused();
  }
});

test('opens the shortcut list at the section in a Zulip help address', async ({ logIn }) => {
  const { page } = await logIn('hamlet', '#message-formatting');
  const dialog = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
  for (const [hash, title] of [
    ['#message-formatting', 'Formatting'],
    ['#search-operators', 'Search'],
    ['#keyboard-shortcuts', 'Navigation'],
  ] as const) {
    // The first one is open already.
    if (title !== 'Formatting') await goTo(page, hash);
    await expect(dialog.getByRole('heading', { name: title, exact: true })).toBeInViewport();
    await page.keyboard.press('Escape');
    await expect(dialog).toHaveCount(0);
  }
  await expect(page).toHaveURL(/#inbox$/);
});

test('goes to the unloaded newest message with End, and continues there', async ({ server, logIn }) => {
  for (let n = 0; n < 160; n++) await post(server, 'iago', 'long way down', `Line ${n} of many`);
  const { page } = await logIn('othello', await placeOf(server, 'long way down'));
  await expect(messageWith(page, 'Line 0 of many')).toBeVisible();
  await page.getByRole('region', { name: 'Messages' }).focus();
  await page.keyboard.press('End');
  await expect(messageWith(page, 'Line 159 of many')).toBeInViewport();
  await expect(page.getByRole('listitem').filter({ hasText: 'Line 159 of many' })).toBeFocused();
  await page.keyboard.press('ArrowUp');
  await expect(page.getByRole('listitem').filter({ hasText: 'Line 158 of many' })).toBeFocused();
});
