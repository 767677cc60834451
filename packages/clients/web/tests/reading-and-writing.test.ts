import { expect, goTo, messageWith, placeOf, post, pressIn, send, test, violationsIn } from './stories.js';

test("leads from the demo's log-in page to a sent message with one click on a name", async ({ browser, server }) => {
  const page = await browser.newPage();
  await expect(async () => {
    await page.goto(server.url);
    await expect(page.getByText('This is a demo.')).toBeVisible({ timeout: 2000 });
  }).toPass();
  await page.getByRole('button', { name: 'Prospero from The Tempest' }).click();
  await page.getByRole('navigation', { name: 'Conversations' }).getByRole('link', { name: 'Rome' }).click();
  await page.getByRole('combobox', { name: 'Topic' }).fill('first steps');
  await send(page, 'A first message');
  await expect(messageWith(page, 'A first message')).toBeVisible();
  await page.close();
});

test('shows a message to another person immediately and counts it as unread until seen', async ({ server, logIn }) => {
  const topic = 'live';
  await post(server, 'cordelia', topic, 'Is anybody here?');
  const place = await placeOf(server, topic);
  const hamlet = await logIn('hamlet', '#inbox');
  await expect(hamlet.page.getByRole('main').getByRole('link', { name: /^live\b/ })).toContainText('1');
  await expect(hamlet.page).toHaveTitle(/^\(\d+\) /);

  const cordelia = await logIn('cordelia', place);
  await send(cordelia.page, 'I am **here** now');
  await expect(messageWith(cordelia.page, 'I am here now').locator('strong', { hasText: 'here' })).toBeVisible();

  await goTo(hamlet.page, place);
  await expect(messageWith(hamlet.page, 'I am here now')).toBeVisible();
  await expect(hamlet.page.getByText('New', { exact: true })).toBeVisible();
  await expect
    .poll(
      async () =>
        (
          await server.call('hamlet', 'GET', '/messages', {
            anchor: 'newest',
            num_before: 1,
            num_after: 0,
            narrow: [{ operator: 'topic', operand: topic }],
          })
        ).messages[0].flags,
    )
    .toContain('read');
});

test('sends a message once despite a reload', async ({ server, logIn }) => {
  const { page } = await logIn('hamlet', await placeOf(server, 'once'));
  await send(page, 'Only once, please');
  await expect(messageWith(page, 'Only once, please')).toHaveCount(1);
  await page.reload();
  await expect(messageWith(page, 'Only once, please')).toHaveCount(1);
  // Messages of a conversation keep their order, so a copy of the first one would be stored before this one.
  await send(page, 'The next one');
  const list = { anchor: 'newest', num_before: 10, num_after: 0, narrow: [{ operator: 'topic', operand: 'once' }] };
  await expect
    .poll(async () => {
      const { messages } = await server.call('hamlet', 'GET', '/messages', list);
      return messages.map(({ content }: { content: string }) => content.replace(/<.*?>/g, ''));
    })
    .toEqual(['Only once, please', 'The next one']);
});

test('shows a message written offline in a conversation that was never loaded', async ({ server, logIn }) => {
  await post(server, 'cordelia', 'never loaded', 'Nobody has opened this yet');
  const { page, context } = await logIn('hamlet', await placeOf(server, 'loaded before'));
  await expect(page.getByRole('textbox', { name: 'Message' })).toBeVisible();
  await context.setOffline(true);
  await goTo(page, await placeOf(server, 'never loaded'));
  await send(page, 'Written in the dark');
  const message = messageWith(page, 'Written in the dark');
  await expect(message).toContainText('Will be sent');
  await expect(page.getByText('Older messages could not be loaded.')).toBeVisible();
  await context.setOffline(false);
  await expect(messageWith(page, 'Nobody has opened this yet')).toBeVisible({ timeout: 60_000 });
  await expect(message).toHaveCount(1);
  await expect(message).not.toContainText('Will be sent', { timeout: 30_000 });
});

