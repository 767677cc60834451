import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { expect, gate, goTo, idOf, messageWith, placeOf, post, type Server, test } from './stories.js';

const READER = 'cordelia';
const WRITER = 'iago';

const lineOf = (n: number) => `Line ${n}: ${'words '.repeat((n * 7) % 40)}`;
const LONG = `Long start ${'words '.repeat(1600)} long end`;

/** Sends messages; the reader has read the first ones. */
async function fill(server: Server, topic: string, read: number, unread: readonly string[]): Promise<void> {
  for (let n = 0; n < read; n++) await post(server, READER, topic, lineOf(n));
  for (const content of unread) await post(server, WRITER, topic, content);
}

const PICTURE = readFileSync(join(import.meta.dirname, '../../../../docs/images/web-client.png'));

const listOf = (page: Page) => page.getByRole('region', { name: 'Messages' });

/** Ids of the messages that end in view, and the distances of the first unread line and its sender from the edges. */
const shownIn = (page: Page) =>
  listOf(page).evaluate((list) => {
    const { top, bottom, height } = list.getBoundingClientRect();
    const rows = [...list.querySelectorAll<HTMLElement>('[data-key]')];
    const isEnding = (row: HTMLElement) => {
      const box = row.getBoundingClientRect();
      return box.bottom > top && box.bottom <= bottom + 1;
    };
    const line = list.querySelector('[part="unread-line"]')?.getBoundingClientRect().top ?? Number.NaN;
    const sender = list.querySelector('[data-key]:has([part="unread-line"]) [part="sender"]')?.getBoundingClientRect();
    return {
      ids: rows.filter(isEnding).map((row) => Number(row.dataset.key)),
      line: (line - top) / height,
      isSenderVisible: sender !== undefined && sender.top >= top && sender.bottom <= bottom,
      fromEnd: list.scrollHeight - list.clientHeight - list.scrollTop,
    };
  });

const unreadOf = async (server: Server, ids: readonly number[]): Promise<readonly number[]> => {
  const { messages } = await server.call(READER, 'GET', '/messages', { message_ids: ids });
  return messages.flatMap(({ id, flags }: { id: number; flags: readonly string[] }) =>
    flags.includes('read') ? [] : [id],
  );
};

for (const height of [600, 900]) {
  test(`reads all that fits when a topic opens at its first unread message in ${height} pixels`, async ({
    server,
    logIn,
  }) => {
    const topics = [1, 2, 4, 6, 8, 12].map((count) => ({ topic: `arrive ${height} ${count}`, count }));
    for (const { topic, count } of topics) {
      await fill(
        server,
        topic,
        12,
        Array.from({ length: count }, (_, n) => lineOf(n + 100 + height)),
      );
    }
    const { page } = await logIn(READER, '#inbox', { viewport: { width: 1280, height } });
    for (const { topic } of topics) {
      await goTo(page, await placeOf(server, topic));
      await expect(page.getByRole('heading', { level: 1 })).toContainText(topic);
      await expect(listOf(page).locator('[part="unread-line"]')).toBeVisible();
      await page.waitForTimeout(300);
      const { ids, isSenderVisible, line, fromEnd } = await shownIn(page);
      expect(isSenderVisible, topic).toBe(true);
      expect(fromEnd <= 1 || Math.abs(line - 1 / 3) < 0.1, `${topic}: ${fromEnd}, ${line}`).toBe(true);
      await expect.poll(() => unreadOf(server, ids), topic).toEqual([]);
    }
  });
}

test('draws no frame around the messages of a conversation that opens again', async ({ server, logIn }) => {
  await fill(server, 'frame one', 3, []);
  await fill(server, 'frame two', 3, []);
  const { page } = await logIn(READER, await placeOf(server, 'frame one'));
  await expect(messageWith(page, 'Line 2:')).toBeVisible();
  await goTo(page, await placeOf(server, 'frame two'));
  for (const move of [() => page.goBack(), () => page.goForward()]) {
    await move();
    await expect(listOf(page)).toBeFocused();
    await expect(listOf(page)).toHaveCSS('outline-style', 'none');
  }
});

