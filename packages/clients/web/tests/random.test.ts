import type { Page } from '@playwright/test';
import { expect, goTo, placeOf, post, type Server, test } from './stories.js';

/** Reproducible numbers from 0 to 1 (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Set by `npm run endurance`. */
const { HOSTILE_SEED, HOSTILE_LOAD } = process.env;
const seed = Number(HOSTILE_SEED ?? 1);
const STEPS = HOSTILE_LOAD === 'long' ? 200 : 40;

/**
 * The last rows with all their content, such as reactions; the number of rendered rows depends on the scroll position.
 */
const textsOn = (page: Page): Promise<readonly string[]> =>
  page.getByRole('article').evaluateAll((rows) => rows.slice(-8).map((row) => row.textContent ?? ''));

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

test(`sends every text once despite events, lost responses, outages and reloads (seed ${seed})`, async ({
  logIn,
  server,
}) => {
  test.setTimeout(HOSTILE_LOAD === 'long' ? 30 * 60_000 : 6 * 60_000);
  const random = randomOf(seed);
  const topic = `at random ${seed}`;
  await post(server, 'iago', topic, `text ${seed}-0`);
  const place = await placeOf(server, topic);
  const { page, context } = await logIn('hamlet', place);
  let losesResponse = false;
  await page.route('**/json/messages', async (route) => {
    if (route.request().method() !== 'POST' || !losesResponse) return route.fallback();
    losesResponse = false;
    // The server accepts the message, but its response is lost.
    await route.fetch();
    await route.abort('connectionreset');
  });
  const field = page.getByRole('textbox', { name: 'Message' });
  const written: string[] = [];
  const posted: number[] = [];
  const ofOthers = () => posted[Math.floor(random() * posted.length)];
  const text = (number: number) => `text ${seed}-${number}`;
  let isOffline = false;
  const goOnline = async (isOnline: boolean) => {
    isOffline = !isOnline;
    await context.setOffline(isOffline);
  };
  const actions: readonly (() => Promise<unknown>)[] = [
    async () => {
      const next = text(written.length + 1);
      written.push(next);
      await field.fill(next);
      await page.getByRole('button', { name: 'Send', exact: true }).click();
    },
    async () => posted.push((await post(server, 'iago', topic, text(1000 + Math.floor(random() * 1_000_000)))).id),
    async () => {
      const id = ofOthers();
      if (id !== undefined) await server.call('iago', 'PATCH', `/messages/${id}`, { content: `${text(999)} edited` });
    },
    async () => {
      const id = ofOthers();
      if (id !== undefined) posted.splice(posted.indexOf(id), 1);
      if (id !== undefined) await server.call('iago', 'DELETE', `/messages/${id}`);
    },
    async () => {
      const id = ofOthers();
      const emoji = ['tada', 'octopus', 'heart'][Math.floor(random() * 3)];
      // The same reaction may already exist.
      if (id !== undefined)
        await server.call('iago', 'POST', `/messages/${id}/reactions`, { emoji_name: emoji }).catch(() => {});
    },
    async () => {
      losesResponse = true;
    },
    () => goOnline(isOffline),
    async () => {
      if (isOffline) await goOnline(true);
      await page.reload();
      // Arrives after the messages, and not while the page is offline.
      await expect(field).toBeVisible({ timeout: 60_000 });
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
    // Half of the steps send messages.
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
  const newest = (await textsAt(server, topic)).at(-1)!;
  // A page opens at the first unread message, possibly far from the newest.
  const fresh = await logIn('hamlet', place);
  const showNewest = async (shown: Page) => {
    const jump = shown.getByRole('button', { name: /^(Newest message|\d+ new messages?)$/ });
    // Disappears while the list settles at its end.
    if (await jump.isVisible()) await jump.click({ timeout: 1000 });
    await expect(shown.getByRole('article').last()).toContainText(newest, { timeout: 1000 });
  };
  await expect(() => showNewest(fresh.page)).toPass({ timeout: 30_000 });
  await goTo(page, '#inbox');
  await goTo(page, place);
  await expect(async () => {
    await showNewest(page);
    expect(await textsOn(page)).toEqual(await textsOn(fresh.page));
  }).toPass({ timeout: 30_000 });
  await field.fill(`text ${seed}-left`);
  await page.reload();
  await expect(field).toHaveValue(`text ${seed}-left`, { timeout: 60_000 });
});
