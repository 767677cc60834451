import { check, open, placesOf } from './places.js';
import { expect, messageWith, placeOf, post, test } from './stories.js';

test('fits names of 100 characters and a word of 10,000 characters', async ({ logIn, server }) => {
  const name = 'Bartholomew'.repeat(10).slice(0, 100);
  await server.call('iago', 'POST', '/bots', { full_name: name, short_name: 'long-name', bot_type: 1 });
  await post(server, 'iago', 'long words', `w${'o'.repeat(9990)}rd`);
  const { page } = await logIn('desdemona', await placeOf(server, 'long words'));
  await expect(messageWith(page, 'ooooo')).toBeVisible();
  for (const width of [320, 1440]) {
    await page.setViewportSize({ width, height: 800 });
    await open(page, await placeOf(server, 'long words'));
    await check(page, `long word ${width}`);
    await open(page, '#organization/bots');
    await expect(page.getByText(name).first()).toBeAttached();
    await check(page, `long name ${width}`);
  }
});

test('shows five hundred reactions to a message', async ({ logIn, server }) => {
  const { id } = await post(server, 'iago', 'many reactions', 'What do you think?');
  const { server_emoji_data_url: url } = await server.call('iago', 'POST', '/register', {
    fetch_event_types: ['realm'],
  });
  const data = (await (await fetch(new URL(url, server.url))).json()) as {
    readonly code_to_names: Readonly<Record<string, readonly string[]>>;
  };
  // A message has at most a hundred different ones. axe treats older characters, such as ™, as text.
  const emoji = Object.entries(data.code_to_names)
    .filter(([code]) => Number.parseInt(code, 16) > 0x1f000)
    .slice(0, 100);
  for (const person of ['iago', 'hamlet', 'cordelia', 'othello', 'desdemona']) {
    await Promise.all(
      emoji.map(([code, [name]]) =>
        server.call(person, 'POST', `/messages/${id}/reactions`, {
          ...{ emoji_name: name, emoji_code: code, reaction_type: 'unicode_emoji' },
        }),
      ),
    );
  }
  const { page } = await logIn('hamlet', await placeOf(server, 'many reactions'));
  const reactions = messageWith(page, 'What do you think?').locator('button[aria-pressed]').filter({ hasText: '5' });
  await expect(reactions).toHaveCount(100);
  await page.setViewportSize({ width: 320, height: 800 });
  await check(page, 'many reactions 320', { axe: null });
});

test('gives each paragraph the direction of its language', async ({ logIn, server }) => {
  await post(server, 'iago', 'directions', 'An English line.\n\nשורה בעברית.\n\n```\ncode();\n```');
  const { page } = await logIn('hamlet', await placeOf(server, 'directions'));
  const message = messageWith(page, 'An English line.');
  const directionOf = (text: string) =>
    message.getByText(text).evaluate((element) => {
      // The point ends the sentence: on the left in the other direction.
      const { firstChild: part, textContent } = element;
      const leftOf = (index: number) => {
        const range = document.createRange();
        range.setStart(part!, index);
        range.setEnd(part!, index + 1);
        return range.getBoundingClientRect().left;
      };
      return leftOf(textContent.trim().length - 1) < leftOf(0) ? 'rtl' : 'ltr';
    });
  expect(await directionOf('An English line.')).toBe('ltr');
  expect(await directionOf('שורה בעברית.')).toBe('rtl');
  const field = page.getByRole('textbox', { name: 'Message', exact: true });
  await expect(field).toHaveCSS('direction', 'ltr');
  await field.fill('שורה');
  await expect(field).toHaveCSS('direction', 'rtl');
  await field.fill('');
});

test('stays at the end when a thousand events arrive together', async ({ logIn, server }) => {
  const { page, context } = await logIn('hamlet', await placeOf(server, 'a thousand'));
  await expect(page.getByText('There are no messages here yet.')).toBeVisible();
  await context.setOffline(true);
  for (let from = 0; from < 1000; from += 50) {
    const numbers = Array.from({ length: 50 }, (_, n) => from + n);
    await Promise.all(numbers.map((n) => post(server, 'iago', 'a thousand', `Event ${n} of many`)));
  }
  await post(server, 'iago', 'a thousand', 'The very last event');
  await context.setOffline(false);
  await expect(messageWith(page, 'The very last event')).toBeInViewport({ timeout: 60_000 });
  await page.getByRole('region', { name: 'Messages' }).focus();
  await page.keyboard.press('Home');
  await expect(messageWith(page, 'Event 0 of many')).toBeInViewport();
});