test('opens at a long first unread message with its sender, and reads what ends in view', async ({ server, logIn }) => {
  for (const height of [600, 720, 900]) {
    for (const count of [1, 2, 4]) {
      await fill(server, `long first ${height} ${count}`, 12, [
        LONG,
        ...Array.from({ length: count - 1 }, (_, n) => lineOf(n + 100)),
      ]);
    }
    const { page, context } = await logIn(READER, '#inbox', { viewport: { width: 1440, height } });
    for (const count of [1, 2, 4]) {
      const topic = `long first ${height} ${count}`;
      await goTo(page, await placeOf(server, topic));
      await expect(listOf(page).locator('[part="unread-line"]')).toBeVisible();
      await page.waitForTimeout(300);
      const { ids, isSenderVisible, fromEnd } = await shownIn(page);
      expect(isSenderVisible, topic).toBe(true);
      expect(fromEnd <= 1 || fromEnd > 20, `${topic}: ${fromEnd}`).toBe(true);
      expect(ids.length, topic).toBeGreaterThan(0);
      await expect.poll(() => unreadOf(server, ids), topic).toEqual([]);
    }
    await context.close();
  }
});

test('shows the start of a message that is taller than the view', async ({ server, logIn }) => {
  await fill(server, 'tall', 12, [LONG, ...Array.from({ length: 24 }, (_, n) => lineOf(n + 100))]);
  const { page } = await logIn(READER, await placeOf(server, 'tall'));
  const startsAtTop = () =>
    expect
      .poll(() =>
        messageWith(page, 'Long start').evaluate(
          (row) =>
            row.closest('[data-key]')!.getBoundingClientRect().top -
            row.closest('section')!.getBoundingClientRect().top,
        ),
      )
      .toBeCloseTo(0, 0);
  // The folded part is shorter than the view.
  await page.getByRole('button', { name: 'Show more' }).click();
  await listOf(page).focus();
  await page.keyboard.press('End');
  await expect(messageWith(page, 'Line 123:')).toBeInViewport();
  await page.getByRole('button', { name: 'First unread message' }).click();
  await startsAtTop();
  await page.keyboard.press('End');
  await expect(async () => {
    await page.keyboard.press('k');
    await expect(page.locator('[data-key]:focus')).toContainText('Long start', { timeout: 100 });
  }).toPass({ intervals: [0] });
  await startsAtTop();
});

test('shows the newest message whole while the composer grows and shrinks', async ({ server, logIn }) => {
  for (const hasFieldSizing of [true, false]) {
    await fill(server, 'growing', 30, []);
    const { page } = await logIn(READER, '#inbox');
    if (!hasFieldSizing) {
      await page.addInitScript(() => {
        const supports = CSS.supports.bind(CSS);
        CSS.supports = ((...args: [string, string]) =>
          args[0] !== 'field-sizing' && supports(...args)) as typeof supports;
        const sheet = new CSSStyleSheet();
        sheet.replaceSync('textarea { field-sizing: fixed !important }');
        document.adoptedStyleSheets = [sheet];
      });
      await page.reload();
    }
    await goTo(page, await placeOf(server, 'growing'));
    await expect(messageWith(page, 'Line 29:').last()).toBeInViewport();
    const field = page.getByRole('textbox', { name: 'Message', exact: true });
    await field.focus();
    const heights = new Set<number>();
    for (const lines of [1, 12, 1, 3, 6, 2, 9, 12, 20, 16, 12, 5, 5, 0, 7, 0, 2]) {
      if (lines === 0) {
        await page.keyboard.press('Control+a');
        await page.keyboard.press('Delete');
      } else await field.fill(Array.from({ length: lines }, (_, n) => `Text ${n}`).join('\n'));
      await page.waitForTimeout(150);
      heights.add((await field.boundingBox())!.height);
      await expect
        .poll(async () => (await shownIn(page)).fromEnd, `${lines} lines, field-sizing: ${hasFieldSizing}`)
        .toBeLessThanOrEqual(1);
    }
    expect(heights.size).toBeGreaterThan(4);
  }
});

