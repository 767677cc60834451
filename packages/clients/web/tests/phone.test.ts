import type { Page } from '@playwright/test';
import {
  attachedFile,
  drag,
  expect,
  goTo,
  idOf,
  longPress,
  messageWith,
  PHONE,
  placeOf,
  post,
  type Server,
  test,
  untilStored,
  violationsIn,
} from './stories.js';

const listOf = (page: Page) => page.getByRole('region', { name: 'Messages' });
const barOf = (page: Page) => page.getByRole('navigation', { name: 'Views' });
const conversationsIn = (page: Page) => page.getByRole('navigation', { name: 'Conversations' });

async function fill(server: Server, topic: string, count: number): Promise<void> {
  for (let n = 0; n < count; n++) await post(server, 'iago', topic, `Row ${n} of ${topic}`);
}

test('swipes back to the previous page, or to the list of conversations', async ({ server, logIn }) => {
  await fill(server, 'swiped', 3);
  const place = await placeOf(server, 'swiped');
  const { page } = await logIn('hamlet', place, PHONE);
  const row = messageWith(page, 'Row 1 of swiped');
  const lists = conversationsIn(page);
  await expect(barOf(page)).toBeVisible();
  await drag(page, row, { by: [40, 0] });
  await expect(lists).not.toBeVisible();
  await drag(page, row, { by: [150, 10] });
  await expect(lists).toBeVisible();
  await drag(page, lists, { by: [-150, 0] });
  await expect(lists).not.toBeVisible();
  await goTo(page, '#recent');
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Recent conversations');
  await drag(page, page.getByRole('main'), { by: [150, 0] });
  await expect(row).toBeVisible();
});

test("prevents the browser's own swipe where the page has one", async ({ server, logIn }) => {
  await fill(server, 'swiped once', 2);
  const { page } = await logIn('hamlet', await placeOf(server, 'swiped once'), PHONE);
  const row = messageWith(page, 'Row 1 of swiped once');
  await page.evaluate(() => {
    addEventListener('touchmove', ({ defaultPrevented }) => {
      document.documentElement.dataset.prevented = String(defaultPrevented);
    });
  });
  const root = page.locator('html');
  await drag(page, row, { by: [0, 60] });
  await expect(root).toHaveAttribute('data-prevented', 'false');
  await drag(page, row, { by: [150, 0] });
  await expect(root).toHaveAttribute('data-prevented', 'true');
  await expect(conversationsIn(page)).toBeVisible();
});

test('keeps swipes for code that scrolls sideways', async ({ server, logIn }) => {
  await post(server, 'iago', 'wide', `\`\`\`\n${'wide '.repeat(60)}\n\`\`\``);
  const { page } = await logIn('hamlet', await placeOf(server, 'wide'), PHONE);
  const code = listOf(page).locator('pre');
  await expect(barOf(page)).toBeVisible();
  await drag(page, code, { by: [-150, 0] });
  await drag(page, code, { by: [150, 0] });
  await expect(conversationsIn(page)).not.toBeVisible();
});

test('fetches the newest messages of an unsubscribed channel after a pull', async ({ server, logIn }) => {
  await server.call('desdemona', 'POST', '/users/me/subscriptions', { subscriptions: [{ name: 'Pulled' }] });
  const { stream_id: id } = await server.call('desdemona', 'GET', '/get_stream_id', { stream: 'Pulled' });
  const say = (content: string) =>
    server.call('desdemona', 'POST', '/messages', { type: 'channel', to: 'Pulled', topic: 'news', content });
  await say('Before the pull');
  const { page } = await logIn('hamlet', `#narrow/channel/${id}-Pulled/topic/news`, PHONE);
  await expect(messageWith(page, 'Before the pull')).toBeVisible();
  await expect(barOf(page)).toBeVisible();
  await say('After the pull');
  await drag(page, listOf(page), { by: [0, -200] });
  await expect(messageWith(page, 'After the pull')).toBeInViewport({ ratio: 1, timeout: 5000 });
});

