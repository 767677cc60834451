import { statSync } from 'node:fs';
import { join } from 'node:path';
import { test as base, expect, type Locator, type Page } from '@playwright/test';
import { emailOf, pressIn, test as standalone, startShop, violationsIn } from './stories.js';

interface Shop {
  /** Opens the shop's page with these elements as a customer or anonymously. */
  open(elements: string, customer?: string): Promise<Page>;
  /** Accessibility findings on the page. */
  violations(): Promise<readonly string[]>;
}

const test = base.extend<{ shop: Shop }, { address: string }>({
  address: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright requires a pattern.
    async ({}, use) => {
      const { url, end } = await startShop();
      await use(url);
      await end();
    },
    { scope: 'worker' },
  ],
  shop: async ({ page, address }, use) => {
    const problems: string[] = [];
    page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('request', (request) => request.url().startsWith(address) || problems.push(`request to ${request.url()}`));
    await use({
      async open(elements, customer) {
        if (customer) await page.goto(`${address}/log-in/${customer}`);
        await page.goto(`${address}/?elements=${encodeURIComponent(elements)}`);
        return page;
      },
      async violations() {
        const before = problems.length;
        const violations = await violationsIn(page);
        // axe itself tries inline styles.
        problems.length = before;
        return violations;
      },
    });
    expect(problems).toEqual([]);
  },
});

const ORDER = '<parley-chat channel="orders" topic="Order 7"></parley-chat>';

test("shows one conversation to the host's customer and sends to it", async ({ shop }) => {
  const page = await shop.open(ORDER, 'ann');
  await expect(page.getByText('Your order is on its way.')).toBeVisible();
  const before = page.url();
  await page.evaluate(() => {
    document.addEventListener('parley-sent', (event) => {
      document.title = (event as CustomEvent<{ content: string }>).detail.content;
    });
  });
  await page.getByRole('textbox', { name: /Message/ }).fill('Thank you, *Ben*');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await expect(page.getByRole('article').filter({ hasText: 'Thank you, Ben' })).toBeVisible();
  await expect(page).toHaveTitle('Thank you, *Ben*');
  expect(page.url()).toBe(before);
  expect(await shop.violations()).toEqual([]);
});

test("shows the host's card of an order below its message", async ({ shop }) => {
  const page = await shop.open('', 'ann');
  await page.evaluate((order) => {
    document.addEventListener('parley-data', ({ target, detail }: CustomEventInit & Event) => {
      const { slot, data } = detail as { slot: string; data: { orderId: number; total: string; state: string } };
      const card = document.createElement('article');
      card.slot = slot;
      card.setAttribute('aria-label', `Order ${data.orderId}`);
      card.textContent = `${data.total}, ${data.state}`;
      (target as Element).append(card);
    });
    document.body.insertAdjacentHTML('beforeend', order);
  }, ORDER);
  const message = page.getByRole('article').filter({ hasText: 'Your order is on its way.' });
  await expect(message).toBeVisible();
  const card = page.getByRole('article', { name: 'Order 7' });
  await expect(card).toHaveText('12.50 €, shipped');
  const [around, inside] = [await message.boundingBox(), await card.boundingBox()];
  expect(inside!.y).toBeGreaterThan(around!.y);
  expect(inside!.y + inside!.height).toBeLessThanOrEqual(around!.y + around!.height);
  expect(await shop.violations()).toEqual([]);
});

test("shows the host's cards of the channel and of senders, which follow changes", async ({ shop }) => {
  const page = await shop.open('', 'ann');
  await page.evaluate(
    (order) => {
      document.addEventListener('parley-data', ({ target, detail }: CustomEventInit & Event) => {
        const { slot, data } = detail as { slot: string; data: { desk?: string; carrier?: string } };
        if (slot.startsWith('message')) return;
        const found = document.querySelector(`[slot="${slot}"]`);
        const card = found ?? (target as Element).appendChild(document.createElement('output'));
        card.slot = slot;
        card.textContent = data.carrier ?? data.desk ?? '';
      });
      document.body.insertAdjacentHTML('beforeend', order);
    },
    ORDER.replace('<parley-chat', '<parley-chat data="channel user"'),
  );
  const message = page.getByRole('article').filter({ hasText: 'Your order is on its way.' });
  const [carrier, desk] = [page.getByText('Post', { exact: true }), page.getByText('desk of ben')];
  await expect(carrier).toBeVisible();
  await expect(desk).toBeVisible();
  const places = [carrier, message, message.getByRole('button', { name: 'Ben' }).first(), desk];
  const [above, row, name, beside] = await Promise.all(places.map(async (it) => (await it.boundingBox())!));
  expect(above!.y + above!.height).toBeLessThanOrEqual(row!.y);
  expect(beside!.x).toBeGreaterThan(name!.x + name!.width);
  expect(Math.abs(beside!.y - name!.y)).toBeLessThan(8);
  expect(await shop.violations()).toEqual([]);
  const setCarrier = async (data: object) => {
    const ben = await (await page.context().browser()!.newContext()).newPage();
    const address = new URL(page.url()).origin;
    await ben.goto(`${address}/log-in/ben`);
    await ben.evaluate(async (json) => {
      const list = await (await fetch('/chat/api/v1/streams')).json();
      const { stream_id } = list.streams.find((stream: { name: string }) => stream.name === 'orders');
      const body = new URLSearchParams({ object_type: 'channel', object_id: stream_id, data: json });
      await fetch('/chat/api/v1/application_data', { method: 'PATCH', body });
    }, JSON.stringify(data));
    await ben.context().close();
  };
  await setCarrier({ carrier: 'Pigeon' });
  await expect(page.getByText('Pigeon')).toBeVisible();
  await setCarrier({});
  await expect(page.getByText('Pigeon')).toBeHidden();
  await setCarrier({ carrier: 'Post' });
  await expect(carrier).toBeVisible();
  await page.locator('parley-chat').evaluate((element) => element.removeAttribute('data'));
  await expect(carrier).toBeHidden();
  await expect(desk).toBeHidden();
  await expect(message).toBeVisible();
});

