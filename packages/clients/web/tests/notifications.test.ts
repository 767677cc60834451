import type { Page } from '@playwright/test';
import { FULL_CHROMIUM } from './browsers.js';
import { expect, idOf, messageWith, placeOf, post, test, violationsIn } from './stories.js';

test.use({ asksAboutNotifications: true, launchOptions: FULL_CHROMIUM });

interface Recorded {
  readonly title: string;
  readonly body: string;
}

/** Replaces the browser's notifications and sounds with recorders. */
async function record(page: Page, permission: NotificationPermission): Promise<void> {
  await page.addInitScript((given) => {
    const shown: object[] = [];
    let sounds = 0;
    class Stub {
      static permission = given;
      onclick: (() => void) | null = null;
      static async requestPermission() {
        Stub.permission = 'granted';
        return 'granted';
      }
      constructor(title: string, options: { body: string }) {
        shown.push({ title, body: options.body, click: () => this.onclick?.() });
      }
      close() {}
    }
    class Audio extends AudioContext {
      constructor() {
        super();
        sounds++;
      }
    }
    Object.assign(window, { Notification: Stub, AudioContext: Audio, recorded: { shown, sounds: () => sounds } });
  }, permission);
  // The page fetches subscriptions when notifications start, and prompts without permission.
  const begin = permission === 'granted' ? page.waitForResponse(/\/web_push\/subscriptions$/) : null;
  await Promise.all([begin, page.reload()]);
  await expect(page.getByRole('navigation', { name: 'Conversations' })).toBeAttached();
}

const shownIn = (page: Page): Promise<readonly Recorded[]> =>
  page.evaluate(() =>
    (window as unknown as { recorded: { shown: Recorded[] } }).recorded.shown.map((each) => ({
      ...each,
      click: undefined,
    })),
  );

test('notifies of a direct message with a sound, and opens it', async ({ server, logIn }) => {
  const { page } = await logIn('othello', '#inbox');
  await record(page, 'granted');
  const othello = await idOf(server, 'othello');
  await post(server, 'desdemona', 'background', 'Nobody in particular');
  await server.call('desdemona', 'POST', '/messages', {
    type: 'direct',
    to: [othello],
    content: 'The **scarf**?',
  });
  await expect.poll(() => shownIn(page)).toMatchObject([{ title: 'Desdemona', body: 'The scarf?' }]);
  expect(await page.evaluate(() => (window as unknown as { recorded: { sounds(): number } }).recorded.sounds())).toBe(
    1,
  );
  await page.evaluate(() =>
    (window as unknown as { recorded: { shown: { click(): void }[] } }).recorded.shown[0]!.click(),
  );
  const row = page.locator('[data-key][data-marked]');
  await expect(row).toContainText('The scarf?');
  await expect(row).toBeFocused();
  // The conversation is now visible.
  await server.call('desdemona', 'POST', '/messages', { type: 'direct', to: [othello], content: 'Where is it?' });
  await expect(messageWith(page, 'Where is it?')).toBeVisible();
  expect(await shownIn(page)).toHaveLength(1);
});

test('plays no sound if none is chosen, and shows no spoiler', async ({ server, logIn }) => {
  const { page } = await logIn('prospero', '#inbox');
  await record(page, 'granted');
  await server.call('prospero', 'PATCH', '/settings', { notification_sound: 'none' });
  const to = [await idOf(server, 'prospero')];
  await expect
    .poll(async () => (await server.call('prospero', 'POST', '/register')).user_settings.notification_sound)
    .toBe('none');
  const content = 'We are such stuff\n```spoiler As dreams\nare made on\n```';
  await server.call('desdemona', 'POST', '/messages', { type: 'direct', to, content });
  await expect.poll(() => shownIn(page)).toMatchObject([{ body: 'We are such stuff As dreams …' }]);
  expect(await page.evaluate(() => (window as unknown as { recorded: { sounds(): number } }).recorded.sounds())).toBe(
    0,
  );
});

test('shows the unread count configured by the user in the title', async ({ server, logIn }) => {
  const { page } = await logIn('zoe', '#inbox');
  const zoe = await idOf(server, 'zoe');
  await server.call('zoe', 'POST', '/mark_all_as_read');
  await expect(page).toHaveTitle(/^Inbox - Zulip Dev/);
  const { stream_id: channel } = await server.call('zoe', 'GET', '/get_stream_id', { stream: 'Verona' });
  await server.call('zoe', 'POST', '/user_topics', { stream_id: channel, topic: 'followed', visibility_policy: 3 });
  await post(server, 'desdemona', 'plain', 'One');
  await post(server, 'desdemona', 'followed', 'Two');
  await post(server, 'desdemona', 'mentioned', `@**|${zoe}**`);
  await server.call('desdemona', 'POST', '/messages', { type: 'direct', to: [zoe], content: 'Four' });
  await expect(page).toHaveTitle(/^\(4\) /);
  for (const [setting, title] of [
    [2, /^\(3\) /],
    [3, /^\(2\) /],
    [4, /^Inbox - Zulip Dev/],
  ] as const) {
    await server.call('zoe', 'PATCH', '/settings', { desktop_icon_count_display: setting });
    await expect(page).toHaveTitle(title);
  }
});

test('asks once for permission to show notifications', async ({ server, logIn }) => {
  const { page } = await logIn('hamlet', await placeOf(server, 'asking'));
  await record(page, 'default');
  const question = page.getByRole('region', { name: 'Notifications' });
  await expect(question).toBeVisible();
  expect(await violationsIn(page)).toEqual([]);
  await question.getByRole('button', { name: 'No', exact: true }).click();
  await expect(question).toHaveCount(0);
  await page.reload();
  await expect(page.getByRole('textbox', { name: 'Message' })).toBeVisible();
  await expect(question).toHaveCount(0);
});