test('reconnects immediately after a pull', async ({ logIn }) => {
  const { page, context } = await logIn('hamlet', '#recent', PHONE);
  await expect(barOf(page)).toBeVisible();
  const isOffline = page.getByText('No connection since');
  await page.route('**/json/**', (route) => route.abort());
  await context.setOffline(true);
  await expect(isOffline).toBeVisible();
  await context.setOffline(false);
  await page.waitForTimeout(500);
  await expect(isOffline).toBeVisible();
  await page.unroute('**/json/**');
  await drag(page, page.getByRole('main'), { by: [0, 200] });
  await expect(isOffline).toHaveCount(0, { timeout: 2000 });
});

test('opens the actions of a message on a long press', async ({ server, logIn }) => {
  await fill(server, 'pressed', 2);
  const { page, context } = await logIn('hamlet', await placeOf(server, 'pressed'), PHONE);
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const row = messageWith(page, 'Row 1 of pressed');
  const menu = page.getByRole('menu', { name: 'More actions' });
  await expect(barOf(page)).toBeVisible();
  await drag(page, row, { by: [0, 60], after: menu });
  await expect(menu).toBeVisible();
  await expect(menu.getByRole('menuitem', { name: 'Quote' })).toBeInViewport({ ratio: 1 });
  await menu.getByRole('menuitem', { name: 'Copy text' }).tap();
  await expect(menu).toHaveCount(0);
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe('Row 1 of pressed');
  await longPress(page, row);
  await menu.getByRole('menuitem', { name: 'Add a reaction' }).tap();
  const picker = page.getByRole('dialog', { name: 'Add a reaction' });
  await picker.getByRole('option').first().tap();
  await expect(row.getByRole('button', { name: /1/ })).toBeVisible();
  await drag(page, row, { by: [0, 60] });
  await page.waitForTimeout(700);
  await expect(menu).toHaveCount(0);
});