const askQuestion = async (page: Page, text: string) => {
  await page.getByRole('textbox', { name: /Message/ }).fill(text);
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await expect(page.getByRole('article').filter({ hasText: text })).toBeVisible();
};

for (const customer of ['eve', 'ann']) {
  test(`gives the conversation of a visitor from before the log-in to ${customer}`, async ({ shop, page }) => {
    const element = '<parley-chat visitor="/visit"></parley-chat>';
    await shop.open(element);
    await askQuestion(page, 'Do you ship to Elsinore?');
    await expect(page.getByText('Your order is on its way.')).toHaveCount(0);
    const cookies = await page.context().cookies();
    expect(cookies.find(({ name }) => name === 'visitor')).toMatchObject({ httpOnly: true });
    // The cookie finds the visitor again.
    await page.reload();
    await expect(page.getByText('Do you ship to Elsinore?')).toBeVisible();
    // Leaves the visitor's page: the log-in ends its poll with 401, which would be an error on the console.
    await shop.open('');
    await shop.open(element, customer);
    await expect(page.getByText('Do you ship to Elsinore?')).toBeVisible();
    await askQuestion(page, 'It is me');
    expect((await page.context().cookies()).map(({ name }) => name)).not.toContain('visitor');
  });
}

test('acts with the token of its attribute, requests another one when it is revoked, and keeps it out of addresses', async ({
  page,
  address,
}) => {
  const addresses: string[] = [];
  page.on('request', (request) => addresses.push(request.url()));
  // Rejected requests are errors on the console, which the fixture `shop` forbids.
  await page.goto(address);
  const tokenOf = async () => (await page.request.get(`${address}/token?customer=ann`)).json();
  const [first, second] = [await tokenOf(), await tokenOf()];
  await page.evaluate(
    ({ order, token, next }) => {
      document.body.insertAdjacentHTML('beforeend', order);
      const element = document.querySelector('parley-chat')!;
      element.setAttribute('token', token);
      document.addEventListener('parley-token', () => {
        document.title = 'requested';
        element.setAttribute('token', next);
      });
    },
    { order: ORDER.replace('<parley-chat', '<parley-chat token=""'), token: first.token, next: second.token },
  );
  await expect(page.getByText('Your order is on its way.')).toBeVisible();
  await askQuestion(page, 'With the first token');
  await page.request.get(`${address}/revoke?customer=ann&id=${first.id}`);
  await askQuestion(page, 'With the second token');
  await expect(page).toHaveTitle('requested');
  expect(addresses.filter((one) => one.includes('parley_'))).toEqual([]);
  expect((await page.context().cookies()).length).toBe(0);
});

test('sends with Enter where the host says so, and names the key', async ({ shop }) => {
  const page = await shop.open(ORDER, 'ann');
  const field = page.getByRole('textbox', { name: /Message/ });
  await expect(field).toHaveAccessibleDescription('Ctrl+Enter sends');
  await expect(page.getByText('Ctrl+Enter sends')).toBeVisible();
  await page.locator('parley-chat').evaluate((element) => element.setAttribute('sends', 'enter'));
  await expect(page.getByText('Enter sends', { exact: true })).toBeVisible();
  await field.fill('Two');
  await field.press('Shift+Enter');
  await page.keyboard.type('lines');
  await expect(field).toHaveValue('Two\nlines');
  await field.press('Enter');
  await expect(page.getByRole('article').filter({ hasText: 'Two' })).toContainText('lines');
  await expect(field).toHaveValue('');
});

