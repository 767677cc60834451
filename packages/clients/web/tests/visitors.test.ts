import type { Page } from '@playwright/test';
import { test as base, expect, goTo, messageWith, type Server, violationsIn } from './stories.js';

interface Museum {
  readonly channelId: number;
  readonly place: string;
  say(topic: string, content: string): Promise<void>;
}

async function openMuseum(server: Server): Promise<Museum> {
  await server.call('desdemona', 'PATCH', '/realm', { enable_spectator_access: true });
  await server.call('desdemona', 'POST', '/users/me/subscriptions', {
    subscriptions: [{ name: 'museum', description: 'Open to everybody' }],
    is_web_public: true,
    principals: [await idOf(server, 'hamlet')],
  });
  const { stream_id: channelId } = await server.call('hamlet', 'GET', '/get_stream_id', { stream: 'museum' });
  const say = (topic: string, content: string) =>
    server.call('hamlet', 'POST', '/messages', { type: 'channel', to: 'museum', topic, content });
  await say('halls', 'The old **paintings** hang here');
  await say('garden', 'Statues among trees');
  return { channelId, place: `#narrow/channel/${channelId}-museum/topic/halls`, say };
}

/** Shared by the stories, like their server. */
let opened: Museum | undefined;

const test = base.extend<{ museum: Museum; visit(hash?: string): Promise<Page> }>({
  museum: async ({ server }, use) => {
    opened ??= await openMuseum(server);
    await use(opened);
  },
  visit: async ({ browser, server, museum: _ }, use) => {
    const complaints: string[] = [];
    const context = await browser.newContext();
    await use(async (hash = '') => {
      const page = await context.newPage();
      page.on('pageerror', (error) => complaints.push(error.message));
      page.on('response', (response) => [401, 403].includes(response.status()) && complaints.push(response.url()));
      await page.goto(`${server.url}/${hash}`);
      await expect(page.getByRole('navigation', { name: 'Conversations' })).toBeAttached();
      return page;
    });
    await context.close();
    expect(complaints, 'errors and refused calls').toEqual([]);
  },
});

const idOf = async (server: Server, person: string): Promise<number> =>
  (await server.call(person, 'GET', '/users/me')).user_id;

/** Creates a web-public channel with a message. */
async function openChannel(server: Server, name: string, content: string): Promise<{ name: string; id: number }> {
  await server.call('desdemona', 'POST', '/users/me/subscriptions', { subscriptions: [{ name }], is_web_public: true });
  await server.call('desdemona', 'POST', '/messages', { type: 'channel', to: name, topic: 'hours', content });
  return { name, id: (await server.call('desdemona', 'GET', '/get_stream_id', { stream: name })).stream_id };
}

test('shows visitors web-public channels, their topics and messages, but no actions', async ({ visit, museum }) => {
  const page = await visit();
  await expect(page.getByText('Statues among trees')).toBeVisible();
  const sidebar = page.getByRole('navigation', { name: 'Conversations' });
  await sidebar.getByRole('link', { name: 'museum' }).click();
  await sidebar.getByRole('link', { name: 'halls' }).click();
  await expect(messageWith(page, 'The old paintings').locator('strong')).toHaveText('paintings');
  await expect(page.getByText('Statues among trees')).toHaveCount(0);
  await expect(page.getByRole('textbox', { name: 'Message' })).toHaveCount(0);
  await messageWith(page, 'The old paintings').hover();
  await expect(
    page.getByRole('button', { name: /reaction|Quote|Star|More actions|Channel actions|People/ }),
  ).toHaveCount(0);
  expect(await violationsIn(page)).toEqual([]);
  await page.getByRole('button', { name: 'King Hamlet' }).click();
  await expect(page.getByRole('dialog')).toContainText('View messages sent');
  await expect(page.getByRole('dialog')).not.toContainText('Send direct message');
  await page.keyboard.press('Escape');
  await page.getByRole('combobox', { name: 'Search' }).fill('paintings');
  await page.keyboard.press('Enter');
  await expect(messageWith(page, 'The old paintings')).toBeVisible();
  expect(museum.channelId).toBeGreaterThan(0);
});

test('leads visitors to the log-in page and back to the same place', async ({ visit, museum, server }) => {
  const page = await visit(museum.place);
  await expect(messageWith(page, 'The old paintings')).toBeVisible();
  await page.getByRole('main').getByRole('link', { name: 'Log in' }).click();
  await page.getByLabel('Email address').fill('hamlet@zulip.com');
  await page.getByLabel('Password').fill('pw-hamlet@zulip.com');
  await page.getByRole('button', { name: 'Log in' }).click();
  await expect(page).toHaveURL(`${server.url}/${museum.place}`);
  await expect(messageWith(page, 'The old paintings')).toBeVisible();
  await expect(page.getByRole('textbox', { name: 'Message' })).toBeVisible();
});