test('keeps messages written offline and sends them in order later', async ({ server, logIn }) => {
  const place = await placeOf(server, 'offline');
  const { page, context } = await logIn('hamlet', '#recent');
  const hasCode = () => performance.getEntriesByType('resource').some(({ name }) => name.includes('/web/writing-'));
  await expect.poll(() => page.evaluate(hasCode)).toBe(true);
  await context.setOffline(true);
  await goTo(page, place);
  await expect(page.getByRole('textbox', { name: 'Message' })).toBeVisible();
  await context.setOffline(false);
  // Reopens the conversation.
  await goTo(page, '#recent');
  await goTo(page, place);
  await send(page, 'before');
  await expect(messageWith(page, 'before')).toHaveCount(1);
  await context.setOffline(true);
  await send(page, 'first of two');
  await send(page, 'second of two');
  await expect(messageWith(page, 'second of two')).toContainText('Will be sent');
  await context.setOffline(false);
  await expect(messageWith(page, 'second of two')).not.toContainText('Will be sent', { timeout: 30_000 });
  const sent = async () => {
    const { messages } = await server.call('hamlet', 'GET', '/messages', {
      anchor: 'newest',
      num_before: 10,
      num_after: 0,
      apply_markdown: false,
      narrow: [{ operator: 'topic', operand: 'offline' }],
    });
    return messages.map(({ content }: { content: string }) => content);
  };
  // A row no longer waits as soon as its request has begun.
  await expect.poll(sent).toEqual(['before', 'first of two', 'second of two']);
});

test('keeps the draft of each conversation across pages and reloads', async ({ server, logIn }) => {
  const [one, two] = [await placeOf(server, 'draft-one'), await placeOf(server, 'draft-two')];
  const { page } = await logIn('hamlet', one);
  const field = page.getByRole('textbox', { name: 'Message' });
  await field.fill('unfinished');
  await goTo(page, two);
  await expect(field).toHaveValue('');
  await field.fill('another one');
  await page.goBack();
  await expect(field).toHaveValue('unfinished');
  await page.reload();
  await expect(field).toHaveValue('unfinished');
});

test('shows why a message was rejected and keeps its text', async ({ server, logIn }) => {
  const { stream_id: id } = await server.call('hamlet', 'GET', '/get_stream_id', { stream: 'Verona' });
  const { page } = await logIn('hamlet', `#narrow/channel/${id}/topic/refused`);
  await page.route('**/json/messages', (route) =>
    route.request().method() === 'POST'
      ? route.fulfill({
          status: 400,
          json: { result: 'error', msg: 'Not authorized to send to this channel', code: 'BAD_REQUEST' },
        })
      : route.continue(),
  );
  await send(page, 'Let me in');
  await expect(page.getByRole('alert')).toContainText('Not authorized to send');
  await page.getByRole('alert').getByRole('button', { name: 'Edit' }).click();
  await expect(page.getByRole('textbox', { name: 'Message' })).toHaveValue('Let me in');
});