/** Positions of the messages in each frame from the first one with messages. */
const framesOf = (page: Page) => page.evaluate(() => (globalThis as unknown as { frames: readonly string[] }).frames);

/** True if another message is shown in two frames, or the same one more than a pixel away. */
function isMoved(frame: string, last: string): boolean {
  const [key, top, height] = frame.split(' ');
  const [lastKey, lastTop, lastHeight] = last.split(' ');
  return key !== lastKey || height !== lastHeight || Math.abs(Number(top) - Number(lastTop)) > 1;
}

/** Opens a place. Returns the different frames with messages if these moved, else null. */
async function movesAt(page: Page, place: string): Promise<string | null> {
  await page.evaluate(() => {
    const frames: string[] = [];
    Object.assign(globalThis, { frames });
    const before = document.querySelector('[data-messages]');
    const look = () => {
      const list = document.querySelector<HTMLElement>('[data-messages]');
      const row = list !== before && list?.querySelector<HTMLElement>('[data-key] article');
      if (row) {
        const { top, height } = list!.getBoundingClientRect();
        const shown = [...list!.querySelectorAll<HTMLElement>('[data-key]')].find((each) => {
          const box = each.getBoundingClientRect();
          return box.bottom > top + height / 2;
        });
        if (shown) frames.push(`${shown.dataset.key} ${shown.getBoundingClientRect().top} ${list!.clientHeight}`);
      }
      if (Object.is((globalThis as unknown as { frames: unknown }).frames, frames)) next();
    };
    // Messages of a channel arrive after the frame has been painted.
    const next = () =>
      requestAnimationFrame(() => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = look;
        port2.postMessage(null);
      });
    next();
  });
  await goTo(page, place);
  await expect.poll(async () => (await framesOf(page)).length).toBeGreaterThan(0);
  await page.waitForTimeout(1000);
  const frames = await framesOf(page);
  const isFinal = frames.every((frame) => !isMoved(frame, frames.at(-1)!));
  return isFinal ? null : `${place}: ${[...new Set(frames)].join(' → ')}`;
}

/** Heights in which the rows with some texts are visible, by text. */
const heightsOf = (page: Page): Promise<Record<string, number[]>> =>
  page.evaluate(() => (globalThis as unknown as { heights: Record<string, number[]> }).heights);

test('paints formulas and polls in their final height after a reload', async ({ server, logIn }) => {
  await fill(server, 'formulas', 4, []);
  await post(server, WRITER, 'formulas', 'A formula:\n```math\n\\frac{a}{b}\n```');
  await post(server, READER, 'formulas', '/poll Lunch?\nSoup\nSalad');
  const { page } = await logIn(READER, await placeOf(server, 'formulas'));
  await expect(page.getByRole('math')).toBeVisible();
  await page.addInitScript(() => {
    const heights: Record<string, number[]> = {};
    Object.assign(globalThis, { heights });
    const look = () => {
      for (const row of document.querySelectorAll<HTMLElement>('[data-key]')) {
        const [text] = /A formula|Lunch/.exec(row.textContent) ?? [];
        if (!text || getComputedStyle(row.parentElement!).opacity === '0') continue;
        heights[text] = [...new Set([...(heights[text] ?? []), row.offsetHeight])];
      }
      requestAnimationFrame(look);
    };
    look();
  });
  for (let round = 0; round < 3; round++) {
    await page.reload();
    await expect(page.getByRole('math')).toBeVisible();
    await expect(messageWith(page, 'Lunch?').getByText('Vote').first()).toBeVisible();
    await page.waitForTimeout(500);
    const heights = await heightsOf(page);
    expect(Object.keys(heights).sort()).toEqual(['A formula', 'Lunch']);
    expect(heights).toEqual({ 'A formula': [expect.any(Number)], Lunch: [expect.any(Number)] });
  }
});