test('loads at most 320 KB of scripts and styles for a conversation', async ({ page, shop }) => {
  const files = new Set<string>();
  page.on('request', (request) => {
    const [, name] = /\/web\/([\w-]+\.(?:js|css))$/.exec(request.url()) ?? [];
    if (name !== undefined) files.add(name);
  });
  await shop.open(ORDER, 'ann');
  await expect(page.getByText('Your order is on its way.')).toBeVisible();
  await expect(page.getByRole('textbox', { name: /Message/ })).toBeVisible();
  const folder = join(import.meta.dirname, '../dist/app/web');
  const bytes = [...files].reduce((sum, name) => sum + statSync(join(folder, `${name}.gz`)).size, 0);
  expect(bytes).toBeGreaterThan(100_000);
  expect(bytes).toBeLessThan(320_000);
});

test('keeps typed letters from shortcuts of the page, which get combinations, Escape and keys outside of fields', async ({
  shop,
}) => {
  const page = await shop.open(ORDER, 'ann');
  await page.evaluate(() => {
    const search = document.body.appendChild(document.createElement('input'));
    document.addEventListener('keydown', (event) => {
      search.value += `${event.key} `;
      if (event.key !== '/' || /INPUT|TEXTAREA/.test((event.target as Element).tagName)) return;
      event.preventDefault();
      search.focus();
    });
  });
  const field = page.getByRole('textbox', { name: /Message/ });
  await field.click();
  await page.keyboard.type('and/or');
  await expect(field).toHaveValue('and/or');
  await expect(field).toBeFocused();
  const search = page.locator('body > input');
  await expect(search).toHaveValue('');
  await page.keyboard.press('Control+k');
  await page.keyboard.press('Escape');
  await expect(search).toHaveValue('Control k Escape ');
  await page.getByRole('button', { name: 'Send', exact: true }).focus();
  await page.keyboard.press('/');
  await expect(search).toBeFocused();
});

test("draws emoji with the chat's fonts", async ({ shop }) => {
  const page = await shop.open(ORDER, 'ann');
  await page.getByRole('textbox', { name: /Message/ }).fill('Great :tada:');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await expect(page.getByRole('img', { name: 'tada' })).toHaveCSS('font-family', /^"Parley Noto Emoji"/);
  const loaded = () =>
    page.evaluate(() => [...document.fonts].filter(({ status }) => status === 'loaded').map(({ family }) => family));
  await expect.poll(loaded).toContain('Parley Noto Emoji');
  await expect(page.locator('parley-chat [data-parley]').first()).toHaveAttribute('data-emojiset', 'google');
});

test('neither takes over the styles of the page nor changes them', async ({ shop }) => {
  const page = await shop.open(`<p id="own">Own</p>${ORDER}`, 'ann');
  const text = page.getByText('Your order is on its way.');
  await expect(text).toBeVisible();
  const styleOf = (element: Element) => {
    const { letterSpacing, fontFamily } = getComputedStyle(element);
    return `${letterSpacing} ${fontFamily.split(',')[0]}`;
  };
  expect(await text.evaluate(styleOf)).toBe('normal system-ui');
  expect(await page.locator('#own').evaluate(styleOf)).toBe('1px serif');
});

test("navigates the whole chat without changing the page's address", async ({ shop }) => {
  const page = await shop.open('<parley-chat></parley-chat>', 'ann');
  const before = page.url();
  await page.setViewportSize({ width: 1200, height: 700 });
  await page.getByRole('navigation', { name: 'Conversations' }).getByRole('link', { name: 'orders' }).click();
  await expect(page.getByText('Your order is on its way.')).toBeVisible();
  await expect(page.getByRole('heading', { level: 1, name: 'orders' })).toBeVisible();
  await page.getByRole('navigation').getByRole('link', { name: 'Order 8' }).click();
  await expect(page.getByText('Another order')).toBeVisible();
  await expect(page.getByText('Your order is on its way.')).toHaveCount(0);
  expect(page.url()).toBe(before);
});

test('opens menus and dialogs within the element', async ({ shop }) => {
  const page = await shop.open(ORDER, 'ann');
  const message = page.getByRole('article').filter({ hasText: 'on its way' });
  await pressIn(message, { name: 'More actions' });
  const menu = page.getByRole('menu');
  await expect(menu).toBeVisible();
  expect(await menu.evaluate((element) => (element.getRootNode() as ShadowRoot).host.localName)).toBe('parley-chat');
  await page.keyboard.press('Escape');
  await expect(menu).toHaveCount(0);
});

test('opens dialogs within the element, which trap and restore the focus', async ({ shop }) => {
  const page = await shop.open(ORDER, 'ann');
  const name = page.getByRole('article').getByRole('button', { name: 'Ben' }).first();
  await name.click();
  const card = page.getByRole('dialog');
  await expect(card).toBeVisible();
  expect(await card.evaluate((element) => (element.getRootNode() as ShadowRoot).host.localName)).toBe('parley-chat');
  await page.keyboard.press('Tab');
  await expect(card.locator(':focus')).toHaveCount(1);
  await page.keyboard.press('Escape');
  await expect(card).toHaveCount(0);
  await expect(name).toBeFocused();
});