test('quotes a message with a link to it', async ({ server, logIn }) => {
  await post(server, 'cordelia', 'quotes', 'To be quoted');
  const { page } = await logIn('hamlet', await placeOf(server, 'quotes'));
  await pressIn(messageWith(page, 'To be quoted'), { name: 'Quote' });
  await expect(page.getByRole('textbox', { name: 'Message' })).toHaveValue(
    /^@_\*\*.*\|\d+\*\* \[said\]\(#narrow.*\):\n```quote\nTo be quoted\n```\n$/,
  );
  await page.getByRole('button', { name: 'Preview' }).click();
  await expect(page.getByRole('textbox', { name: 'Message' })).toBeHidden();
  await pressIn(messageWith(page, 'To be quoted').first(), { name: 'Quote' });
  await expect(page.getByRole('textbox', { name: 'Message' })).toHaveValue(/(To be quoted.*){2}/s);
  await page.keyboard.type('An answer');
  await page.keyboard.press('Control+Enter');
  await expect(messageWith(page, 'An answer').locator('blockquote')).toHaveText(['To be quoted', 'To be quoted']);
});

test("quotes and mentions in a message's conversation from a list of several", async ({ server, logIn }) => {
  // The feed opens at the first unread message.
  await server.call('hamlet', 'POST', '/mark_all_as_read');
  await post(server, 'cordelia', 'quotes of the feed', 'Quoted from the feed');
  const { page } = await logIn('hamlet', '#feed');
  const heading = page.getByRole('heading', { level: 1 });
  const field = page.getByRole('textbox', { name: 'Message' });
  await pressIn(messageWith(page, 'Quoted from the feed'), { name: 'Quote' });
  await expect(heading).toContainText('quotes of the feed');
  await expect(field).toBeFocused();
  await expect(field).toHaveValue(/Quoted from the feed/);
});

test('keeps the text of a rejected message edited in a list of several conversations', async ({ server, logIn }) => {
  await server.call('hamlet', 'POST', '/mark_all_as_read');
  const { page } = await logIn('hamlet', await placeOf(server, 'refused in the feed'));
  await page.route('**/json/messages', (route) =>
    route.request().method() === 'POST'
      ? route.fulfill({ status: 400, json: { result: 'error', msg: 'Not now', code: 'BAD_REQUEST' } })
      : route.continue(),
  );
  await send(page, 'Refused and kept');
  await expect(page.getByRole('alert')).toContainText('Not now');
  await goTo(page, '#feed');
  await messageWith(page, 'Refused and kept').getByRole('button', { name: 'Edit' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toContainText('refused in the feed');
  await expect(page.getByRole('textbox', { name: 'Message' })).toHaveValue('Refused and kept');
});

test('opens a link at its old message, and jumps to the newest one', async ({ server, logIn }) => {
  const ids: number[] = [];
  for (let i = 0; i < 80; i++)
    ids.push((await post(server, 'cordelia', 'long', `Line ${i} of many\n\nwith a second paragraph`)).id);
  const { page } = await logIn('hamlet', `${await placeOf(server, 'long')}/near/${ids[10]}`);
  await expect(messageWith(page, 'Line 10 of many')).toBeInViewport();
  await page.getByRole('button', { name: 'Newest message' }).click();
  await expect(messageWith(page, 'Line 79 of many')).toBeInViewport();
});

test('keeps the reading position while older messages load', async ({ server, logIn }) => {
  for (let i = 0; i < 150; i++)
    await post(server, 'cordelia', 'scrolling', `Row ${i} ${'words '.repeat((i * 7) % 40)}`);
  const { page } = await logIn('cordelia', await placeOf(server, 'scrolling'));
  await expect(messageWith(page, 'Row 149')).toBeInViewport();
  const list = page.getByRole('region', { name: 'Messages' });
  await list.hover();
  for (let i = 0; i < 100 && !(await messageWith(page, 'Row 0 ').isVisible()); i++) {
    await page.mouse.wheel(0, -1500);
    await page.waitForTimeout(50);
  }
  await expect(messageWith(page, 'Row 0 ')).toBeVisible();
});

test('continues after the server was killed', async ({ server, logIn }) => {
  const { page } = await logIn('hamlet', await placeOf(server, 'crash'));
  await send(page, 'before the crash');
  await expect(messageWith(page, 'before the crash')).toHaveCount(1);
  await server.crash();
  await send(page, 'after the crash');
  await expect(messageWith(page, 'after the crash')).not.toContainText('Will be sent', { timeout: 30_000 });
  await post(server, 'cordelia', 'crash', 'and an answer');
  await expect(messageWith(page, 'and an answer')).toBeVisible();
  await expect(messageWith(page, 'after the crash')).toHaveCount(1);
});

test('redirects to the log-in page when the session has ended, and back', async ({ logIn }) => {
  const { page, context } = await logIn('hamlet', '#recent');
  await context.clearCookies();
  await page.reload();
  await expect(page).toHaveURL(/\/login\//);
});

test("edits and deletes an own message, and reacts to someone else's message", async ({ server, logIn }) => {
  await post(server, 'cordelia', 'actions', 'React to me');
  const place = await placeOf(server, 'actions');
  const hamlet = await logIn('hamlet', place);
  const cordelia = await logIn('cordelia', place);
  await pressIn(messageWith(hamlet.page, 'React to me'), { name: 'Add a reaction' });
  await hamlet.page.getByRole('option', { name: ':tada:' }).click();
  await expect(
    messageWith(cordelia.page, 'React to me').getByRole('button', { name: /King Hamlet reacted with :tada:/ }),
  ).toBeVisible();

  await send(hamlet.page, 'A tpyo');
  await pressIn(messageWith(hamlet.page, 'A tpyo'), { name: 'Edit' });
  await hamlet.page.getByRole('textbox', { name: 'Edit message' }).fill('A typo, mended');
  await hamlet.page.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(messageWith(cordelia.page, 'A typo, mended')).toContainText('edited');

  await pressIn(messageWith(hamlet.page, 'A typo, mended'), { name: 'More actions' });
  await hamlet.page.getByRole('menuitem', { name: 'Delete' }).click();
  await hamlet.page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await expect(messageWith(hamlet.page, 'A typo, mended')).toHaveCount(0);
  await expect(messageWith(cordelia.page, 'A typo, mended')).toHaveCount(0);
});

test("announces other people's new messages to screen readers, after a typing pause", async ({ server, logIn }) => {
  await post(server, 'hamlet', 'aloud', 'Known before');
  const { page } = await logIn('hamlet', await placeOf(server, 'aloud'));
  await expect(messageWith(page, 'Known before')).toBeVisible();
  // The announcing script must have loaded before the message arrives.
  const said = page.getByRole('main').locator('p[aria-live="polite"]:has(> span)');
  await expect(said).toBeEmpty();
  await post(server, 'iago', 'aloud', 'Read **aloud**');
  await expect(said).toHaveText('Iago: Read aloud');
  await page.getByRole('textbox', { name: 'Message' }).fill('I am writing');
  await post(server, 'iago', 'aloud', 'First');
  await post(server, 'cordelia', 'aloud', 'Second');
  await expect(messageWith(page, 'Second')).toBeVisible();
  await expect(said).toHaveText('Iago: Read aloud');
  await expect(said).toHaveText('2 new messages');
});

test('stars a message, which is marked and listed until the star is removed', async ({ server, logIn }) => {
  await post(server, 'iago', 'stars', 'Worth a star');
  const { page } = await logIn('hamlet', await placeOf(server, 'stars'));
  const message = messageWith(page, 'Worth a star');
  const star = message.getByRole('img', { name: 'Starred' });
  await message.hover();
  await expect(star).toHaveCount(0);
  await message.getByRole('button', { name: 'Star', exact: true }).click();
  await expect(star).toBeVisible();
  await goTo(page, '#narrow/is/starred');
  await expect(star).toBeVisible();
  await pressIn(message, { name: 'Remove star' });
  await expect(star).toHaveCount(0);
});

test('shows the name in place of "/me"', async ({ server, logIn }) => {
  const { page } = await logIn('hamlet', await placeOf(server, 'statuses'));
  await page.getByRole('textbox', { name: 'Message' }).fill('/me **waves** to everybody');
  await page.keyboard.press('Control+Enter');
  const status = messageWith(page, 'waves to everybody');
  await expect(status.locator('strong')).toHaveText('waves');
  await expect(status).not.toContainText('/me');
  const [name, text] = [status.getByRole('button', { name: 'King Hamlet' }), status.locator('strong')];
  const [left, right] = [(await name.boundingBox())!, (await text.boundingBox())!];
  expect(Math.abs(left.y + left.height - right.y - right.height)).toBeLessThan(8);
  expect(right.x).toBeGreaterThan(left.x + left.width);
});

test('suggests search operators, people, channels and topics', async ({ server, logIn }) => {
  await post(server, 'cordelia', 'about plums', 'plums are ripe');
  const { page } = await logIn('hamlet', '#feed');
  const field = page.getByRole('combobox', { name: 'Search' });
  const suggestions = page.locator('search').getByRole('option');
  await field.focus();
  await expect(suggestions).toHaveText([
    /^channel:/,
    /^topic:/,
    /^sender:/,
    /^dm:/,
    /^dm-including:/,
    /^mentions:/,
    /^is:/,
    /^has:/,
    /^before:/,
    /^after:/,
    /^during:/,
  ]);
  await field.pressSequentially('plums from:lear');
  await expect(suggestions).toHaveText([/^Search for “plums from:lear”/, /^sender:.*Messages from Cordelia/]);
  await field.press('ArrowDown');
  await field.press('Enter');
  await expect(field).toHaveValue('plums ');
  await expect(field).toHaveAccessibleDescription(/^sender:"?Cordelia/);
  await field.pressSequentially('channel:ver');
  await suggestions.filter({ hasText: 'channel:Verona' }).click();
  await field.pressSequentially('-topic:ab');
  await expect(suggestions.filter({ hasText: '-topic:"about plums"' })).toContainText('Not: Messages in a topic');
  await field.press('Escape');
  await expect(suggestions).toHaveCount(0);
  for (let i = 0; i < '-topic:ab'.length; i++) await field.press('Backspace');
  await field.press('Enter');
  await expect(suggestions).toHaveCount(0);
  await expect(page.getByRole('article')).toHaveText([/plums are ripe/]);
});

test('finds people, channels, topics and messages in one field, and offers recent searches', async ({
  server,
  logIn,
}) => {
  await post(server, 'cordelia', 'quince jelly', 'The jars of damson jam are in the cellar');
  const { page } = await logIn('hamlet', '#inbox');
  const field = page.getByRole('combobox', { name: 'Search' });
  const suggestions = page.locator('search').getByRole('option');
  const heading = page.getByRole('heading', { level: 1 });
  await field.pressSequentially('cord');
  await expect(suggestions.nth(1)).toHaveText(/^Cordelia.*Direct messages/);
  await field.fill('veron');
  await expect(suggestions.filter({ hasText: /^VeronaChannel/ })).toBeVisible();
  await field.fill('jelly quin');
  await expect(suggestions.nth(1)).toHaveText('quince jelly#Verona');
  await field.press('ArrowDown');
  await field.press('Enter');
  await expect(heading).toContainText('quince jelly');
  await expect(field).toHaveValue('');
  await page.keyboard.press('/');
  await field.press('Backspace');
  await field.fill('damson cel');
  const hit = suggestions.filter({ hasText: 'Cordelia' });
  await expect(hit).toHaveText(/^The jars of damson jam are in the cellar/);
  await expect(hit.locator('mark')).toHaveText('damson');
  expect(await violationsIn(page)).toEqual([]);
  await field.press('ArrowUp');
  await field.press('Enter');
  await expect(messageWith(page, 'damson jam')).toBeVisible();
  await goTo(page, '#feed');
  await field.fill('damson from:cordelia');
  await field.press('Enter');
  await expect(heading).toHaveText('Search: damson');
  await goTo(page, '#feed');
  await field.focus();
  await suggestions.filter({ hasText: 'damson' }).click();
  await expect(heading).toHaveText('Search: damson');
  await goTo(page, '#feed');
  await field.focus();
  await suggestions.filter({ hasText: 'Clear recent searches' }).click();
  await expect(suggestions.first()).toHaveText(/^channel:/);
});

test('adds filters to typed words with the mouse', async ({ server, logIn }) => {
  await post(server, 'cordelia', 'medlars', 'A medlar from Cordelia');
  await post(server, 'iago', 'medlars', 'A medlar from Iago');
  const { page } = await logIn('hamlet', '#inbox');
  const field = page.getByRole('combobox', { name: 'Search' });
  const suggestions = page.locator('search').getByRole('option');
  await field.fill('medlar');
  for (const filter of ['channel:', 'sender:', 'has:', 'during:']) {
    await expect(suggestions.filter({ hasText: new RegExp(`^${filter}`) })).toHaveCount(1);
  }
  await suggestions.filter({ hasText: /^sender:/ }).click();
  await suggestions.filter({ hasText: 'Iago' }).click();
  await suggestions.filter({ hasText: 'Search for' }).click();
  await expect(page.getByRole('article')).toHaveText([/A medlar from Iago/]);
});

test('keeps the chosen suggestion while another one appears above it', async ({ server, logIn }) => {
  await post(server, 'cordelia', 'figs that are fresh', 'From the market');
  const { page } = await logIn('hamlet', '#inbox');
  const suggestions = page.locator('search').getByRole('option');
  const field = page.getByRole('combobox', { name: 'Search' });
  await field.fill('figs');
  await expect(suggestions.nth(1)).toHaveText('figs that are fresh#Verona');
  await field.press('ArrowDown');
  await post(server, 'cordelia', 'figs', 'Better match');
  await expect(suggestions.nth(1)).toHaveText('figs#Verona');
  await field.press('Enter');
  await expect(page.getByRole('heading', { level: 1 })).toContainText('figs that are fresh');
});

test('finds messages by words and operators, and keeps the search text', async ({ server, logIn }) => {
  await post(server, 'cordelia', 'search', 'The marmalade is on the table');
  await post(server, 'iago', 'search', 'No marmalade: https://example.com');
  const { page } = await logIn('hamlet', '#feed');
  const field = page.getByRole('combobox', { name: 'Search' });
  const search = async (text: string) => {
    // Replaces the filters too.
    await field.press('Control+a');
    await page.keyboard.insertText(text);
    await page.keyboard.press('Enter');
  };
  const found = page.getByRole('article');
  await search('marmalade');
  await expect(found).toHaveCount(2);
  await expect(field).toHaveValue('marmalade');
  await search('marmelade');
  await page.getByRole('link', { name: 'Search for “marmalade” instead' }).click();
  await expect(found).toHaveCount(2);
  await search('marmalade from:iago has:link');
  await expect(found).toHaveCount(1);
  await expect(found).toContainText('No marmalade');
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Search: marmalade');
  await page.reload();
  await expect(field).toHaveValue('marmalade');
  await expect(field).toHaveAccessibleDescription('sender:Iago has:link');
  await search('channel:Verona topic:"search" -from:iago');
  await expect(found).toHaveCount(1);
  await expect(found).toContainText('on the table');
  await goTo(page, await placeOf(server, 'search'));
  await expect(field).toHaveValue('');
  await search('from:me');
  await expect(page.getByText('Nothing found')).toBeVisible();
  await expect(field).toHaveAccessibleDescription('channel:Verona topic:search sender:me');

  await search('marmalade from:lear channel:veron');
  await expect(page.getByRole('article')).toHaveText([/on the table/]);
  await search('from:nobody marmalade');
  await expect(page.getByRole('alert')).toHaveText('Nobody is named nobody');
  await expect(field).toHaveValue('from:nobody marmalade');
  await search('channel:v');
  await expect(page.getByRole('alert')).toHaveText('Several channels are named v');
  await field.fill('channel:ve');
  await expect(page.getByRole('alert')).toHaveCount(0);
});
