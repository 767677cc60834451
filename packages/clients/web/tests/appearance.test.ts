import { TEXT_LANGUAGES } from '@parley/domain/kernel';
import type { BrowserContextOptions, Locator, Page } from '@playwright/test';
import { compiled } from '../src/app/english.js';
import { check, open, placesOf } from './places.js';
import { expect, goTo, idOf, messageWith, openPhone, placeOf, post, test, violationsIn } from './stories.js';

/** Languages with long words, other scripts and another direction; all of them in `npm run endurance`. */
const LANGUAGES = process.env.HOSTILE_LOAD === 'long' ? TEXT_LANGUAGES : (['ar', 'de', 'ja', 'uk'] as const);

const NAMES = [
  ...['inbox', 'feed', 'channel', 'channels', 'new channel', 'channel settings', 'subscribers', 'settings preferences'],
  ...['settings notifications', 'organization users', 'organization organization-settings', 'unknown'],
];

async function checkAll(page: Page, places: Readonly<Record<string, string>>, as: string): Promise<void> {
  for (const name of NAMES) {
    await open(page, places[name]!);
    await check(page, `${name} ${as}`, { axe: null });
  }
}

test('stays fully readable with text of twice the size', async ({ logIn, server }) => {
  const { page } = await logIn('hamlet', '#inbox');
  for (const width of [1280, 640]) {
    await page.setViewportSize({ width, height: 800 });
    await page.evaluate(() => document.documentElement.style.setProperty('font-size', '200%'));
    await checkAll(page, await placesOf(server), `large text ${width}`);
  }
});

test('stays usable at 400 % zoom', async ({ logIn, server }) => {
  const { page } = await logIn('hamlet', '#inbox');
  // A window of 1280 × 1024 pixels at 400 % zoom.
  await page.setViewportSize({ width: 320, height: 256 });
  await checkAll(page, await placesOf(server), 'zoomed');
  await post(server, 'hamlet', 'four times', 'Read at four times the zoom');
  await open(page, await placeOf(server, 'four times'));
  await expect(page.getByText('Read at four times the zoom')).toBeInViewport();
  const field = page.getByRole('textbox', { name: 'Message' });
  await field.fill('Written at four times the zoom');
  await expect(field).toBeInViewport();
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await expect(page.getByText('Written at four times the zoom')).toBeInViewport();
});

test('disables animations if the user prefers reduced motion', async ({ logIn }) => {
  const { page } = await logIn('hamlet', '#inbox');
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.setViewportSize({ width: 390, height: 800 });
  const moving = () =>
    page.evaluate(() => document.getAnimations().filter(({ playState }) => playState === 'running').length);
  await page.getByRole('button', { name: 'Conversations' }).click();
  expect(await moving()).toBe(0);
  await page.keyboard.press('Control+k');
  await expect(page.getByRole('dialog')).toBeVisible();
  expect(await moving()).toBe(0);
});

test('marks the open conversation and pressed buttons in high contrast', async ({ logIn, server }) => {
  const { page } = await logIn('hamlet', await placeOf(server, 'high contrast'));
  await page.emulateMedia({ forcedColors: 'active' });
  const entry = page.locator('[part="sidebar"] [aria-current]');
  await expect(entry).toHaveCSS('outline-style', 'solid');
  const follow = page.getByRole('main').getByRole('button', { name: 'Follow topic' });
  await expect(follow).toHaveCSS('outline-style', 'none');
  await follow.click();
  await expect(follow).toHaveCSS('outline-style', 'solid');
});

test('prints the messages in light colors without the navigation', async ({ logIn, server }) => {
  const texts = Array.from({ length: 12 }, (_, index) => `Page ${index}\n\n${'line\n'.repeat(6)}`);
  for (const text of texts) await post(server, 'hamlet', 'on paper', text);
  const { page } = await logIn('iago', await placeOf(server, 'on paper'));
  await expect(messageWith(page, 'Page 0')).toBeAttached();
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
  await expect(page.locator('[part="sidebar"]')).toBeHidden();
  await expect(page.locator('form[part="composer"]')).toBeHidden();
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  await expect(messageWith(page, 'Page 0')).toHaveCSS('color', 'rgb(29, 33, 41)');
  const boxes = await page.getByRole('article').evaluateAll((rows) => rows.map((row) => row.getBoundingClientRect()));
  expect(boxes.length).toBeGreaterThan(3);
  for (const [index, { top }] of boxes.entries()) {
    if (index > 0) expect(top).toBeGreaterThanOrEqual(Math.floor(boxes[index - 1]!.bottom));
  }
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  expect(height).toBeGreaterThanOrEqual(Math.floor(boxes.at(-1)!.bottom));
});

