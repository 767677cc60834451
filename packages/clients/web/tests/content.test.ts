import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Locator } from '@playwright/test';
import { expect, focusedNode, goTo, messageWith, placeOf, post, test, violationsIn } from './stories.js';

interface Recorded {
  readonly name: string;
  readonly html: string;
}

const FIXTURES = join(import.meta.dirname, '../../../adapters/markdown/src/fixtures/markdown-recorded.json');
const recorded: readonly Recorded[] = JSON.parse(readFileSync(FIXTURES, 'utf8'));

test('renders every recorded message without unknown elements', async ({ server, logIn }) => {
  await post(server, 'hamlet', 'renderings', 'Replaced by all recordings');
  const { page } = await logIn('hamlet');
  await page.route('**/json/messages?*', async (route) => {
    const response = await route.fetch();
    const body = await response.json();
    for (const message of body.messages ?? []) {
      if (message.subject === 'renderings') message.content = recorded.map(({ html }) => html).join('\n');
    }
    await route.fulfill({ response, json: body });
  });
  // The recorded images do not exist here.
  await page.route(/user_uploads|user_avatars|external_content|static\/generated/, (route) =>
    route.fulfill({ status: 200, contentType: 'image/svg+xml', body: '<svg xmlns="http://www.w3.org/2000/svg"/>' }),
  );
  await goTo(page, await placeOf(server, 'renderings'));
  // Roles of thousands of elements take seconds to compute.
  await expect(page.locator('article')).toHaveCount(1);
  expect(await page.locator('article p').count()).toBeGreaterThan(300);
  const unknown = await page.locator('[data-unknown]').evaluateAll((all) => all.map(({ textContent }) => textContent));
  expect(unknown).toEqual([]);
  // User input never becomes markup outside the contract.
  expect(await page.locator('article').locator('script, iframe, object, embed, form, style, link').count()).toBe(0);
});

test('shows list markers by nesting level, and an image below the text of its item', async ({ server, logIn }) => {
  const picture = readFileSync(join(import.meta.dirname, '../../../../docs/images/web-client.png'));
  const { url } = (await server.upload('hamlet', '/user_uploads', 'listed.png', picture)) as { url: string };
  await post(server, 'hamlet', 'lists', `* First level\n  * Second level\n* Seen [listed.png](${url})`);
  const { page } = await logIn('hamlet', await placeOf(server, 'lists'));
  const message = messageWith(page, 'First level');
  await expect(message.locator('ul').first()).toHaveCSS('list-style-type', 'disc');
  await expect(message.locator('ul ul')).toHaveCSS('list-style-type', 'circle');
  // Has no box before it is loaded.
  await expect(message.getByRole('img')).toBeVisible();
  const link = (await message.getByRole('link', { name: 'listed.png' }).first().boundingBox())!;
  const image = (await message.getByRole('img').boundingBox())!;
  expect(image.y).toBeGreaterThan(link.y + link.height / 2);
  expect(image.x).toBeLessThan(link.x);
});

test('names messages for screen readers by all that they show, but not what spoilers hide', async ({
  server,
  logIn,
}) => {
  const picture = readFileSync(join(import.meta.dirname, '../../../../docs/images/web-client.png'));
  const { url } = (await server.upload('iago', '/user_uploads', 'seen here.png', picture)) as { url: string };
  const contents = [
    ['Iago said:\n```quote\nAlas, poor\n```\nHe was funny :smile:', 'Iago said: quote: Alas, poor. He was funny smile'],
    ['```spoiler The end\nEverybody dies\n```', 'spoiler: The end.'],
    ['```js\none\ntwo\n```', 'code, 2 lines.'],
    ['$$x^2$$ ~~not~~', 'x^2 not'],
    ['/poll Lunch?\nPizza\nPasta', 'Poll Lunch?, Pizza: 0 votes, Pasta: 0 votes'],
    ['/todo Friday\nWrite', 'Friday, to do: Write'],
    [`[](${url})`, `picture: ${url.split('/').at(-1)}.`],
  ] as const;
  for (const [content] of contents) await post(server, 'iago', 'spoken', content);
  const { page } = await logIn('hamlet', await placeOf(server, 'spoken'));
  const rows = page.locator('[data-messages] li[data-key]');
  const names = () =>
    rows.evaluateAll((all) => all.map((row) => row.ariaLabel?.replace(/^Iago, \d+:\d+\s[AP]M, /, '')));
  await expect.poll(names).toEqual(contents.map(([, text]) => text));

  await rows.last().focus();
  const { role, name } = (await focusedNode(page))!;
  expect([role, name]).toEqual(['listitem', await rows.last().getAttribute('aria-label')]);
  const key = await rows.nth(4).getAttribute('data-key');
  await rows.nth(4).getByRole('button', { name: 'Vote' }).first().click();
  await server.call('cordelia', 'POST', `/messages/${key}/reactions`, { emoji_name: 'tada' });
  await expect(rows.nth(4)).toHaveAccessibleName(/, Poll Lunch\?, Pizza: 1 vote, Pasta: 0 votes, 1 :tada:$/);
});

