import type { Page } from '@playwright/test';
import { expect, goTo, placeOf, post, type Server, test } from './stories.js';

/** Repeatable numbers from 0 to 1 (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const STEPS = 40;

const textsOn = (page: Page): Promise<readonly string[]> =>
  page
    .getByRole('article')
    .evaluateAll((rows) => rows.map((row) => /text \d+-\d+/.exec(row.textContent ?? '')?.[0] ?? ''));

async function textsAt(server: Server, topic: string): Promise<readonly string[]> {
  const { messages } = await server.call('hamlet', 'GET', '/messages', {
    ...{ anchor: 'newest', num_before: 500, num_after: 0, apply_markdown: false },
    narrow: [
      { operator: 'channel', operand: 'Verona' },
      { operator: 'topic', operand: topic },
    ],
  });
  return messages.map(({ content }: { content: string }) => content);
}

for (const seed of [1, 2, 3]) {
  test(`sends every text once through lost responses, outages and reloads (seed ${seed})`, async ({
    logIn,
    server,
  }) => {
    test.slow();
    const random = randomOf(seed);
    const topic = `at random ${seed}`;
    await post(server, 'iago', topic, `text ${seed}-0`);
    const place = await placeOf(server, topic);
    const { page, context } = await logIn('hamlet', place);
    let losesResponse = false;
    await page.route('**/json/messages', async (route) => {
      if (route.request().method() !== 'POST' || !losesResponse) return route.fallback();
      losesResponse = false;
      // The server takes the message, and its response is lost.
      await route.fetch();
      await route.abort('connectionreset');
    });
    const field = page.getByRole('textbox', { name: 'Message' });
    const written: string[] = [];
    let isOffline = false;
    const goOnline = async (isOnline: boolean) => {
      isOffline = !isOnline;
      await context.setOffline(isOffline);
    };
    const actions: readonly (() => Promise<unknown>)[] = [
      async () => {
        const text = `text ${seed}-${written.length + 1}`;
        written.push(text);
        await field.fill(text);
        await page.getByRole('button', { name: 'Send', exact: true }).click();
      },
      () => post(server, 'iago', topic, `text ${seed}-${1000 + Math.floor(random() * 1_000_000)}`),
      async () => {
        losesResponse = true;
      },
      () => goOnline(isOffline),
      async () => {
        if (isOffline) await goOnline(true);
        await page.reload();
        // It arrives after the messages, and cannot while the page is offline.
        await expect(field).toBeVisible();
      },
      async () => {
        await goTo(page, '#inbox');
        await goTo(page, place);
      },
      async () => {
        await field.fill(`text ${seed}-draft`);
        await goTo(page, '#recent');
        await goTo(page, place);
        await expect(field).toHaveValue(`text ${seed}-draft`);
        await field.fill('');
      },
    ];
    for (let step = 0; step < STEPS; step++) {
      // Half of the steps write.
      const index = random() < 0.5 ? 0 : Math.floor(random() * actions.length);
      await actions[index]!();
    }
    losesResponse = false;
    await goOnline(true);
    await expect
      .poll(async () => (await textsAt(server, topic)).filter((text) => written.includes(text)).sort(), {
        timeout: 60_000,
      })
      .toEqual([...written].sort());
    const fresh = await logIn('hamlet', place);
    await expect.poll(async () => (await textsOn(fresh.page)).at(-1)).toBe((await textsAt(server, topic)).at(-1));
    await goTo(page, '#inbox');
    await goTo(page, place);
    await expect.poll(() => textsOn(page)).toEqual(await textsOn(fresh.page));
  });
}