const ATTACKS = [
  '<img src="https://attacker.example/x" onerror="window.attacked = 1">',
  '"><svg onload="window.attacked = 1">',
  "'); window.attacked = 1; ('",
  '[link](javascript:window.attacked=1)',
  '</title><script>window.attacked = 1</script>',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of an attack
  '\u202e\u2066${window.attacked = 1}{{constructor.constructor("window.attacked = 1")()}}',
  '$$\\href{javascript:window.attacked=1}{x}\\htmlStyle{color:red}{y}$$',
];

test('shows attacks in messages, topics and names as plain text', async ({ logIn, server }) => {
  for (const [index, attack] of ATTACKS.entries()) {
    await post(server, 'iago', `attack ${index} ${attack}`.slice(0, 60), `Attack ${index}: ${attack}`);
    await post(server, 'iago', 'attacks', `/poll ${attack}\n${attack}`);
    await post(server, 'iago', 'attacks', `\`\`\`${attack.replaceAll('\n', '')}\n${attack}\n\`\`\`\n> ${attack}`);
  }
  await server.call('iago', 'POST', '/users/me/subscriptions', {
    subscriptions: [{ name: '"><svg onload="window.attacked=1">', description: ATTACKS[0] }],
    announce: false,
  });
  await server.call('iago', 'POST', '/users/me/status', { status_text: '<img src=x onerror=attacked=1>' });
  const { page } = await logIn('iago', '#feed');
  for (const place of ['#feed', '#inbox', '#recent', '#channels/all']) {
    await open(page, place);
    expect(await page.evaluate(() => (window as unknown as { attacked?: number }).attacked)).toBeUndefined();
  }
  await open(page, await placeOf(server, 'attacks'));
  await expect(page.getByRole('article').last()).toBeVisible();
  expect(await page.evaluate(() => (window as unknown as { attacked?: number }).attacked)).toBeUndefined();
});

test('accepts attacks in every text field as plain text', async ({ logIn, server }) => {
  test.slow();
  const { page } = await logIn('desdemona', '#inbox');
  for (const [name, place] of Object.entries(await placesOf(server))) {
    await open(page, place);
    const fields = page.locator('main :is(input[type=text], input[type=search], input:not([type]), textarea):enabled');
    for (const field of await fields.all()) {
      if (!(await field.isVisible())) continue;
      await field.fill(ATTACKS.slice(0, 3).join(' '));
      await field.press('ArrowDown');
      await field.fill('');
    }
    await expect(page.getByText('This page could not be shown.'), name).toHaveCount(0);
    expect(await page.evaluate(() => (window as unknown as { attacked?: number }).attacked), name).toBeUndefined();
  }
  await page.keyboard.press('Control+k');
  const palette = page.getByRole('combobox', { name: /Name of a conversation/ });
  for (const attack of ATTACKS) await palette.fill(attack);
  expect(await page.evaluate(() => (window as unknown as { attacked?: number }).attacked)).toBeUndefined();
});

test('shows more than 50,000 unread messages as "50,000+"', async ({ logIn, server }) => {
  const { page } = await logIn('cordelia');
  const { stream_id } = await server.call('cordelia', 'GET', '/get_stream_id', { stream: 'Verona' });
  await page.route('**/json/register', async (route) => {
    const response = await route.fetch();
    const body = await response.json();
    const unread_message_ids = Array.from({ length: 50_000 }, (_, n) => n + 1);
    body.unread_msgs.streams = [{ stream_id, topic: 'many unread', unread_message_ids }];
    body.unread_msgs.old_unreads_missing = true;
    await route.fulfill({ response, json: body });
  });
  // Without the state stored in the browser.
  await page.evaluate(async () => {
    for (const { name } of await indexedDB.databases()) indexedDB.deleteDatabase(name!);
  });
  await page.reload();
  const sidebar = page.getByRole('navigation', { name: 'Conversations' });
  await expect(sidebar.getByRole('link', { name: /^Inbox/ })).toContainText('50,000+');
});