test('names the main area by its heading', async ({ server, logIn }) => {
  await post(server, 'hamlet', 'headed', 'Anything');
  const { page } = await logIn('hamlet', await placeOf(server, 'headed'));
  await expect(page.getByRole('main')).toHaveAccessibleName(/Verona.*headed/);
  await goTo(page, '#inbox');
  await expect(page.getByRole('main')).toHaveAccessibleName('Inbox');
});

test('shows a preview card for a linked page, with a picture from the server', async ({ server, logIn }) => {
  const png = readFileSync(join(import.meta.dirname, '../../../../docs/images/web-client.png'));
  const head =
    '<title>Tides</title><meta name="description" content="Why it rises"><meta property="og:image" content="/tide.png">';
  const site = createServer((request, response) => {
    const isPicture = request.url === '/tide.png';
    response.writeHead(200, { 'Content-Type': isPicture ? 'image/png' : 'text/html' }).end(isPicture ? png : head);
  });
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(site.address() as AddressInfo).port}/`;
  await server.call('iago', 'PATCH', '/realm', { inline_url_embed_preview: true });
  try {
    const { page } = await logIn('hamlet', await placeOf(server, 'tides'));
    await post(server, 'iago', 'tides', `Read ${url}`);
    const card = messageWith(page, 'Read').getByRole('link', { name: 'Tides' });
    await expect(card).toHaveAttribute('href', url);
    await expect(card).toContainText('Why it rises');
    const picture = card.locator('img');
    await expect(picture).toHaveAttribute('src', /\/external_content\//);
    await expect.poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBeGreaterThan(0);
    expect(await violationsIn(page)).toEqual([]);
  } finally {
    await server.call('iago', 'PATCH', '/realm', { inline_url_embed_preview: false });
    site.close();
  }
});

test('highlights alert words in messages, except in code and links, until they are removed', async ({
  server,
  logIn,
}) => {
  const alert_words = ['harbour', 'old', 'old quay', 'c++'];
  await server.call('hamlet', 'POST', '/users/me/alert_words', { alert_words });
  const text = 'The HARBOUR, the **old quay** and C++, no harbours\n```\nharbour\n```\n[see](http://a.example/harbour)';
  await post(server, 'iago', 'quays', text);
  const { page } = await logIn('hamlet', await placeOf(server, 'quays'));
  const marks = messageWith(page, 'The HARBOUR').locator('mark');
  await expect(marks).toHaveText(['HARBOUR', 'old quay', 'C++']);
  expect(await violationsIn(page)).toEqual([]);
  await server.call('hamlet', 'DELETE', '/users/me/alert_words', { alert_words: ['harbour'] });
  await expect(marks).toHaveText(['old quay', 'C++']);
  await server.call('hamlet', 'DELETE', '/users/me/alert_words', { alert_words });
  await expect(marks).toHaveCount(0);
});

test('links code blocks to the playgrounds of their language, and copies them', async ({ server, logIn }) => {
  const encoded = 'a%20%3D%20%27b%2Fc%5B%5D%27%0A';
  const reserved = "a%20=%20'b/c[]'%0A";
  const playgrounds: readonly (readonly [string, string, string | null])[] = [
    ['Path', 'https://play.example{/code}', `https://play.example/${encoded}`],
    ['Query', 'https://play.example/{?code}', `https://play.example/?code=${encoded}`],
    ['Second', 'https://play.example/?a=1{&code}', `https://play.example/?a=1&code=${encoded}`],
    ['Plain', 'http://play.example/?c={code}', `http://play.example/?c=${encoded}`],
    ['Hash', 'https://play.example/{#code}', `https://play.example/#${reserved}`],
    ['Reserved', 'https://play.example/{+code}', `https://play.example/${reserved}`],
    ['Unsafe', 'ftp://play.example/{code}', null],
  ];
  const ids: number[] = [];
  for (const [name, url_template] of playgrounds) {
    const fields = { name, pygments_language: 'Python', url_template };
    ids.push((await server.call('iago', 'POST', '/realm/playgrounds', fields)).id);
  }
  await post(server, 'iago', 'snakes', "```python\na = 'b/c[]'\n```\nand\n```js\nb\n```");
  const { page, context } = await logIn('hamlet', await placeOf(server, 'snakes'));
  const message = messageWith(page, "a = 'b/c[]'");
  for (const [name, , href] of playgrounds) {
    const link = message.getByRole('link', { name: `View in ${name}` });
    if (href === null) await expect(link).toHaveCount(0);
    else await expect(link).toHaveAttribute('href', href);
  }
  await expect(message.getByRole('link', { name: 'View in Path' })).toHaveAttribute('target', '_blank');
  expect(await violationsIn(page)).toEqual([]);
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await message.getByRole('button', { name: 'Copy code' }).first().click();
  await expect(message.getByRole('button', { name: 'Copied' })).toBeVisible();
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe("a = 'b/c[]'\n");
  for (const id of ids) await server.call('iago', 'DELETE', `/realm/playgrounds/${id}`);
  await expect(message.getByRole('link', { name: 'View in' })).toHaveCount(0);
});

