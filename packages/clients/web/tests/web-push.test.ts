import type { CDPSession, Page, Worker } from '@playwright/test';
import { TestBrowserPush } from '../../../testing/acceptance/src/testing/test-browser-push.js';
import { FULL_CHROMIUM } from './browsers.js';
import {
  chooseInMenu,
  expect,
  idOf,
  messageWith,
  type Person,
  type Server,
  startShop,
  test,
  violationsIn,
} from './stories.js';

test.use({ asksAboutNotifications: true, launchOptions: FULL_CHROMIUM });

/** Push service of the browser vendor. */
let vendor: TestBrowserPush;
test.beforeEach(async () => {
  vendor = new TestBrowserPush();
  await vendor.start();
});
test.afterEach(() => vendor.close());

let count = 0;

/** Replaces the browser's subscriptions, which require the vendor's push service. */
async function stubSubscriptions({ context }: Pick<Person, 'context'>): Promise<void> {
  const { endpoint, p256dh, auth } = vendor.subscription(`browser-${process.pid}-${count++}`);
  await context.grantPermissions(['notifications']);
  await context.addInitScript(
    ([address, keys]) => {
      const KEY = 'stub-subscription';
      const current = () => {
        const stored = sessionStorage.getItem(KEY);
        if (stored === null) return null;
        const { url, key } = JSON.parse(stored);
        return {
          endpoint: url,
          options: { applicationServerKey: Uint8Array.from(atob(key), (sign) => sign.charCodeAt(0)).buffer },
          toJSON: () => ({ endpoint: url, keys }),
          unsubscribe: async () => sessionStorage.removeItem(KEY),
        };
      };
      Object.assign(PushManager.prototype, {
        getSubscription: async () => current(),
        subscribe: async ({ applicationServerKey }: { applicationServerKey: string }) => {
          const n = Number(sessionStorage.getItem('stub-count') ?? 0) + 1;
          sessionStorage.setItem('stub-count', String(n));
          const key = applicationServerKey.replaceAll('-', '+').replaceAll('_', '/');
          sessionStorage.setItem(KEY, JSON.stringify({ url: `${address}-${n}`, key }));
          return current();
        },
      });
    },
    [endpoint, { p256dh, auth }] as const,
  );
}

const endpointsOf = async (server: Server, person: string): Promise<readonly string[]> =>
  (await server.call(person, 'GET', '/web_push/subscriptions')).endpoints;

/** Turns on notifications for closed pages with the prompt above the page. */
async function subscribe(server: Server, person: Person, name: string): Promise<Worker> {
  const { page, context } = person;
  await stubSubscriptions(person);
  await page.reload();
  const started = context.waitForEvent('serviceworker');
  const question = page.getByRole('region', { name: 'Notifications' });
  await question.getByRole('button', { name: 'Enable notifications' }).click();
  await expect(question).toHaveCount(0);
  await expect.poll(() => endpointsOf(server, name)).toHaveLength(1);
  return started;
}

/** Delivers push messages that the vendor received for the organization at this address, as the browser does. */
async function deliver(page: Page, { url }: Pick<Server, 'url'>, payload: object): Promise<void> {
  const session: CDPSession = await page.context().newCDPSession(page);
  const registered = new Promise<string>((resolve) => {
    session.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
      const found = registrations.find(({ scopeURL, isDeleted }) => scopeURL === `${url}/` && !isDeleted);
      if (found) resolve(found.registrationId);
    });
  });
  await session.send('ServiceWorker.enable');
  const registrationId = await registered;
  await session.send('ServiceWorker.deliverPushMessage', {
    origin: new URL(url).origin,
    registrationId,
    data: JSON.stringify(payload),
  });
  await session.detach();
}

interface Shown {
  readonly title: string;
  readonly body: string;
  readonly tag: string;
}