test('ends its poll and listeners when removed, and restarts when added again', async ({ shop }) => {
  const page = await shop.open(ORDER, 'ann');
  await expect(page.getByText('Your order is on its way.')).toBeVisible();
  const isEnded = page.waitForEvent('requestfailed', (request) => request.url().includes('/events'));
  const element = await page.locator('parley-chat').elementHandle();
  await element!.evaluate((each) => each.remove());
  await isEnded;
  await element!.evaluate((each) => document.querySelector('main')!.append(each));
  await page.getByRole('textbox', { name: /Message/ }).fill('Back again');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await expect(page.getByRole('article').filter({ hasText: 'Back again' })).toHaveCount(1);
  await expect(page.getByRole('article').filter({ hasText: 'Back again' })).not.toContainText('Will be sent');
});

test('opens a panel from a button that it may cover, and closes it with a button or Escape', async ({ shop }) => {
  const page = await shop.open('<parley-chat view="button" channel="orders" topic="Order 8"></parley-chat>', 'ann');
  await page.locator('parley-chat').evaluate((element: HTMLElement) => {
    Object.assign(element.style, { position: 'fixed', right: '16px', bottom: '16px' });
  });
  const button = page.getByRole('button', { name: 'Chat' });
  await button.click();
  await page.getByRole('dialog', { name: 'Chat' }).getByRole('button', { name: 'Close' }).click();
  await expect(page.getByRole('dialog', { name: 'Chat' })).toHaveCount(0);
  await expect(button).toBeFocused();
  await button.click();
  const panel = page.getByRole('dialog', { name: 'Chat' });
  await expect(panel.getByText('Another order')).toBeVisible();
  await expect(panel.getByRole('heading', { name: 'orders Order 8' })).toBeVisible();
  await panel.getByRole('textbox').press('Escape');
  await expect(panel).toHaveCount(0);
  await expect(button).toBeFocused();
});

test('reports unread messages to the host and lets it open links itself', async ({ shop }) => {
  const page = await shop.open('<output></output><parley-chat view="list"></parley-chat>', 'ann');
  await page.evaluate(() => {
    document.addEventListener('parley-open', (event) => {
      event.preventDefault();
      document.querySelector('output')!.textContent = (event as CustomEvent<{ address: string }>).detail.address;
    });
    document.addEventListener('parley-unread', (event) => {
      document.title = `${(event as CustomEvent<{ count: number }>).detail.count} unread`;
    });
  });
  const bottom = (element: Element) => element.getBoundingClientRect().bottom;
  expect(await page.getByRole('navigation', { name: 'Conversations' }).evaluate(bottom)).toBe(
    await page.locator('parley-chat').evaluate(bottom),
  );
  // Loaded last.
  await expect(page.getByRole('searchbox', { name: 'Filter conversations' })).toBeVisible();
  await page.getByRole('link', { name: 'orders' }).click();
  await expect(page.locator('output')).toHaveText(/^#narrow\/channel\/\d+-orders$/);
  const other = await (await page.context().browser()!.newContext()).newPage();
  await other.goto(page.url().replace(/\/\?.*/, '/log-in/ben'));
  await other.goto(page.url().replace(/elements=.*/, `elements=${encodeURIComponent(ORDER)}`));
  await other.getByRole('textbox', { name: /Message/ }).fill('Any news?');
  await other.getByRole('button', { name: 'Send', exact: true }).click();
  await expect(page).toHaveTitle(/^\d+ unread$/);
});

test('follows attribute changes and reports missing conversations', async ({ shop }) => {
  const page = await shop.open('<parley-chat channel="nowhere"></parley-chat>', 'ann');
  await expect(page.getByText('There is no such conversation.')).toBeVisible();
  await page.locator('parley-chat').evaluate((element) => {
    element.setAttribute('channel', 'orders');
    element.setAttribute('topic', 'Order 8');
    element.setAttribute('lang', 'de');
  });
  await expect(page.getByText('Another order')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Senden', exact: true })).toBeVisible();
});

test('reports clicks on people to the host, which can handle them itself', async ({ shop }) => {
  const page = await shop.open(ORDER, 'ann');
  const name = page.getByRole('article').getByRole('button', { name: 'Ben' }).first();
  await name.click();
  await expect(page.getByRole('dialog')).toBeVisible();
  await page.keyboard.press('Escape');
  await page.evaluate(() => {
    document.querySelector('parley-chat')!.addEventListener('parley-person', (event) => {
      event.preventDefault();
      document.title = `Person ${(event as CustomEvent<{ userId: number }>).detail.userId}`;
    });
  });
  await name.click();
  await expect(page).toHaveTitle(/^Person \d+$/);
  await expect(page.getByRole('dialog')).toHaveCount(0);
});

test('lets the page style named parts and set custom properties, and contains its own styles', async ({ shop }) => {
  const page = await shop.open(ORDER, 'ann');
  await page.evaluate(() => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(`
      parley-chat { --parley-background: rgb(1, 2, 3); }
      parley-chat::part(sender) { text-transform: uppercase; }
      button { border: 9px solid red; }
    `);
    document.adoptedStyleSheets.push(sheet);
  });
  const sender = page.getByRole('article').getByRole('button', { name: 'Ben' }).first();
  const styleOf = (element: Element, property: string) => getComputedStyle(element).getPropertyValue(property);
  expect(await sender.evaluate(styleOf, 'text-transform')).toBe('uppercase');
  expect(await sender.evaluate(styleOf, 'border-top-width')).toBe('0px');
  expect(await page.locator('[data-parley]').evaluate(styleOf, 'background-color')).toBe('rgb(1, 2, 3)');
});

test('shows high contrast by theme and by reader preference, without axe findings', async ({ shop }) => {
  const page = await shop.open(ORDER.replace('<parley-chat', '<parley-chat theme="dark high-contrast"'), 'ann');
  await expect(page.getByText('Your order is on its way.')).toBeVisible();
  const background = () =>
    page.locator('[data-parley]').evaluate((element) => getComputedStyle(element).backgroundColor);
  await expect.poll(background).toBe('rgb(0, 0, 0)');
  expect(await shop.violations()).toEqual([]);
  await page.locator('parley-chat').evaluate((element) => element.setAttribute('theme', 'dark'));
  await expect.poll(background).toBe('rgb(27, 29, 34)');
  await page.emulateMedia({ contrast: 'more' });
  await expect.poll(background).toBe('rgb(0, 0, 0)');
});

/** Adds a style sheet to the page. */
const style = (page: Page, css: string) =>
  page.evaluate((text) => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(text);
    document.adoptedStyleSheets.push(sheet);
  }, css);