test('opens the actions of a channel on a long press', async ({ logIn }) => {
  const { page } = await logIn('hamlet', '#inbox', PHONE);
  await barOf(page).getByRole('button', { name: 'Conversations' }).tap();
  await longPress(page, conversationsIn(page).getByRole('link', { name: 'Verona' }).first());
  await expect(page.getByRole('menuitem', { name: 'Copy link to channel' })).toBeVisible();
  await expect(page).toHaveURL(/#inbox$/);
});

test('marks a row of the inbox as read with its button', async ({ server, logIn }) => {
  await post(server, 'iago', 'phone row', 'To read');
  const { page } = await logIn('hamlet', '#inbox', PHONE);
  const row = page.getByRole('main').getByRole('listitem').filter({ hasText: 'phone row' });
  await expect(row).toBeVisible();
  await expect(row.getByRole('button', { name: 'Select' })).not.toBeVisible();
  await row.getByRole('button', { name: 'Mark as read' }).tap();
  await expect(row).toHaveCount(0);
});

test('navigates with the bar at the lower edge', async ({ server, logIn }) => {
  await post(server, 'iago', 'one hand', 'For @**King Hamlet**');
  const { page } = await logIn('hamlet', '#inbox', PHONE);
  const bar = barOf(page);
  const title = page.getByRole('heading', { level: 1 });
  const { y, height } = (await bar.boundingBox())!;
  expect(y + height).toBe(640);
  await bar.getByRole('link', { name: 'Recent conversations' }).tap();
  await expect(title).toHaveText('Recent conversations');
  await bar.getByRole('link', { name: 'Mentions' }).tap();
  await expect(title).toHaveText('Mentions');
  await bar.getByRole('link', { name: 'Inbox' }).tap();
  await expect(title).toHaveText('Inbox');
  await expect(bar.getByRole('link', { name: 'Inbox' })).toHaveAttribute('aria-current', 'page');
  const menu = bar.getByRole('button', { name: 'Conversations' });
  await menu.tap();
  await expect(conversationsIn(page)).toBeInViewport();
  await expect(bar).toBeInViewport({ ratio: 1 });
  await menu.tap();
  await expect(conversationsIn(page)).not.toBeVisible();
  await bar.getByRole('button', { name: 'Search' }).tap();
  await expect(page.getByRole('main').getByRole('combobox')).toBeFocused();
});

test('offers the search once: in the bar, or in a header with room for the field', async ({ logIn }) => {
  const { page } = await logIn('hamlet', '#inbox', PHONE);
  const button = barOf(page).getByRole('button', { name: 'Search' });
  const field = page.getByRole('main').getByRole('combobox', { name: 'Search' });
  await expect(button).toBeVisible();
  const search = page.getByRole('search');
  await expect(search).toHaveCSS('opacity', '0');
  await button.tap();
  await expect(search).toHaveCSS('opacity', '1');
  await expect(field).toBeInViewport({ ratio: 1 });
  await page.setViewportSize({ width: 640, height: 640 });
  await expect(barOf(page)).toBeVisible();
  await expect(button).toBeHidden();
  await expect(search).toHaveCSS('opacity', '1');
});

test('keeps the field above the keyboard', async ({ server, logIn }) => {
  for (let n = 0; n < 20; n++) await post(server, 'hamlet', 'keyboard', `Row ${n} of keyboard`);
  const { page } = await logIn('hamlet', await placeOf(server, 'keyboard'), PHONE);
  await expect(barOf(page)).toBeVisible();
  const field = page.getByRole('textbox', { name: 'Message' });
  await field.tap();
  await page.setViewportSize({ width: 360, height: 360 });
  await expect(barOf(page)).toBeHidden();
  await expect(field).toBeInViewport({ ratio: 1 });
  await expect(messageWith(page, 'Row 19 of')).toBeInViewport({ ratio: 1 });
  await page.setViewportSize({ width: 360, height: 640 });
  await expect(barOf(page)).toBeVisible();
  // Some browsers put the keyboard over the page and shrink only the visible part.
  await page.evaluate(() => {
    Object.defineProperty(VisualViewport.prototype, 'height', { get: () => 360, configurable: true });
    visualViewport!.dispatchEvent(new Event('resize'));
  });
  await expect(barOf(page)).toBeHidden();
  await expect.poll(async () => (await field.boundingBox())!.y).toBeLessThan(340);
});

test('shows the number of unread messages on the icon of the application', async ({ server, logIn }) => {
  await server.call('zoe', 'POST', '/mark_all_as_read');
  const { page, context } = await logIn('zoe', '#inbox', PHONE);
  await context.addInitScript(() => {
    Object.assign(navigator, { setAppBadge: async (count: number) => Object.assign(globalThis, { badge: count }) });
  });
  await page.reload();
  const badge = () => page.evaluate(() => (globalThis as { badge?: number }).badge);
  await expect.poll(badge).toBe(0);
  const to = [await idOf(server, 'zoe')];
  await server.call('iago', 'POST', '/messages', { type: 'direct', to, content: 'For the badge' });
  await expect.poll(badge).toBe(1);
});

test('starts offline with the last conversation, and sends queued messages later', async ({ server, logIn }) => {
  await fill(server, 'without a connection', 3);
  const { page, context } = await logIn('hamlet', await placeOf(server, 'without.20a.20connection'), PHONE);
  await expect(messageWith(page, 'Row 2')).toBeVisible();
  await expect(page.getByRole('textbox', { name: 'Message' })).toBeVisible();
  await untilCached(page);
  await untilStored(page, 'Row 2 of');
  await context.setOffline(true);
  await page.reload();
  await expect(messageWith(page, 'Row 2')).toBeVisible();
  await page.getByRole('textbox', { name: 'Message' }).fill('Written without a connection');
  await page.getByRole('button', { name: 'Send', exact: true }).tap();
  await expect(page.getByText('Will be sent when you are online')).toBeVisible();
  await context.setOffline(false);
  await expect(page.getByText('Will be sent when you are online')).toHaveCount(0);
});

/** Waits until the page and the files that it has loaded are cached. */
async function untilCached(page: Page): Promise<void> {
  const missing = () =>
    page.evaluate(async () => {
      const loaded = performance.getEntriesByType('resource').map(({ name }) => name);
      const files = loaded.filter((name) => /\/web\/[^/]+-[\w-]+\.(js|css|woff2)$/.test(name));
      const [name] = await caches.keys();
      const cache = name === undefined ? null : await caches.open(name);
      const kept = await Promise.all([`${location.origin}/`, ...files].map((each) => cache?.match(each)));
      return kept.filter((each) => !each).length;
    });
  await expect.poll(missing).toBe(0);
}

test('caches the files of a build under the name of its application script', async ({ logIn }) => {
  const { page } = await logIn('hamlet', '#inbox', PHONE);
  await untilCached(page);
  expect(await page.evaluate(() => caches.keys())).toEqual([
    expect.stringMatching(/^parley-app .*\/web\/index-[\w-]+\.js$/),
  ]);
});

test('deletes the cached page on logout', async ({ logIn }) => {
  const { page } = await logIn('hamlet', '#inbox', PHONE);
  await untilCached(page);
  await barOf(page).getByRole('button', { name: 'Conversations' }).tap();
  await page.getByRole('button', { name: 'Main menu' }).tap();
  await page.getByRole('menuitem', { name: 'Log out' }).tap();
  await expect(page).toHaveURL(/\/login\//);
  expect(await page.evaluate(() => caches.keys())).toEqual([]);
});

test('deletes the cached page once the account is deactivated', async ({ server, logIn }) => {
  const email = 'leaver@zulip.com';
  const account = { email, password: `pw-${email}`, full_name: 'Leaver' };
  const { user_id: id } = await server.call('desdemona', 'POST', '/users', account);
  const { page } = await logIn('leaver', '#inbox', PHONE);
  await untilCached(page);
  await server.call('desdemona', 'DELETE', `/users/${id}`);
  await expect.poll(() => page.evaluate(() => caches.keys())).toEqual([]);
});

test('deletes the cached page and messages if the session ended while no page was open', async ({ server, logIn }) => {
  const { page, context } = await logIn('hamlet', '#inbox', PHONE);
  await untilCached(page);
  const stored = () => page.evaluate(async () => [...(await caches.keys()), ...(await indexedDB.databases())]);
  await page.goto(`${server.url}/web/service-worker.js`);
  expect(await stored()).toHaveLength(2);
  await context.clearCookies();
  await page.goto(server.url);
  await expect(page).toHaveURL(/\/login\//);
  await expect.poll(stored).toEqual([]);
});

test('puts text and files shared by another application into a conversation', async ({ logIn }) => {
  const { page } = await logIn('hamlet', '#inbox', PHONE);
  await untilCached(page);
  await page.evaluate(() => {
    const form = Object.assign(document.createElement('form'), { method: 'post', enctype: 'multipart/form-data' });
    form.action = location.pathname;
    const field = (name: string, value: string) =>
      form.append(Object.assign(document.createElement('input'), { name, value }));
    field('title', 'To be');
    field('url', 'https://example.com/or-not');
    const files = new DataTransfer();
    files.items.add(new File(['shared words'], 'words – ä.txt', { type: 'text/plain' }));
    const input = Object.assign(document.createElement('input'), { type: 'file', name: 'files' });
    input.files = files.files;
    form.append(input);
    document.body.append(form);
    form.submit();
  });
  const dialog = page.getByRole('dialog', { name: 'Share in a conversation' });
  await dialog.getByRole('combobox').fill('Othello');
  await dialog.getByRole('option').first().tap();
  const field = page.getByRole('textbox', { name: 'Message' });
  await expect(field).toHaveValue('To be\nhttps://example.com/or-not');
  await expect(attachedFile(page, 'words – ä.txt')).toBeVisible();
  await page.reload();
  await expect(field).toBeVisible();
  await expect(dialog).toHaveCount(0);
});

test.describe('another site', () => {
  test.use({ otherAddresses: ['http://elsewhere.example/'] });

  test('opens no dialog for a form of another site', async ({ logIn }) => {
    const { page } = await logIn('hamlet', '#inbox', PHONE);
    await untilCached(page);
    const address = page.url().split('#')[0]!;
    await page.route('http://elsewhere.example/', (route) =>
      route.fulfill({
        contentType: 'text/html',
        body: `<form method="post" enctype="multipart/form-data" action="${address}"><input name="text" value="bait"><button>Go</button></form>`,
      }),
    );
    await page.goto('http://elsewhere.example/');
    await page.getByRole('button').tap();
    await expect(page).toHaveURL(new RegExp(`^${address}`));
    await expect(page.getByRole('textbox', { name: 'Message' }).or(page.locator('main')).first()).toBeVisible();
    await expect(page.getByRole('dialog')).toHaveCount(0);
    expect(
      await page.evaluate(async () => (await caches.keys()).filter((name) => name.startsWith('parley-shared'))),
    ).toEqual([]);
  });
});

test('uploads a photo from the camera, or files', async ({ server, logIn }) => {
  const { page } = await logIn('hamlet', await placeOf(server, 'photos'), PHONE);
  const attach = async (entry: string) => {
    const chooser = page.waitForEvent('filechooser');
    await page.getByRole('textbox', { name: 'Message', exact: true }).tap();
    await page.getByRole('button', { name: 'Attach files' }).tap();
    await page.getByRole('menuitem', { name: entry }).tap();
    return chooser;
  };
  const camera = await attach('Take a photo');
  expect(await camera.element().getAttribute('capture')).toBe('environment');
  expect(await camera.element().getAttribute('accept')).toBe('image/*');
  await camera.setFiles({ name: 'photo.jpg', mimeType: 'image/jpeg', buffer: Buffer.from('a photo') });
  await expect(attachedFile(page, 'photo.jpg')).toBeVisible();
  const files = await attach('Choose files');
  expect(files.isMultiple()).toBe(true);
});

test('does not interfere with dictated text', async ({ server, logIn }) => {
  const { page, context } = await logIn('hamlet', await placeOf(server, 'dictated'), PHONE);
  const field = page.getByRole('textbox', { name: 'Message' });
  await field.tap();
  const session = await context.newCDPSession(page);
  const hear = (text: string) =>
    session.send('Input.imeSetComposition', { text, selectionStart: text.length, selectionEnd: text.length });
  for (const text of ['to', 'two be', 'to be or', 'to be or not :s', 'to be or not to be']) {
    await hear(text);
    await expect(field).toHaveValue(text);
  }
  await page.keyboard.press('Enter');
  await session.send('Input.insertText', { text: 'to be or not to be' });
  await expect(field).toHaveValue(/^to be or not to be/);
  await expect(messageWith(page, 'to be or not')).toHaveCount(0);
  for (const attribute of ['autocorrect', 'autocapitalize', 'autocomplete', 'spellcheck', 'inputmode']) {
    expect(await field.getAttribute(attribute)).toBeNull();
  }
});

/** Visible touch targets below 44 px. Links within text are exempt. */
const smallTargets = (page: Page): Promise<readonly string[]> =>
  page.evaluate(() => {
    const all = document.querySelectorAll<HTMLElement>(
      'button, a[href], input, textarea, select, summary, [role="option"]',
    );
    return [...all].flatMap((each) => {
      const { width, height, left, top } = each.getBoundingClientRect();
      const isHit = document.elementFromPoint(left + width / 2, top + height / 2);
      const isShown =
        each.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && isHit && each.contains(isHit);
      const isInText = each.matches('p a, article header *, [data-messages] header *');
      if (!isShown || isInText || (Math.round(width) >= 44 && Math.round(height) >= 44)) return [];
      return [`${each.outerHTML.slice(0, 120)}: ${Math.round(width)} × ${Math.round(height)}`];
    });
  });

test('has touch targets of at least 44 px', async ({ server, logIn }) => {
  await post(server, 'iago', 'targets', 'With a reaction and a [file](/user_uploads/1/x.txt)');
  const { page } = await logIn('hamlet', await placeOf(server, 'targets'), PHONE);
  await expect(barOf(page)).toBeVisible();
  await page.getByRole('textbox', { name: 'Message', exact: true }).tap();
  await expect(page.getByRole('button', { name: 'Send', exact: true })).toBeVisible();
  expect.soft(await smallTargets(page), 'conversation').toEqual([]);
  for (const hash of ['#inbox', '#recent', '#drafts', '#settings/profile', '#channels/all']) {
    await goTo(page, hash);
    await page.waitForTimeout(500);
    expect.soft(await smallTargets(page), hash).toEqual([]);
  }
  await barOf(page).getByRole('button', { name: 'Conversations' }).tap();
  await expect(conversationsIn(page)).toBeInViewport();
  await page.waitForTimeout(300);
  expect.soft(await smallTargets(page), 'list of conversations').toEqual([]);
});

test('focuses the search field of “Go to…” when a key opens it, but not after a touch', async ({ logIn }) => {
  const { page } = await logIn('hamlet', '#recent', PHONE);
  const dialog = page.getByRole('dialog', { name: 'Go to…' });
  const field = dialog.getByRole('combobox');
  await page.keyboard.press('Control+k');
  await expect(field).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(dialog).toHaveCount(0);
  await barOf(page).getByRole('button', { name: 'Conversations' }).tap();
  await page.getByRole('button', { name: 'Go to…' }).tap();
  await expect(dialog.getByRole('button', { name: 'Close' })).toBeFocused();
  await expect(field).toBeVisible();
});

test('shows the actions of a message in a sheet with reactions and a reply, and marks the message', async ({
  server,
  logIn,
}) => {
  await post(server, 'cordelia', 'sheet', 'Hold me');
  const { page } = await logIn('hamlet', await placeOf(server, 'sheet'), PHONE);
  const message = messageWith(page, 'Hold me');
  const background = () => message.evaluate((row) => getComputedStyle(row).backgroundColor);
  const before = await background();
  await longPress(page, message);
  const menu = page.getByRole('menu');
  const { x, width, y, height } = (await menu.boundingBox())!;
  expect([x, width, Math.round(y + height)]).toEqual([0, 360, 640]);
  await expect(menu.getByRole('group', { name: 'Reactions' }).getByRole('menuitem')).toHaveCount(6);
  expect(await background()).not.toBe(before);
  expect(await violationsIn(page)).toEqual([]);
  await menu.getByRole('menuitem', { name: ':tada:' }).click();
  await expect(message.getByRole('button', { name: /:tada:/ })).toBeVisible();
  await longPress(page, message);
  await menu.getByRole('menuitem', { name: 'Reply', exact: true }).click();
  await expect(page.getByRole('textbox', { name: 'Message', exact: true })).toBeFocused();
});

test('shows one line for writing until it is touched', async ({ server, logIn }) => {
  await post(server, 'cordelia', 'one line', 'Words');
  const { page } = await logIn('hamlet', await placeOf(server, 'one line'), PHONE);
  const composer = page.locator('form[part="composer"]');
  const field = page.getByRole('textbox', { name: 'Message', exact: true });
  const button = page.getByRole('button', { name: 'Send', exact: true });
  await expect(field).toBeVisible();
  await expect(button).toBeHidden();
  expect((await composer.boundingBox())!.height).toBeLessThan(60);
  await expect(composer.getByText('To:')).toBeHidden();
  await field.tap();
  await expect(button).toBeVisible();
  await field.fill('A text');
  await messageWith(page, 'Words').getByText('Words').tap();
  await button.tap();
  await expect(messageWith(page, 'A text')).toBeVisible();
});