/** Logs in with changed English texts in place of the German catalogs, which contain all ids. Plurals stay German. */
async function logInTranslated(
  logIn: (person: string, hash: string, options: BrowserContextOptions) => Promise<{ readonly page: Page }>,
  change: (text: string) => string,
): Promise<Page> {
  const { page } = await logIn('hamlet', '#inbox', { locale: 'de' });
  await page.route(/\/web\/de-[\w-]+\.js$/, async (route) => {
    const response = await route.fetch();
    const body = (await response.text()).replace(
      /export\s*\{(\w+) as messages\}/,
      (exported, name: string) => `
        const compiled = ${compiled};
        const change = (part) => (typeof part === 'string' ? (${change})(part) : part);
        for (const id in ${name}) ${name}[id] = (id.includes(', plural,') ? ${name}[id] : compiled(id)).map(change);
        ${exported}`,
    );
    await route.fulfill({ response, body });
  });
  await page.reload();
  return page;
}

test('has room for languages with longer words', async ({ logIn, server }) => {
  const page = await logInTranslated(logIn, (text) =>
    text.replace(/\p{L}{3,}/gu, (word) => word + word.slice(0, Math.ceil(word.length / 2))),
  );
  await expect(page.getByRole('link', { name: /InboxInb/ })).toBeVisible();
  for (const width of [1280, 320]) {
    await page.setViewportSize({ width, height: 800 });
    await checkAll(page, await placesOf(server), `long words ${width}`);
  }
});

for (const language of LANGUAGES.filter((name) => name !== 'en')) {
  test(`has room for the texts in ${language} on a narrow phone`, async ({ logIn, server }) => {
    const [locale] = Intl.getCanonicalLocales(language);
    const { page } = await logIn('hamlet', '#inbox', { locale: locale!, viewport: { width: 320, height: 800 } });
    await expect(page.locator('html')).toHaveAttribute('lang', language);
    await expect(page.locator('html')).toHaveAttribute('dir', /^(ar|fa|he)$/.test(language) ? 'rtl' : 'ltr');
    await checkAll(page, await placesOf(server), language);
  });
}

test('cuts long names at their own end in right-to-left pages', async ({ logIn, server }) => {
  const name = `Bartholomew ${'Featherstonehaugh '.repeat(3)}`.trim();
  const id = await idOf(server, 'aaron');
  const { full_name: before } = await server.call('aaron', 'GET', '/users/me');
  await server.call('desdemona', 'PATCH', `/users/${id}`, { full_name: name });
  const { page } = await logIn('desdemona', '#organization/users', {
    locale: 'ar',
    viewport: { width: 390, height: 800 },
  });
  /** Distance of the first letter from the start of its box, and from the picture before it. */
  const expectStart = async (text: Locator) => {
    await expect(text).toBeVisible();
    const { start, gap } = await text.evaluate((element) => {
      const range = document.createRange();
      range.setStart(element.firstChild!, 0);
      range.setEnd(element.firstChild!, 1);
      const box = element.getBoundingClientRect();
      const picture = element.closest('button, [role="option"]')!.firstElementChild!.getBoundingClientRect();
      return { start: range.getBoundingClientRect().left - box.left, gap: picture.left - box.right };
    });
    expect(start).toBeGreaterThanOrEqual(-1);
    expect(gap).toBeLessThan(16);
  };
  await expectStart(page.getByRole('main').locator('td').getByText(name, { exact: true }));
  await goTo(page, await placeOf(server, 'long names'));
  await page.locator('form[part="composer"] textarea').pressSequentially('@Barth');
  await expectStart(page.getByRole('option').getByText(name, { exact: true }));
  await page.setViewportSize({ width: 1440, height: 800 });
  await page.getByRole('button', { name: 'الأشخاص', exact: true }).click();
  await expectStart(page.getByRole('complementary').getByText(name, { exact: true }));
  await server.call('desdemona', 'PATCH', `/users/${id}`, { full_name: before });
});

/** Placeholders of visible fields that are longer than their field. */
const cutPlaceholders = (page: Page) =>
  page.locator('input[placeholder], textarea[placeholder]').evaluateAll((fields) =>
    (fields as HTMLInputElement[]).flatMap((field) => {
      const { font, paddingLeft, paddingRight, textIndent } = getComputedStyle(field);
      // An icon replaces the text that is moved away.
      const isShown =
        field.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && textIndent === '0px';
      const pen = document.createElement('canvas').getContext('2d')!;
      pen.font = font;
      const room = field.clientWidth - Number.parseFloat(paddingLeft) - Number.parseFloat(paddingRight);
      const { width } = pen.measureText(field.placeholder);
      return isShown && field.value === '' && width > room ? [`${field.placeholder}: ${width} in ${room}`] : [];
    }),
  );