test('paints messages in their final place at once', async ({ server, logIn }) => {
  const topics = Array.from({ length: 6 }, (_, n) => `switch ${n}`);
  for (const [n, topic] of topics.entries()) {
    await fill(server, topic, 20 + n, n % 3 === 0 ? [] : Array.from({ length: 2 * n }, (_, line) => lineOf(line + n)));
    if (n % 4 === 0) await post(server, READER, topic, '/poll Lunch?\nSoup\nSalad');
    if (n % 4 === 1) await post(server, WRITER, topic, '```python\nprint(1)\n```\n$$x^2$$ and ||hidden||');
    if (n % 4 === 2) {
      const { url } = (await server.upload(WRITER, '/user_uploads', `lamp ${n}.png`, PICTURE)) as { url: string };
      await post(server, n === 2 ? READER : WRITER, topic, `[lamp.png](${url})`);
    }
  }
  const places = await Promise.all(topics.map((topic) => placeOf(server, topic)));
  const { page, context } = await logIn(READER, '#recent');
  const session = await context.newCDPSession(page);
  await page.waitForTimeout(1000);
  await session.send('Emulation.setCPUThrottlingRate', { rate: 4 });
  const moves: (string | null)[] = [];
  for (const place of [...places, ...places]) moves.push(await movesAt(page, place));
  expect(moves.filter((each) => each !== null)).toEqual([]);
});

test('paints a channel, the feed and searches in their final place when they are opened again', async ({
  server,
  logIn,
}) => {
  const [place] = (await placeOf(server, '')).split('/topic/');
  await fill(server, 'again', 40, []);
  const { messages } = await server.call(READER, 'GET', '/messages', {
    anchor: 'newest',
    num_before: 30,
    num_after: 0,
    narrow: [{ operator: 'topic', operand: 'again' }],
  });
  const ids = messages.map(({ id }: { id: number }) => id);
  await server.call(READER, 'POST', '/messages/flags', { messages: ids, op: 'add', flag: 'starred' });
  await server.call(READER, 'POST', '/mark_all_as_read');
  const { page, context } = await logIn(READER, '#inbox');
  const session = await context.newCDPSession(page);
  await session.send('Emulation.setCPUThrottlingRate', { rate: 4 });
  const moves: (string | null)[] = [];
  let sent = 0;
  for (const count of [0, 3, 40]) {
    for (const opened of [place!, '#feed', '#narrow/search/words', '#narrow/is/starred']) {
      for (let n = 0; n < count; n++) await post(server, WRITER, 'again', `New ${++sent}: ${lineOf(n)}`);
      if (count > 0) await expect(page.getByRole('main')).toContainText(`New ${sent}:`);
      moves.push(await movesAt(page, opened));
      // No list opens at the place that is left here.
      await listOf(page).evaluate((list) => list.scrollBy(0, -list.clientHeight / 2));
      await page.waitForTimeout(300);
      await goTo(page, '#inbox');
      await expect(listOf(page)).toHaveCount(0);
    }
  }
  expect(moves.filter((each) => each !== null)).toEqual([]);
});