const shownBy = (worker: Worker): Promise<readonly Shown[]> =>
  worker.evaluate(async () => {
    const { registration } = self as unknown as { registration: ServiceWorkerRegistration };
    // If the list is read concurrently, Chromium omits a notification being shown.
    const shown = await navigator.locks.request('parley-notifications', () => registration.getNotifications());
    return shown.map(({ title, body, tag }) => ({ title, body, tag }));
  });

const tagsOf = async (worker: Worker): Promise<readonly string[]> =>
  (await shownBy(worker)).map(({ tag }) => tag).sort();

/** Sends a message to a person and returns its id. */
async function writeTo(server: Server, person: string, content: string): Promise<number> {
  const to = [await idOf(server, person)];
  return (await server.call('desdemona', 'POST', '/messages', { type: 'direct', to, content })).id;
}

/** Returns the worker's window calls after a click on its first notification. */
const click = (worker: Worker): Promise<{ readonly opened: readonly string[]; readonly focused: number }> =>
  worker.evaluate(async () => {
    const opened: string[] = [];
    let focused = 0;
    // Browsers allow both only after a user's click.
    const { registration, clients } = self as unknown as {
      registration: ServiceWorkerRegistration;
      clients: { openWindow(url: string): Promise<void> };
    };
    clients.openWindow = async (url) => void opened.push(url);
    const { WindowClient } = self as unknown as { WindowClient: { prototype: { focus(): Promise<void> } } };
    WindowClient.prototype.focus = async () => {
      focused++;
    };
    const [notification] = await registration.getNotifications();
    const { NotificationEvent } = self as unknown as {
      NotificationEvent: new (type: string, init: object) => Event;
    };
    self.dispatchEvent(new NotificationEvent('notificationclick', { notification }));
    while (opened.length + focused === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    return { opened, focused };
  });

test('notifies a person with a closed page, and opens the message on a click', async ({ server, logIn }) => {
  const person = await logIn('othello', '#inbox');
  const worker = await subscribe(server, person, 'othello');
  const page = await person.context.newPage();
  await person.page.close();
  await page.goto(`${server.url}/web/service-worker.js`);
  const id = await writeTo(server, 'othello', 'The **handkerchief**?');
  await expect.poll(() => vendor.received.length).toBe(1);
  await deliver(page, server, vendor.received[0]!.payload);
  const shown = { title: 'Desdemona', body: 'The handkerchief?', tag: `message-${id}` };
  await expect.poll(() => shownBy(worker)).toEqual([shown]);
  const { opened } = await click(worker);
  const desdemona = await idOf(server, 'desdemona');
  expect(opened).toEqual([`${server.url}/#narrow/dm/${desdemona}/near/${id}`]);
  await expect.poll(() => shownBy(worker)).toEqual([]);
  await page.goto(opened[0]!);
  await expect(messageWith(page, 'The handkerchief?')).toBeVisible();
});

test('closes notifications of messages read elsewhere when the next one arrives', async ({ server, logIn }) => {
  const person = await logIn('polonius', '#inbox');
  const worker = await subscribe(server, person, 'polonius');
  const page = await person.context.newPage();
  await person.page.close();
  await page.goto(`${server.url}/web/service-worker.js`);
  const arrive = async (content: string): Promise<number> => {
    const id = await writeTo(server, 'polonius', content);
    const received = () => vendor.received.find(({ payload }) => payload.message_id === id);
    await expect.poll(received).toBeDefined();
    await deliver(page, server, received()!.payload);
    await expect.poll(() => tagsOf(worker)).toContain(`message-${id}`);
    return id;
  };
  const [read, deleted, unread] = [await arrive('Brevity'), await arrive('is'), await arrive('the soul')];
  await server.call('polonius', 'POST', '/messages/flags', { messages: [read], op: 'add', flag: 'read' });
  await server.call('desdemona', 'DELETE', `/messages/${deleted}`);
  const next = await arrive('of wit');
  await expect.poll(() => tagsOf(worker)).toEqual([`message-${unread}`, `message-${next}`]);
});

test('shows one notification while a page is open, opens its message in the page, and closes it when read elsewhere', async ({
  server,
  logIn,
}) => {
  const person = await logIn('cordelia', '#inbox');
  const { page } = person;
  const worker = await subscribe(server, person, 'cordelia');
  const id = await writeTo(server, 'cordelia', 'Nothing, my lord');
  const tag = `message-${id}`;
  await expect.poll(() => shownBy(worker)).toMatchObject([{ title: 'Desdemona', body: 'Nothing, my lord', tag }]);
  await expect.poll(() => vendor.received.length).toBe(1);
  await deliver(page, server, vendor.received[0]!.payload);
  const second = await writeTo(server, 'cordelia', 'Nothing will come of nothing');
  await expect
    .poll(async () => (await shownBy(worker)).map((each) => each.tag).sort())
    .toEqual([tag, `message-${second}`]);
  await server.call('cordelia', 'POST', '/messages/flags', { messages: [second], op: 'add', flag: 'read' });
  await expect.poll(async () => (await shownBy(worker)).map((each) => each.tag)).toEqual([tag]);
  expect(await click(worker)).toEqual({ opened: [], focused: 1 });
  await expect(messageWith(page, 'Nothing, my lord')).toBeVisible();
  await expect.poll(() => shownBy(worker)).toEqual([]);
  // The conversation is now visible.
  const third = await writeTo(server, 'cordelia', 'Speak again');
  await expect.poll(() => vendor.received.map(({ payload }) => payload.message_id)).toContain(third);
  await deliver(page, server, vendor.received.find(({ payload }) => payload.message_id === third)!.payload);
  await deliver(page, server, { user_id: 0, time: 0, title: 'Test notification', body: '' });
  await expect.poll(() => shownBy(worker)).toEqual([{ title: 'Test notification', body: '', tag: '' }]);
});

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

test('notifies a person logged in by the host application, and closes messages read elsewhere', async ({ browser }) => {
  const shop = await startShop();
  const chat = { url: `${shop.url}/chat` };
  const logInAt = async (name: string) => {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(`${shop.url}/log-in/${name}`);
    return { context, page };
  };
  const [ann, ben] = [await logInAt('ann'), await logInAt('ben')];
  /** Calls the API with the cookie of the host application. */
  const call = (page: Page, method: string, path: string, params: Readonly<Record<string, unknown>> = {}) =>
    page.evaluate(
      async ([where, how, fields]) => {
        const body = how === 'GET' ? null : new URLSearchParams(fields);
        const response = await fetch(`/chat/api/v1${where}`, { method: how, body });
        if (!response.ok) throw new Error(await response.text());
        return response.json();
      },
      [path, method, Object.entries(params).map(([name, value]) => [name, textOf(value)])] as const,
    );
  try {
    await stubSubscriptions(ann);
    await ann.page.goto(`${chat.url}/`);
    const started = ann.context.waitForEvent('serviceworker');
    await ann.page.getByRole('button', { name: 'Enable notifications' }).click();
    const worker = await started;
    await expect.poll(async () => (await call(ann.page, 'GET', '/web_push/subscriptions')).endpoints).toHaveLength(1);
    const { user_id: annId } = await call(ann.page, 'GET', '/users/me');
    const page = await ann.context.newPage();
    await page.goto(`${chat.url}/web/service-worker.js`);
    await ann.page.close();
    const arrive = async (content: string): Promise<number> => {
      const { id } = await call(ben.page, 'POST', '/messages', { type: 'direct', to: [annId], content });
      const received = () => vendor.received.find(({ payload }) => payload.message_id === id);
      await expect.poll(received).toBeDefined();
      await deliver(page, chat, received()!.payload);
      await expect.poll(() => tagsOf(worker)).toContain(`message-${id}`);
      return id;
    };
    const read = await arrive('Your order was packed');
    await call(page, 'POST', '/messages/flags', { messages: [read], op: 'add', flag: 'read' });
    const next = await arrive('Your order was sent');
    await expect.poll(() => tagsOf(worker)).toEqual([`message-${next}`]);
    const { opened } = await click(worker);
    expect(opened).toEqual([expect.stringMatching(`^${chat.url}/#narrow/dm/\\d+/near/${next}$`)]);
    await page.goto(opened[0]!);
    await expect(messageWith(page, 'Your order was sent')).toBeVisible();
  } finally {
    await Promise.all([ann, ben].map(({ context }) => context.close()));
    await shop.end();
  }
});

test('ends the subscription and its notifications on logout', async ({ server, logIn }) => {
  const person = await logIn('hamlet', '#inbox');
  const { page } = person;
  const worker = await subscribe(server, person, 'hamlet');
  await writeTo(server, 'hamlet', 'Words, words');
  await expect.poll(() => shownBy(worker)).toHaveLength(1);
  await chooseInMenu(page, 'Log out');
  await expect(page.getByRole('button', { name: 'Log in' })).toBeVisible();
  expect(await endpointsOf(server, 'hamlet')).toEqual([]);
  await expect.poll(() => shownBy(worker)).toEqual([]);
  expect(await page.evaluate(() => sessionStorage.getItem('stub-subscription'))).toBeNull();
});

test("resubscribes when the server's key has changed", async ({ server, logIn }) => {
  const person = await logIn('prospero', '#inbox');
  const { page } = person;
  await subscribe(server, person, 'prospero');
  const [first] = await endpointsOf(server, 'prospero');
  await page.reload();
  await expect(page.getByRole('navigation', { name: 'Conversations' })).toBeAttached();
  expect(await endpointsOf(server, 'prospero')).toEqual([first]);
  await page.evaluate(() => {
    const stored = JSON.parse(sessionStorage.getItem('stub-subscription')!);
    sessionStorage.setItem('stub-subscription', JSON.stringify({ ...stored, key: btoa('another key') }));
  });
  await page.reload();
  await expect.poll(async () => (await endpointsOf(server, 'prospero')).at(-1)).not.toBe(first);
});

test('turns notifications for closed pages on and off in the device settings', async ({ server, logIn }) => {
  const person = await logIn('aaron', '#inbox');
  const { page } = person;
  await subscribe(server, person, 'aaron');
  await page.getByRole('button', { name: 'Notifications on this device' }).click();
  const dialog = page.getByRole('dialog', { name: 'Notifications on this device' });
  const choice = dialog.getByRole('checkbox', { name: 'Also notify me while the chat is closed' });
  await expect(choice).toBeChecked();
  expect(await violationsIn(page)).toEqual([]);
  await choice.click();
  await expect(choice).not.toBeChecked();
  await expect.poll(() => endpointsOf(server, 'aaron')).toEqual([]);
  await page.reload();
  await expect(page.getByRole('region', { name: 'Notifications' })).toHaveCount(0);
  await page.getByRole('button', { name: 'Notifications on this device' }).click();
  await choice.click();
  await expect(choice).toBeChecked();
  await expect.poll(() => endpointsOf(server, 'aaron')).toHaveLength(1);
  await page.evaluate(() => {
    PushManager.prototype.subscribe = () => Promise.reject(new DOMException('push service error', 'AbortError'));
  });
  await choice.click();
  await expect(choice).not.toBeChecked();
  await choice.click();
  await expect(dialog.getByRole('alert')).toHaveText('The push service of this browser cannot be reached.');
});

test('shows that the browser blocks notifications', async ({ server, logIn }) => {
  const { page } = await logIn('zoe', '#inbox');
  await page.addInitScript(() => Object.defineProperty(Notification, 'permission', { value: 'denied' }));
  await page.reload();
  await expect(page.getByRole('region', { name: 'Notifications' })).toHaveCount(0);
  await page.getByRole('button', { name: 'Notifications on this device' }).click();
  await expect(page.getByText('This browser blocks notifications.')).toBeVisible();
  expect(await endpointsOf(server, 'zoe')).toEqual([]);
});