test('is as dark as the page around it', async ({ shop }) => {
  const page = await shop.open(ORDER, 'ann');
  await page.emulateMedia({ colorScheme: 'dark' });
  const background = () =>
    page.locator('[data-parley]').evaluate((element) => getComputedStyle(element).backgroundColor);
  await expect.poll(background).toBe('rgb(255, 255, 255)');
  await page.emulateMedia({ colorScheme: 'light' });
  await style(page, 'html { color-scheme: dark }');
  await expect.poll(background).toBe('rgb(27, 29, 34)');
  await page.locator('parley-chat').evaluate((element) => element.setAttribute('theme', 'light'));
  await expect.poll(background).toBe('rgb(255, 255, 255)');
});

test('keeps its sizes and letters in a page with a small root font and rules for all elements', async ({ shop }) => {
  const page = await shop.open(ORDER, 'ann');
  await style(
    page,
    `html { font-size: 62.5% }
    * { margin: 7px !important; font-size: 10px !important; letter-spacing: 4px !important }
    div, p { display: inline !important }`,
  );
  // The size is measured when the element is added.
  await page.locator('parley-chat').evaluate((chat) => chat.parentElement!.append(chat));
  const text = page.getByText('Your order is on its way.');
  await expect(text).toHaveCSS('font-size', '15px');
  await expect(text).toHaveCSS('letter-spacing', 'normal');
  await expect(text).toHaveCSS('display', 'block');
  await expect(page.getByRole('textbox', { name: /Message/ })).toHaveCSS('font-size', '15px');
});

for (const [what, css, width, height] of [
  ['a flexible row', 'main { display: flex }', 320, 480],
  ['a narrow flexible row', 'main { display: flex; width: 400px } h1 { flex: none; width: 200px }', 200, 480],
  ['a float', 'parley-chat { float: left }', 320, 480],
  ['a reset of all styles', '* { all: unset }', 1280, 480],
  ['a reset that keeps displays', '* { all: unset; display: revert }', 1280, 480],
  ['a height without a measure', 'parley-chat { width: 300px; height: 100% }', 300, 480],
  ['a low box', 'parley-chat { width: 300px; height: 200px }', 300, 200],
  [
    'a flexible column',
    'main { display: flex; flex-direction: column; width: 300px; height: 600px } h1 { flex: 0 0 100px; margin: 0 } parley-chat { flex: 1 }',
    300,
    500,
  ],
] as const) {
  test(`has a size in ${what}`, async ({ shop }) => {
    const page = await shop.open(ORDER, 'ann');
    await style(page, css);
    const box = page.locator('parley-chat [data-parley]');
    await expect(page.getByText('Your order is on its way.')).toBeVisible();
    await expect.poll(() => box.boundingBox()).toMatchObject({ width, height });
    await expect(page.getByRole('article').last()).toBeInViewport({ ratio: height > 200 ? 0.9 : 0.1 });
    await expect(page.getByRole('textbox', { name: /Message/ })).toBeInViewport({ ratio: 1 });
  });
}