test('paints linked messages in their final place at once, whether loaded or not', async ({ server, logIn }) => {
  await fill(server, 'near', 160, []);
  const { messages } = await server.call(READER, 'GET', '/messages', {
    anchor: 'newest',
    num_before: 160,
    num_after: 0,
    narrow: [{ operator: 'topic', operand: 'near' }],
  });
  const place = await placeOf(server, 'near');
  const linkTo = (n: number) => `${place}/near/${messages[n].id}`;
  const { page, context } = await logIn(READER, place);
  await expect(messageWith(page, 'Line 159:')).toBeInViewport();
  const session = await context.newCDPSession(page);
  await session.send('Emulation.setCPUThrottlingRate', { rate: 4 });
  const moves: (string | null)[] = [];
  for (const n of [10, 150, 12, 80, 155, 79]) {
    await goTo(page, '#inbox');
    await expect(listOf(page)).toHaveCount(0);
    moves.push(await movesAt(page, linkTo(n)));
    await expect(messageWith(page, `Line ${n}:`)).toBeInViewport();
  }
  expect(moves.filter((each) => each !== null)).toEqual([]);
});

test('shows the former messages until those of a link in them are loaded', async ({ server, logIn }) => {
  await fill(server, 'far above', 100, []);
  const place = await placeOf(server, 'far above');
  const { messages } = await server.call(READER, 'GET', '/messages', {
    anchor: 'newest',
    num_before: 100,
    num_after: 0,
    narrow: [{ operator: 'topic', operand: 'far above' }],
  });
  await post(server, READER, 'far above', `[the start](${place}/near/${messages[5].id})`);
  const { page } = await logIn(READER, place);
  const link = page.getByRole('link', { name: 'the start' });
  await expect(link).toBeInViewport();
  const requested = gate();
  const answered = gate();
  await page.route('**/messages?*', async (route) => {
    requested.open();
    await answered.opened;
    await route.continue();
  });
  await link.click();
  await requested.opened;
  await page.waitForTimeout(300);
  await expect(link).toBeInViewport();
  answered.open();
  await expect(messageWith(page, 'Line 5:')).toBeInViewport();
});

test('puts the cursor on the message of a followed link and marks it', async ({ server, logIn }) => {
  await fill(server, 'linked', 60, []);
  // The feed opens at its newest message.
  await server.call(READER, 'POST', '/mark_all_as_read');
  const { messages } = await server.call(READER, 'GET', '/messages', {
    anchor: 'newest',
    num_before: 100,
    num_after: 0,
    narrow: [{ operator: 'topic', operand: 'linked' }],
  });
  const idOfLine = (n: number) =>
    messages.find(({ content }: { content: string }) => content.includes(`Line ${n}:`)).id as number;
  const { page } = await logIn(READER, '#inbox');
  const place = await placeOf(server, 'linked');
  const expectMarked = async (text: string) => {
    const row = page.locator('[data-key][data-marked]');
    await expect(row).toContainText(text);
    await expect(row).toBeInViewport();
    await expect(row).toBeFocused();
  };
  await goTo(page, `${place}/near/${idOfLine(20)}`);
  await expectMarked('Line 20:');
  await expect(page.locator('[data-marked]')).toHaveCount(0);
  await page.keyboard.press('j');
  await expect(page.locator('[data-key]:focus')).toContainText('Line 21:');
  // The list has the focus when a link in it is followed.
  await goTo(page, `${place}/near/${idOfLine(45)}`);
  await expectMarked('Line 45:');
  await goTo(page, '#feed');
  await expect(messageWith(page, 'Line 59:').last()).toBeInViewport();
  await page.reload();
  await goTo(page, `${place}/near/${idOfLine(10)}`);
  await expectMarked('Line 10:');
  const link = `${place}/near/${idOfLine(5)}`;
  // Imported messages have links with the address of the organization.
  const imported = `${server.url}/${place.replace('channel', 'stream')}/near/${idOfLine(7)}`;
  const quote = `@_**Cordelia** [said](${link}):\n\`\`\`quote\nLine 5\n\`\`\``;
  await post(server, READER, 'linked', `${quote}\n[imported](${imported})`);
  await goTo(page, '#inbox');
  await goTo(page, place);
  await page.getByRole('link', { name: 'said' }).click();
  await expectMarked('Line 5:');
  await page.keyboard.press('j');
  await page.keyboard.press('z');
  await expectMarked('Line 6:');
  await goTo(page, '#inbox');
  await goTo(page, place);
  await page.getByRole('link', { name: 'imported' }).click();
  await expectMarked('Line 7:');
  await server.call(READER, 'POST', '/reminders', {
    message_id: idOfLine(8),
    scheduled_delivery_timestamp: Math.floor(Date.now() / 1000) + 3600,
  });
  await goTo(page, '#reminders');
  const reminder = page.getByRole('main').getByRole('listitem').filter({ hasText: 'Line 8:' });
  await reminder.getByRole('link', { name: 'said' }).click();
  await expectMarked('Line 8:');
  await goTo(page, '#narrow/search/Line.209');
  await messageWith(page, 'Line 9:').last().locator('[part="time"]').click();
  await expectMarked('Line 9:');
});

