import type { Page } from '@playwright/test';
import { expect, idOf, messageWith, placeOf, post, test } from './stories.js';

/** Stand-in for the bridge of Zulip's desktop app. */
interface Recorded {
  readonly sent: readonly (readonly unknown[])[];
  readonly notifications: readonly { readonly title: string; readonly body: string; readonly tag: string }[];
  isIdle: boolean;
  fire(name: string, ...details: readonly unknown[]): void;
  click(): void;
}

type InApp = typeof globalThis & { app: Recorded };

/** Reloads the page as the app does, with the bridge available before the page's scripts. */
async function openInApp(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const listeners: [string, (...details: readonly unknown[]) => void][] = [];
    let dispatch: (type: string, init: object) => boolean = () => false;
    const app = {
      sent: [] as unknown[][],
      notifications: [] as object[],
      isIdle: false,
      fire: (name: string, ...details: readonly unknown[]) => {
        for (const [type, listener] of listeners) if (type === name) listener(...details);
      },
      click: () => dispatch('click', {}),
    };
    const bridge = {
      send_event: (...event: unknown[]) => app.sent.push(event) > 0,
      on_event: (name: string, listener: (...details: readonly unknown[]) => void) => listeners.push([name, listener]),
      new_notification: (title: string, options: object, send: typeof dispatch) => {
        app.notifications.push({ title, ...options });
        dispatch = send;
        return { title, close: () => {} };
      },
      get_idle_on_system: () => app.isIdle,
      get_last_active_on_system: () => Date.now(),
      set_send_notification_reply_message_supported: (isSupported: boolean) => app.sent.push(['reply', isSupported]),
    };
    Object.assign(window, { app, electron_bridge: bridge });
    Object.defineProperty(Notification, 'permission', { get: () => 'granted' });
  });
  await page.reload();
  // Sent once the page handles commands and shows notifications.
  await expect.poll(() => sentTo(page, 'reply')).toEqual(['reply', true]);
}

const sentTo = (page: Page, name: string): Promise<readonly unknown[]> =>
  page.evaluate((wanted) => (globalThis as InApp).app.sent.filter(([type]) => type === wanted).at(-1) ?? [], name);

const fire = (page: Page, ...event: readonly [string, ...unknown[]]): Promise<void> =>
  page.evaluate(([name, ...details]) => (globalThis as InApp).app.fire(name, ...details), event);

test('reports name, icon and unread count to the desktop app', async ({ server, logIn }) => {
  const { page } = await logIn('iago');
  await openInApp(page);
  await expect.poll(() => sentTo(page, 'realm_name')).toEqual(['realm_name', 'Zulip Dev']);
  const [, icon] = await sentTo(page, 'realm_icon_url');
  expect(icon).toContain(`${server.url}/user_avatars/`);
  expect((await fetch(String(icon))).status).toBe(200);
  const [, before] = await sentTo(page, 'total_unread_count');
  const usual = await page.locator('link[rel="icon"]').getAttribute('href');
  await server.call('hamlet', 'POST', '/messages', { type: 'direct', to: [await idOf(server, 'iago')], content: 'Hi' });
  await expect.poll(() => sentTo(page, 'total_unread_count')).toEqual(['total_unread_count', Number(before) + 1]);
  await expect(page).toHaveTitle(new RegExp(`^\\(${Number(before) + 1}\\) `));
  await expect(page.locator('link[rel="icon"]')).toHaveAttribute('href', /favicon-pms/);
  await page.goto(`${server.url}/#narrow/dm/${await idOf(server, 'hamlet')}`);
  await expect(messageWith(page, 'Hi')).toBeVisible();
  await expect(page.locator('link[rel="icon"]')).toHaveAttribute('href', server.url + usual);
});

test("handles the desktop app's menu commands", async ({ logIn }) => {
  const { page } = await logIn('cordelia');
  await openInApp(page);
  await fire(page, 'show-keyboard-shortcuts');
  await expect(page.getByRole('dialog', { name: 'Keyboard shortcuts' })).toBeVisible();
  await page.keyboard.press('Escape');
  await fire(page, 'show-notification-settings');
  await expect(page.getByRole('dialog', { name: 'Notifications on this device' })).toBeVisible();
  await page.keyboard.press('Escape');
  await fire(page, 'show-download-success', 'Download complete', 'report.pdf', 7);
  await expect(page.getByRole('status').filter({ hasText: 'Download complete: report.pdf' })).toBeVisible();
  await page.getByRole('button', { name: 'Show in folder' }).click();
  expect(await sentTo(page, 'show-downloaded-file-in-folder')).toEqual(['show-downloaded-file-in-folder', 7]);
  await fire(page, 'logout');
  await expect(page).toHaveURL(/\/login\//);
});

test("shows the desktop app's notifications and sends replies to them", async ({ server, logIn }) => {
  const { page } = await logIn('othello', await placeOf(server, 'elsewhere'));
  await openInApp(page);
  const { id } = await server.call('iago', 'POST', '/messages', {
    type: 'direct',
    to: [await idOf(server, 'othello')],
    content: 'A word with you',
  });
  await expect
    .poll(() => page.evaluate(() => (globalThis as InApp).app.notifications))
    .toMatchObject([{ title: 'Iago', body: 'A word with you', tag: String(id) }]);
  await page.evaluate(() => (globalThis as InApp).app.click());
  await expect(messageWith(page, 'A word with you')).toBeVisible();
  const place = await placeOf(server, 'reply from a notification');
  const { id: other } = await post(server, 'iago', 'reply from a notification', 'Are you there?');
  await page.goto(`${server.url}/${place}`);
  await expect(messageWith(page, 'Are you there?')).toBeVisible();
  await page.goto(`${server.url}/#inbox`);
  await fire(page, 'send_notification_reply_message', other, 'I am');
  await expect(messageWith(page, 'I am')).toHaveCount(1);
  expect(page.url()).toContain('reply.20from.20a.20notification');
});

test('reports the presence of a person who uses the computer outside the desktop app', async ({ server, logIn }) => {
  const { page } = await logIn('prospero');
  await page.addInitScript(() => Object.defineProperty(document, 'hasFocus', { value: () => false }));
  const reported = page.waitForRequest((request) => request.url().endsWith('/users/me/presence'));
  await openInApp(page);
  expect((await reported).postData()).toContain('status=active');
  const { presence } = await server.call('prospero', 'GET', `/users/${await idOf(server, 'prospero')}/presence`);
  expect(presence.aggregated.status).toBe('active');
});