test('places bullets, quote lines and buttons at the start of texts of either direction', async ({ server, logIn }) => {
  const hebrew = '* פריט\n\n1. ראשון\n\n> ציטוט\n\n```spoiler כותרת\nתוכן\n```\n\n| שם |\n|---|\n| אחת |';
  await post(server, 'iago', 'directions', hebrew);
  await post(server, 'iago', 'directions', '* item\n\n```python\nprint("hello")\n```');
  await post(server, 'iago', 'directions', '/poll מה לאכול?\nפיצה');
  await post(server, 'iago', 'directions', '```quote\n> מצוטט\n```\nEnglish\n```quote\n* רשימה\n```\n> > > עמוק');
  const { page } = await logIn('hamlet', await placeOf(server, 'directions'));
  const directionOf = (element: Element) => getComputedStyle(element).direction;
  const first = messageWith(page, 'פריט');
  for (const direction of ['ltr', 'rtl']) {
    await page.evaluate((dir) => document.documentElement.setAttribute('dir', dir), direction);
    for (const part of ['ul', 'ol', 'blockquote', 'details', 'table']) {
      await expect.poll(() => first.locator(part).evaluate(directionOf), `${part} in ${direction}`).toBe('rtl');
    }
    const quotes = messageWith(page, 'מצוטט').locator('blockquote');
    await expect
      .poll(() => quotes.evaluateAll((all) => all.map((it) => getComputedStyle(it).direction)))
      .toEqual(Array.from({ length: 6 }, () => 'rtl'));
    const second = messageWith(page, 'print');
    await expect.poll(() => second.locator('ul').evaluate(directionOf)).toBe('ltr');
    const [code, copy] = [second.locator('pre'), second.getByRole('button', { name: 'Copy' })];
    await expect.poll(async () => (await copy.boundingBox())!.x - (await code.boundingBox())!.x).toBeGreaterThan(100);
    await expect.poll(() => page.locator('legend').last().evaluate(directionOf)).toBe('rtl');
  }
});

test('keeps the order within names, addresses and formulas in texts from right to left', async ({ server, logIn }) => {
  const text = 'תודה @**King Hamlet** ראו https://example.com/a/ או $$x + y$$ או `a + b`';
  await post(server, 'iago', 'order', text);
  const { page } = await logIn('hamlet', await placeOf(server, 'order'));
  await page.evaluate(() => document.documentElement.setAttribute('dir', 'rtl'));
  const message = messageWith(page, 'תודה');
  const isInOrder = (part: Locator) =>
    part.evaluate((element) => {
      const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
      const places: number[] = [];
      while (texts.nextNode()) {
        for (let at = 0; at < texts.currentNode.textContent!.trim().length; at++) {
          const range = document.createRange();
          range.setStart(texts.currentNode, at);
          range.setEnd(texts.currentNode, at + 1);
          places.push(range.getBoundingClientRect().left);
        }
      }
      return places.every((place, index) => index === 0 || place >= places[index - 1]!);
    });
  for (const part of ['[part="mention"]', 'a[href^="https://example"]', '.katex', 'code'])
    await expect.poll(() => isInOrder(message.locator(part)), part).toBe(true);
});

test('keeps texts of either direction next to their sender', async ({ server, logIn }) => {
  await post(server, 'iago', 'sides', 'An English text\n\n* item\n\n> quoted');
  await post(server, 'othello', 'sides', 'שלום לכולם\n\n* פריט\n\n> ציטוט');
  const { page } = await logIn('hamlet', await placeOf(server, 'sides'));
  for (const direction of ['ltr', 'rtl']) {
    await page.evaluate((dir) => document.documentElement.setAttribute('dir', dir), direction);
    for (const text of ['An English text', 'שלום לכולם']) {
      for (const part of ['p', 'ul', 'blockquote']) {
        /** Distance of a text or its mark from the edge of the sender's name. */
        const distance = () =>
          messageWith(page, text).evaluate(
            (row, [tag, dir]) => {
              const range = document.createRange();
              const block = row.querySelector(tag!)!;
              if (tag === 'p') range.selectNodeContents(block);
              else range.selectNode(block);
              const box = range.getBoundingClientRect();
              const name = row.querySelector('[part="sender"]')!.getBoundingClientRect();
              return dir === 'ltr' ? box.left - name.left : name.right - box.right;
            },
            [part, direction],
          );
        await expect.poll(distance, `${part} of "${text}" in ${direction}`).toBeCloseTo(0, 0);
      }
    }
  }
});