test('scrolls the sidebar to the place that was opened', async ({ server, logIn }) => {
  const { members } = await server.call('hamlet', 'GET', '/users');
  const self = (await server.call('hamlet', 'GET', '/users/me')).user_id;
  const others = members.filter(
    ({ user_id: id, is_bot: isBot, is_active: isActive }: { user_id: number; is_bot: boolean; is_active: boolean }) =>
      id !== self && !isBot && isActive,
  );
  for (const { user_id: id } of others.slice(0, 12)) {
    await server.call('hamlet', 'POST', '/messages', {
      type: 'direct',
      to: [id],
      content: 'Hello',
      read_by_sender: true,
    });
  }
  for (let n = 0; n < 24; n++) {
    await server.call('hamlet', 'POST', '/users/me/subscriptions', { subscriptions: [{ name: `zone ${n}` }] });
  }
  await server.call('hamlet', 'POST', '/mark_all_as_read');
  const { page } = await logIn('hamlet', '#inbox', { viewport: { width: 1280, height: 720 } });
  const sidebar = page.getByRole('navigation', { name: 'Conversations' });
  const expectShown = async (name: string) => {
    const current = sidebar.locator('[aria-current="page"]');
    await expect(current).toContainText(name);
    await expect(current).toBeInViewport({ ratio: 1 });
    await expect
      .poll(() =>
        current.evaluate((row) => {
          const [box, list] = [row.getBoundingClientRect(), row.closest('nav')!.getBoundingClientRect()];
          return box.top >= list.top && box.bottom <= list.bottom;
        }),
      )
      .toBe(true);
  };
  const visibleChannels = () =>
    sidebar.evaluate((list) => {
      const box = list.getBoundingClientRect();
      return [...list.querySelectorAll('a[href*="#narrow/channel/"]:not([data-nested])')].filter((link) => {
        const { top, bottom } = link.getBoundingClientRect();
        return top >= box.top && bottom <= box.bottom;
      }).length;
    });
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: /Name of a conversation/ }).fill('zone 23');
  await page.keyboard.press('Enter');
  await expectShown('zone 23');
  expect(await visibleChannels()).toBeGreaterThanOrEqual(6);
  const { stream_id: id } = await server.call('hamlet', 'GET', '/get_stream_id', { stream: 'zone 20' });
  await server.call(WRITER, 'POST', '/users/me/subscriptions', { subscriptions: [{ name: 'zone 20' }] });
  await server.call(WRITER, 'POST', '/messages', { type: 'channel', to: id, topic: 'far away', content: 'Unread' });
  await goTo(page, '#inbox');
  await expectShown('Inbox');
  await expect(page.getByRole('main')).toContainText('far away');
  await page.getByRole('main').focus();
  await page.keyboard.press('n');
  await expectShown('far away');
  await goTo(page, '#channels/new');
  await page.getByLabel('Name', { exact: true }).fill('zone 12a');
  await page.keyboard.press('Enter');
  await expectShown('zone 12a');
  expect(await visibleChannels()).toBeGreaterThanOrEqual(6);
  await goTo(page, await placeOf(server, 'by link'));
  await expectShown('by link');
  // Topics listed above the row are loaded first.
  await post(server, 'hamlet', 'read below', 'Read');
  for (let n = 0; n < 30; n++) await post(server, WRITER, `unread ${n}`, 'Unread');
  await goTo(page, await placeOf(server, 'read below'));
  const topics = page.waitForResponse(/\/topics/);
  await page.reload();
  await topics;
  await page.waitForTimeout(300);
  await expectShown('read below');
});