test('shows every filter of the inbox and of recent conversations, and whole placeholders, in each language', async ({
  logIn,
  server,
}) => {
  await post(server, 'hamlet', 'poll with quite a long name of its own', '/poll Lunch?\nSoup');
  for (const language of LANGUAGES) {
    const [locale] = Intl.getCanonicalLocales(language);
    const { page, context } = await logIn('hamlet', '#inbox', {
      locale: locale!,
      viewport: { width: 360, height: 800 },
    });
    for (const place of ['#inbox', '#recent']) {
      await goTo(page, place);
      const filters = page.locator('main label:has([type="radio"])');
      await expect(filters.first()).toBeVisible();
      for (const filter of await filters.all()) await expect(filter).toBeInViewport({ ratio: 1 });
    }
    await goTo(page, await placeOf(server, 'poll with quite a long name of its own'));
    await expect(page.locator('main fieldset input')).toBeVisible();
    expect(await cutPlaceholders(page), language).toEqual([]);
    await page.setViewportSize({ width: 768, height: 800 });
    expect(await cutPlaceholders(page), language).toEqual([]);
    await page.setViewportSize({ width: 1280, height: 800 });
    await goTo(page, '#settings/preferences');
    await expect(page.locator('main nav input')).toBeVisible();
    expect(await cutPlaceholders(page), language).toEqual([]);
    await context.close();
  }
});

test('shows the full search placeholder, or an icon if there is no room', async ({ logIn, server }) => {
  const { page } = await logIn('hamlet', await placeOf(server, 'a conversation with quite a long name to show'));
  const field = page.getByRole('combobox', { name: 'Search' });
  const icon = page.locator('header search input ~ svg');
  for (const width of [1280, 700, 481, 320]) {
    await page.setViewportSize({ width, height: 800 });
    expect(await cutPlaceholders(page), `${width}`).toEqual([]);
    if (await icon.isVisible()) expect((await field.boundingBox())!.width).toBeGreaterThanOrEqual(44);
  }
  await expect(icon).toBeVisible();
  await field.focus();
  await expect(icon).toBeHidden();
  expect((await field.boundingBox())!.width).toBeGreaterThan(120);
});

test('supports right-to-left layout', async ({ logIn, server }) => {
  const page = await logInTranslated(logIn, (text) =>
    text.replace(/\p{L}{2,}/gu, (word) => 'אבגדהוזחטי'.repeat(3).slice(0, word.length)),
  );
  await expect(page.locator('html')).toHaveAttribute('dir', 'ltr');
  await page.evaluate(() => document.documentElement.setAttribute('dir', 'rtl'));
  const nav = page.getByRole('navigation').first();
  const { x } = (await nav.boundingBox())!;
  expect(x).toBeGreaterThan(640);
  const transformOf = (icon: string) =>
    page
      .locator(icon)
      .first()
      .evaluate((element) => getComputedStyle(element).transform);
  await open(page, await placeOf(server, 'right to left'));
  expect(await transformOf('h1 .lucide-chevron-right')).toBe('matrix(-1, 0, 0, 1, 0, 0)');
  await nav.locator('summary').first().click();
  expect(await transformOf('details:not([open]) summary svg')).toBe('matrix(0, 1, -1, 0, 0, 0)');
  await nav.locator('summary').first().click();
  for (const name of NAMES) {
    await open(page, (await placesOf(server))[name]!);
    await check(page, `${name} right to left`, { axe: null });
    const before = await page.evaluate(
      () =>
        [...document.querySelectorAll('main, aside')].filter((part) => {
          const { left, width } = part.getBoundingClientRect();
          return width > 0 && left < -1;
        }).length,
    );
    expect.soft(before, name).toBe(0);
  }
  expect(await violationsIn(page)).toEqual([]);
});