test('keeps cards, pickers and dialogs within a drawer that the page slides in', async ({ shop }) => {
  const page = await shop.open(ORDER, 'ann');
  await style(
    page,
    `main { position: fixed; inset: 0 0 0 auto; width: 280px; overflow: hidden; transform: translateX(0) }
    parley-chat { height: 100% }`,
  );
  const name = page.getByRole('article').getByRole('button', { name: 'Ben' }).first();
  await expect(name).toBeInViewport({ ratio: 1 });
  const isWithin = async (popup: Locator) => {
    await expect(popup).toBeInViewport({ ratio: 1 });
    await expect.poll(async () => (await popup.boundingBox())!.x).toBeGreaterThanOrEqual(1000);
    await page.keyboard.press('Escape');
    await expect(popup).toHaveCount(0);
  };
  await name.click();
  await isWithin(page.getByRole('dialog'));
  await page.getByRole('button', { name: 'Insert emoji' }).click();
  await isWithin(page.getByRole('dialog'));
  await page.getByText('Your order is on its way.').hover();
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: 'Remind me about this…' }).click();
  await isWithin(page.getByRole('dialog', { name: /Remind me/ }));
});

test('names the conversation above the field only after the reader has left that of the attributes', async ({
  shop,
}) => {
  const page = await shop.open(ORDER, 'ann');
  const field = page.getByRole('textbox', { name: /Message/ });
  await field.fill('See #**orders>Order 8**');
  await expect(page.getByText('To:')).toHaveCount(0);
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await page
    .getByRole('link', { name: /Order 8/ })
    .last()
    .click();
  await expect(page.getByText('Another order')).toBeVisible();
  await expect(page.getByText('To:')).toContainText('Order 8');
});

test('offers files, emoji and sending with simple tools', async ({ shop }) => {
  const page = await shop.open(ORDER.replace('<parley-chat', '<parley-chat tools="simple"'), 'ann');
  const composer = page.locator('[part="composer"]');
  await expect(composer.getByRole('button')).toHaveCount(3);
  for (const name of ['Attach files', 'Insert emoji', 'Send']) {
    await expect(composer.getByRole('button', { name, exact: true })).toBeVisible();
  }
  await page.getByText('Your order is on its way.').hover();
  const actions = page.getByRole('toolbar', { name: 'Message actions' });
  await expect(actions.getByRole('button', { name: 'More actions' })).toBeVisible();
  await expect(actions.getByRole('button')).toHaveCount(2);
  expect(await shop.violations()).toEqual([]);
  await page.locator('parley-chat').evaluate((element) => element.removeAttribute('tools'));
  await expect(composer.getByRole('button', { name: 'Bold' })).toBeVisible();
});

test('names an unknown view in the element and on the console', async ({ page, address }) => {
  const mistake = 'view must be one of chat, conversation, list, button, not "buton".';
  const errors: string[] = [];
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  await page.goto(`${address}/log-in/ann`);
  await page.goto(`${address}/?elements=${encodeURIComponent('<parley-chat view="buton"></parley-chat>')}`);
  await expect(page.getByText(mistake)).toBeVisible();
  expect(errors).toEqual([`<parley-chat>: ${mistake}`]);
});

test('names a wrong address of visitors on the console, and shows the chat of the log-in', async ({
  page,
  address,
}) => {
  const errors: string[] = [];
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  await page.goto(`${address}/log-in/ann`);
  const element = ORDER.replace('<parley-chat', '<parley-chat visitor="https://elsewhere.example/visit"');
  await page.goto(`${address}/?elements=${encodeURIComponent(element)}`);
  await expect(page.getByText('Your order is on its way.')).toBeVisible();
  expect(errors).toEqual([expect.stringContaining('The address of `visitor` belongs to another origin.')]);
});

standalone(
  'shows the chat of a Parley session without a prompt of the browser for a password',
  async ({ page, server }) => {
    const challenges: string[] = [];
    page.on('response', async (response) => {
      if (response.headers()['www-authenticate']?.startsWith('Basic')) challenges.push(response.url());
    });
    const shop = `${server.url}/shop`;
    const body = `<script type="module" src="/web/element.js"></script>
    <parley-chat channel="Verona" topic="Balcony"></parley-chat>`;
    await page.route(shop, (route) => route.fulfill({ contentType: 'text/html', body }));
    await page.goto(shop);
    await page.getByRole('link', { name: 'Log in' }).click();
    await page.getByLabel('Email address').fill(emailOf('hamlet'));
    await page.getByLabel('Password').fill(`pw-${emailOf('hamlet')}`);
    await page.getByRole('button', { name: 'Log in', exact: true }).click();
    await page.waitForURL(shop);
    // Playwright serves the page to a navigation, but not to a redirect.
    await page.goto(shop);
    await expect(page.getByRole('textbox', { name: /Message/ })).toBeVisible();
    expect(challenges).toEqual([]);
  },
);