test('marks the opened conversation in the sidebar even if it has no row otherwise', async ({ server, logIn }) => {
  const { id } = await post(server, 'hamlet', 'linked by a message', 'Hello');
  const { stream_id: channelId } = await server.call('iago', 'GET', '/get_stream_id', { stream: 'Verona' });
  await server.call('iago', 'POST', '/users/me/subscriptions', { subscriptions: [{ name: 'elsewhere' }] });
  const stranger = await idOf(server, 'prospero');
  const { page } = await logIn('hamlet', '#inbox');
  const current = page.getByRole('navigation', { name: 'Conversations' }).locator('[aria-current="page"]');
  const expectMarked = async (hash: string, name: string) => {
    await goTo(page, hash);
    await expect(current).toHaveText(name);
    await expect(current).toBeInViewport({ ratio: 1 });
  };
  await expectMarked(await placeOf(server, 'nothing here'), 'nothing here');
  await expectMarked(`#narrow/channel/${channelId}-Verona/topic/linked by a message/with/${id}`, 'linked by a message');
  await expectMarked(`#narrow/dm/${stranger}`, 'Prospero from The Tempest');
  await expectMarked(await placeOf(server, 'somewhere', 'elsewhere'), 'somewhere');
  await page.locator('summary', { hasText: 'Channels' }).click();
  await goTo(page, '#inbox');
  await expectMarked(await placeOf(server, 'also nothing'), 'also nothing');
});

for (const words of [0, 100, 400, 1600]) {
  test(`returns to the line that was read among messages of ${words} words`, async ({ server, logIn }) => {
    const topic = `return ${words}`;
    for (let n = 0; n < (words > 300 ? 12 : 40); n++) {
      await post(server, READER, topic, `Line ${n}: ${'words '.repeat(words)}`);
    }
    const { page } = await logIn(READER, await placeOf(server, topic));
    await expect(listOf(page).getByRole('article').last()).toBeInViewport();
    await page.waitForTimeout(300);
    /** Message at the middle of the list, and the place of its text. */
    const reading = () =>
      listOf(page).evaluate((list) => {
        const { left, width, top, height } = list.getBoundingClientRect();
        const row = document.elementFromPoint(left + width / 2, top + height / 2)!.closest<HTMLElement>('[data-key]')!;
        return { key: row.dataset.key!, top: row.querySelector('[data-text]')!.getBoundingClientRect().top };
      });
    const expectSame = async ({ key, top }: { key: string; top: number }) => {
      const now = page.locator(`[data-key="${key}"] [data-text]`);
      await expect(now).toBeVisible();
      await page.waitForTimeout(500);
      const last = await now.evaluate((text) => text.getBoundingClientRect().top);
      expect(Math.abs(last - top), `${last} instead of ${top}`).toBeLessThanOrEqual(2);
    };
    await listOf(page).evaluate((list) => list.scrollBy(0, -1.37 * list.clientHeight));
    await page.waitForTimeout(600);
    const before = await reading();
    await goTo(page, '#recent');
    await expect(listOf(page)).toHaveCount(0);
    await page.goBack();
    await expectSame(before);
    await page.reload();
    await expectSame(before);
    await page.setViewportSize({ width: 900, height: 800 });
    await expectSame(before);
    await page.reload();
    await expectSame(before);
  });
}