test('has finger-sized controls on touch screens', async ({ browser, logIn, server }) => {
  const { context } = await logIn('hamlet');
  await server.call('hamlet', 'POST', '/users/me/alert_words', { alert_words: ['finger'] });
  await server.call('hamlet', 'POST', '/drafts', {
    drafts: [{ type: 'private', to: [], topic: '', content: 'With a finger' }],
  });
  const page = await openPhone(browser, context);
  await page.goto(server.url);
  // Excludes inline links, and avatars next to a name with the same action.
  const small = () =>
    page.evaluate(() => {
      const controls = 'button, select, summary, a[href], input:not([type="checkbox"], [type="radio"]), textarea';
      return [...document.querySelectorAll<HTMLElement>(controls)]
        .filter((element) => element.checkVisibility() && !element.closest('article, p, [aria-hidden]'))
        .map((element) => ({ element, box: element.getBoundingClientRect() }))
        .filter(
          ({ box }) => box.width > 2 && box.left >= 0 && box.bottom > 0 && (box.height < 43.5 || box.width < 43.5),
        )
        .map(({ element, box }) => `${element.outerHTML.slice(0, 120)} ${box.width}x${box.height}`);
    });
  const places = await placesOf(server);
  const names = [...NAMES, 'recent', 'drafts', 'scheduled', 'groups', 'group', 'group members', 'settings profile'];
  for (const name of [...names, 'settings sessions', 'settings your-bots', 'organization emoji-settings']) {
    await open(page, places[name]!);
    expect.soft(await small(), name).toEqual([]);
  }
  await open(page, '#settings/alert-words');
  expect.soft(await small(), 'alert words').toEqual([]);
  await page.context().close();
});

test("draws emoji in the user's emoji set, and loads fonts only for visible emoji", async ({ server, logIn }) => {
  await server.call('prospero', 'PATCH', '/settings', { emojiset: 'google' });
  const { id } = await post(server, 'cordelia', 'emoji sets', 'Hooray :tada: 👍🏽 :thumbs_up:');
  await server.call('cordelia', 'POST', `/messages/${id}/reactions`, { emoji_name: 'octopus' });
  const { page } = await logIn('prospero', '#settings/preferences');
  const fonts: string[] = [];
  page.on('response', async (response) => {
    const { pathname } = new URL(response.url());
    if (!pathname.endsWith('.woff2')) return;
    fonts.push(pathname);
    expect(response.headers()['cache-control']).toContain('immutable');
  });
  const shown = () =>
    page.evaluate(() => [...document.fonts].filter(({ status }) => status === 'loaded').map(({ family }) => family));
  await open(page, await placeOf(server, 'emoji sets'));
  const message = messageWith(page, 'Hooray');
  await expect.poll(shown).toContain('Parley Noto Emoji');
  // Each font of the set contains some of the emoji.
  expect(fonts.length).toBeLessThan(6);
  const emoji = message.getByRole('img', { name: 'thumbs up' });
  const reaction = message.getByRole('button', { name: /octopus/ }).getByRole('img');
  const nameOf = (element: Element) => getComputedStyle(element, '::before').content;
  expect(await emoji.evaluate(nameOf)).toBe('none');

  await open(page, '#settings/preferences');
  await page.getByLabel('Emoji', { exact: true }).selectOption({ label: 'Plain text' });
  await open(page, await placeOf(server, 'emoji sets'));
  await expect.poll(() => emoji.evaluate(nameOf)).toBe('":thumbs_up:"');
  expect(await reaction.evaluate(nameOf)).toBe('":octopus:"');
  expect(await violationsIn(page)).toEqual([]);
  await server.call('prospero', 'PATCH', '/settings', { emojiset: 'google' });
  await expect.poll(() => emoji.evaluate(nameOf)).toBe('none');
});

test('draws emoji of the system if the browser draws nothing with the fonts', async ({ logIn }) => {
  const { page } = await logIn('prospero', '#inbox');
  const family = () =>
    page.locator('#parley').evaluate((root) => getComputedStyle(root).getPropertyValue('--parley-font-emoji'));
  await page.addInitScript(() => {
    Object.defineProperty(navigator, 'vendor', { value: 'Apple Computer, Inc.' });
  });
  await page.reload();
  await expect(page.locator('[part="sidebar"] input[type="search"]')).toBeAttached();
  await page.waitForTimeout(1000);
  expect(await family()).toContain('Parley Noto Emoji');
  await page.addInitScript(() => {
    CanvasRenderingContext2D.prototype.fillText = () => {};
  });
  await page.reload();
  await expect.poll(family).not.toContain('Parley Noto Emoji');
});

test("names topics without a name in the page's language", async ({ server, logIn }) => {
  await post(server, 'cordelia', '', 'To no topic');
  const { page } = await logIn('prospero', await placeOf(server, ''), { locale: 'de' });
  await expect(messageWith(page, 'To no topic')).toBeVisible();
  await expect(page.getByRole('heading', { level: 1 })).toContainText('Allgemeiner Chat');
});