test('fetches new messages for visitors without polling for events', async ({ visit, museum }) => {
  const page = await visit();
  await page.clock.install();
  await page.reload();
  const polls: string[] = [];
  page.on('request', (request) => request.url().includes('/events') && polls.push(request.url()));
  await expect(page.getByText('Statues among trees')).toBeVisible();
  await museum.say('garden', 'A fountain was added');
  await expect(async () => {
    await page.clock.fastForward(61_000);
    await expect(messageWith(page, 'A fountain was added')).toBeVisible({ timeout: 3000 });
  }).toPass();
  expect(polls).toEqual([]);
});

test('shows visitors which pages require an account', async ({ visit }) => {
  const page = await visit('#inbox');
  const main = page.getByRole('main');
  await expect(main).toContainText('This page is for people with an account.');
  for (const hash of ['#settings/profile', '#drafts', '#narrow/is/starred', '#narrow/dm/9-iago']) {
    await goTo(page, hash);
    await expect(main).toContainText('This page is for people with an account.');
  }
  await goTo(page, '#nowhere');
  await expect(main).toContainText('There is no such page.');
  await expect(main).not.toContainText('account');
  await main.getByRole('link', { name: 'Combined feed' }).click();
  await expect(page.getByText('Statues among trees')).toBeVisible();
});

test('leads visitors on phones from a page that requires an account to the log-in page and back', async ({
  visit,
  server,
}) => {
  const page = await visit();
  await page.setViewportSize({ width: 360, height: 640 });
  await goTo(page, '#settings/profile');
  await page.getByRole('main').getByRole('link', { name: 'Log in' }).click();
  await page.getByLabel('Email address').fill('hamlet@zulip.com');
  await page.getByLabel('Password').fill('pw-hamlet@zulip.com');
  await page.getByRole('button', { name: 'Log in' }).click();
  await expect(page).toHaveURL(`${server.url}/#settings/profile`);
});

test('shows visitors that the current channel stopped being web-public', async ({ visit, server }) => {
  const { name, id } = await openChannel(server, 'exhibition', 'Open until Sunday');
  const page = await visit(`#narrow/channel/${id}/topic/hours`);
  await page.clock.install();
  await page.reload();
  await expect(messageWith(page, 'Open until Sunday')).toBeVisible();
  await server.call('desdemona', 'PATCH', `/streams/${id}`, { is_web_public: false });
  const main = page.getByRole('main');
  await expect(async () => {
    await page.clock.fastForward(61_000);
    await expect(main).toContainText('There is no channel at this address', { timeout: 3000 });
  }).toPass();
  await expect(page.getByRole('navigation').getByRole('link', { name })).toHaveCount(0);
  await main.getByRole('link', { name: 'Combined feed' }).click();
  await expect(page.getByText('Statues among trees')).toBeVisible();
  await expect(page.getByText('Open until Sunday')).toHaveCount(0);
});

test('leads visitors to the log-in page when the organization ends their access', async ({
  browser,
  server,
  museum,
}) => {
  const page = await browser.newPage();
  await page.clock.install();
  await page.goto(`${server.url}/${museum.place}`);
  await expect(messageWith(page, 'The old paintings')).toBeVisible();
  const allow = (enable_spectator_access: boolean) =>
    server.call('desdemona', 'PATCH', '/realm', { enable_spectator_access });
  await allow(false);
  try {
    const notice = page.getByRole('alert');
    await expect(async () => {
      await page.clock.fastForward(61_000);
      await expect(notice).toContainText('can no longer be read without an account', { timeout: 3000 });
    }).toPass();
    await expect(page.getByRole('main')).not.toContainText('could not be loaded');
    await notice.getByRole('link', { name: 'Log in' }).click();
    await expect(page).toHaveURL(/\/login\//);
    await page.getByLabel('Email address').fill('hamlet@zulip.com');
    await page.getByLabel('Password').fill('pw-hamlet@zulip.com');
    await page.getByRole('button', { name: 'Log in' }).click();
    await expect(page).toHaveURL(`${server.url}/${museum.place}`);
  } finally {
    await allow(true);
    await page.close();
  }
});

test('immediately shows visitors that a channel they open is no longer accessible', async ({ visit, server }) => {
  const { name, id } = await openChannel(server, 'closed cellar', 'Locked');
  const page = await visit();
  await expect(page.getByText('Locked')).toBeVisible();
  await server.call('desdemona', 'PATCH', `/streams/${id}`, { is_web_public: false });
  await page.getByRole('navigation').getByRole('link', { name }).click();
  await expect(page.getByRole('main')).toContainText('There is no channel at this address');
});