test('accepts texts, date formats, link targets and the address mode from the host', async ({ shop }) => {
  const page = await shop.open(
    `<parley-chat lang="de" dates="en-GB-u-hc-h23" links="_self" address="page" channel="orders" topic="Own texts"></parley-chat>`,
    'ann',
  );
  const own = page.getByRole('article').filter({ hasText: 'See the shop' });
  await page.getByRole('textbox').fill('See [the shop](https://shop.example/)');
  await page.getByRole('button', { name: 'Senden', exact: true }).click();
  await expect(own.getByRole('link', { name: 'the shop' })).toHaveAttribute('target', '_self');
  await expect(own.locator('time').first()).toHaveText(/^\d\d:\d\d$/);
  await page.locator('parley-chat').evaluate((element) => {
    (element as unknown as { texts: object }).texts = { Send: 'Ab damit' };
  });
  await expect(page.getByRole('button', { name: 'Ab damit' })).toBeVisible();
  const before = new URL(page.url()).hash;
  await own.locator('time').first().click();
  await expect(page).toHaveURL(/#narrow\/channel\/\d+-orders\/topic\/Own\.20texts\/near\/\d+$/);
  await page.goBack();
  await expect.poll(() => new URL(page.url()).hash).toBe(before);
  await expect(own).toBeVisible();
});

test('takes over texts that the page set before the script was loaded', async ({ shop, page }) => {
  await page.addInitScript(() => {
    document.addEventListener('readystatechange', () => {
      const chat = document.querySelector('parley-chat') as { texts?: object } | null;
      if (document.readyState === 'interactive' && chat) chat.texts = { 'Write a message': 'Ask us anything' };
    });
  });
  await shop.open(ORDER, 'ann');
  await expect(page.getByPlaceholder('Ask us anything')).toBeVisible();
});

test('keeps the focus in the field after suggestions, buttons, files and sending', async ({ shop }) => {
  const page = await shop.open('<parley-chat channel="orders" topic="Writing"></parley-chat>', 'ann');
  const field = page.getByRole('textbox', { name: /Message/ });
  await field.click();
  await page.keyboard.type('Dear @be');
  await expect(page.getByRole('option')).toHaveText(['Ben']);
  await page.keyboard.press('Enter');
  await page.keyboard.type('and ');
  await page.getByRole('button', { name: 'Bold' }).click();
  await page.keyboard.type('all');
  await expect(field).toHaveValue('Dear @**Ben** and **all**');
  await page
    .locator('input[type=file]')
    .setInputFiles({ name: 'order.txt', mimeType: 'text/plain', buffer: Buffer.from('x') });
  await expect(page.getByRole('button', { name: 'Move order.txt into the text' })).toBeVisible();
  await page.keyboard.type('!');
  await expect(field).toHaveValue('Dear @**Ben** and **all!**');
  await page.keyboard.press('Control+Enter');
  await expect(page.getByRole('article').filter({ hasText: 'Dear @Ben and all' })).toBeVisible();
  await page.keyboard.type('Next');
  await expect(field).toHaveValue('Next');
});

test("shows the host's language even if the reader chose another one in the application", async ({ shop }) => {
  const page = await shop.open('', 'ann');
  await page.evaluate(() => localStorage.setItem('parley-language', 'en'));
  await shop.open('<parley-chat lang="de" channel="orders" topic="Order 7"></parley-chat>');
  await expect(page.getByText('Your order is on its way.')).toBeVisible();
  await expect(page.getByText('Das ist der Anfang.')).toBeVisible();
});

test("shows dates in the browser's format if the host specifies no valid language", async ({ shop }) => {
  const page = await shop.open('<parley-chat dates="de_DE" channel="orders" topic="Order 7"></parley-chat>', 'ann');
  await expect(page.getByText('Your order is on its way.')).toBeVisible();
});

test('shows the chat once the host has logged a user in without reloading its page', async ({ page, address }) => {
  const element = '<parley-chat channel="orders" topic="Order 7"></parley-chat>';
  await page.goto(`${address}/?elements=${encodeURIComponent(element)}`);
  await expect(page.getByRole('link', { name: 'Log in' })).toBeVisible();
  await page.evaluate(() => fetch('/log-in/ann'));
  await page.locator('parley-chat').evaluate((chat) => chat.parentElement!.append(chat));
  await expect(page.getByText('Your order is on its way.')).toBeVisible();
});

for (const kind of ['element', 'application'] as const) {
  test(`sends nothing from the ${kind} of a customer on behalf of another customer who logged in in the same browser`, async ({
    page,
    address,
  }) => {
    const place = `${address}/?elements=${encodeURIComponent(ORDER)}`;
    await page.goto(`${address}/log-in/ann`);
    await page.goto(kind === 'element' ? place : `${address}/chat/#narrow/dm/`);
    if (kind === 'application') {
      await page.getByRole('navigation', { name: 'Conversations' }).getByRole('link', { name: 'orders' }).click();
      await page.getByRole('navigation').getByRole('link', { name: 'Order 7' }).click();
    }
    const message = page.getByRole('article').filter({ hasText: 'Your order is on its way.' });
    await expect(message).toBeVisible();
    const other = await page.context().newPage();
    await other.goto(`${address}/log-in/ben`);
    await other.goto(place);
    await expect(other.getByText('Your order is on its way.')).toBeVisible();
    await page.bringToFront();
    const words = `Written by Ann in the ${kind}`;
    await page.getByRole('textbox', { name: /Message/ }).fill(words);
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await expect(page.getByRole('alert')).toContainText('Your session has ended.');
    await expect(page.getByRole('article').filter({ hasText: words })).toContainText('Will be sent');
    await other.reload();
    await expect(other.getByText('Your order is on its way.')).toBeVisible();
    await expect(other.getByText(words)).toHaveCount(0);
    await page.goto(`${address}/log-in/ann`);
    await page.goto(place);
    await expect(page.getByRole('article').filter({ hasText: 'Your order is on its way.' })).toBeVisible();
  });
}

test('shows the chat of the current customer when it is added again', async ({ page, address }) => {
  await page.goto(`${address}/log-in/ann`);
  await page.goto(`${address}/?elements=${encodeURIComponent(ORDER)}`);
  await expect(page.getByText('Your order is on its way.')).toBeVisible();
  const field = page.getByRole('textbox', { name: /Message/ });
  await field.evaluate((own) => own.setAttribute('data-of-ann', ''));
  await page.evaluate(() => fetch('/log-in/ben'));
  await page.locator('parley-chat').evaluate((chat) => {
    const parent = chat.parentElement!;
    chat.remove();
    parent.append(chat);
  });
  const other = field.and(page.locator(':not([data-of-ann])'));
  await other.fill('Written by Ben');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await expect(page.getByRole('article').filter({ hasText: 'Written by Ben' })).toHaveCount(1);
  const senderOf = (text: string) =>
    page.evaluate(async (content) => {
      const response = await fetch('/chat/api/v1/messages?anchor=newest&num_before=9&num_after=0&apply_markdown=false');
      const { messages } = await response.json();
      return messages.find((message: { content: string }) => message.content === content)?.sender_full_name;
    }, text);
  await expect.poll(() => senderOf('Written by Ben')).toBe('Ben');
  await expect(page.getByRole('alert')).toHaveCount(0);
});

test("redirects through the host's log-in page to a linked place, and back after the session ends", async ({
  page,
  address,
}) => {
  const logIn = async () => {
    await page.getByRole('link', { name: 'Log in with localhost' }).click();
    await page.getByRole('link', { name: 'I am Ann' }).click();
  };
  await page.goto(`${address}/log-in/ann`);
  await page.goto(`${address}/chat/`);
  const link = page.getByRole('main').getByRole('link', { name: /Order 7/ });
  const place = (await link.getAttribute('href'))!;
  await page.context().clearCookies();
  await page.goto(`${address}/chat/?new${place}`);
  await logIn();
  await expect(page.getByText('Your order is on its way.')).toBeVisible();
  await page.context().clearCookies();
  await page.getByRole('textbox', { name: /Message/ }).fill('Written after the end');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await expect(page.getByRole('alert')).toContainText('Your session has ended.');
  await page.getByRole('navigation').getByRole('link', { name: 'Order 8' }).click();
  await expect(page.getByRole('alert').getByRole('link')).toHaveAttribute('href', /Order\.208/);
  await page.getByRole('alert').getByRole('link', { name: 'Log in' }).click();
  await logIn();
  await expect(page.getByText('Another order')).toBeVisible();
  await page.getByRole('navigation').getByRole('link', { name: 'Order 7' }).click();
  await expect(page.getByRole('article').filter({ hasText: 'Written after the end' })).toHaveCount(1);
  await expect(page.getByText('Will be sent')).toHaveCount(0);
});

test("leads from the element through the host's log-in page back to its page", async ({ page, address }) => {
  const place = `${address}/?elements=${encodeURIComponent(ORDER)}`;
  await page.goto(place);
  await page.getByRole('link', { name: 'Log in' }).click();
  await page.getByRole('link', { name: 'Log in with localhost' }).click();
  await page.getByRole('link', { name: 'I am Ann' }).click();
  await expect(page.getByText('Your order is on its way.')).toBeVisible();
  expect(page.url()).toBe(place);
});

test('leaves logout to the host', async ({ page, address }) => {
  await page.goto(`${address}/log-in/ann`);
  await page.goto(`${address}/chat/`);
  await page.getByRole('button', { name: 'Main menu' }).click();
  await expect(page.getByRole('menuitem', { name: 'Settings', exact: true })).toBeVisible();
  await expect(page.getByRole('menuitem', { name: 'Log out' })).toHaveCount(0);
});
