import { chooseInMenu, expect, idOf, messageWith, placeOf, post, send, test, untilStored } from './stories.js';

test('shows the last conversation after a reload before the server responds, and continues the same queue', async ({
  server,
  logIn,
}) => {
  await post(server, 'cordelia', 'cached', 'Written yesterday');
  const { page } = await logIn('hamlet', await placeOf(server, 'cached'));
  await expect(messageWith(page, 'Written yesterday')).toBeVisible();
  await untilStored(page, 'Written yesterday');
  const registers: string[] = [];
  page.on('request', (request) => request.url().includes('/register') && registers.push(request.url()));
  let answer = () => {};
  const isAnswered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await page.route('**/json/messages?*', async (route) => {
    await isAnswered;
    await route.continue();
  });
  await post(server, 'cordelia', 'cached', 'Written meanwhile');
  await page.reload();
  await expect(messageWith(page, 'Written yesterday')).toBeVisible();
  answer();
  await expect(messageWith(page, 'Written meanwhile')).toBeVisible();
  await expect(messageWith(page, 'Written yesterday')).toHaveCount(1);
  expect(registers).toEqual([]);
});

test("shows cached messages before the organization's state has loaded, and new messages afterwards", async ({
  server,
  logIn,
}) => {
  await post(server, 'cordelia', 'early', 'Shown without the state');
  const { page } = await logIn('hamlet', await placeOf(server, 'early'));
  await expect(messageWith(page, 'Shown without the state')).toBeVisible();
  await page.evaluate(async () => {
    for (const { name } of await indexedDB.databases()) indexedDB.deleteDatabase(name!);
  });
  let answer = () => {};
  const isAnswered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await page.route('**/json/register', async (route) => {
    await isAnswered;
    await route.continue();
  });
  await page.reload();
  await expect(messageWith(page, 'Shown without the state')).toContainText('Cordelia');
  await expect(page.getByRole('textbox', { name: 'Message' })).toHaveCount(0);
  await post(server, 'cordelia', 'early', 'Arrived before the queue');
  answer();
  await expect(messageWith(page, 'Arrived before the queue')).toHaveCount(1);
  await expect(page.getByRole('textbox', { name: 'Message' })).toBeVisible();
  await post(server, 'cordelia', 'early', 'Arrived by the queue');
  await expect(messageWith(page, 'Arrived by the queue')).toHaveCount(1);
});

test('sends a message once after a reload that interrupted it', async ({ server, logIn }) => {
  const { page } = await logIn('hamlet', await placeOf(server, 'interrupted'));
  await send(page, 'first');
  await expect(messageWith(page, 'first')).toHaveCount(1);
  // The server receives the message, but the page gets no response.
  let isLost = true;
  await page.route('**/json/messages', async (route) => {
    if (route.request().method() !== 'POST' || !isLost) return route.continue();
    await route.fetch();
    await route.abort();
  });
  await page.route(/\/json\/events/, (route) => (isLost ? route.abort() : route.continue()));
  // Ends the stream.
  await page.reload();
  await send(page, 'only once');
  await expect(messageWith(page, 'only once')).toBeVisible();
  await page.reload();
  isLost = false;
  await expect(messageWith(page, 'only once')).not.toHaveCount(0);
  await expect
    .poll(async () => {
      const { messages } = await server.call('hamlet', 'GET', '/messages', {
        anchor: 'newest',
        num_before: 10,
        num_after: 0,
        narrow: [{ operator: 'topic', operand: 'interrupted' }],
      });
      return messages.length;
    })
    .toBe(2);
  // Until the server recognizes it, the message may appear twice.
  await expect(page.getByText('Will be sent')).toHaveCount(0, { timeout: 30_000 });
  await expect(messageWith(page, 'only once')).toHaveCount(1, { timeout: 30_000 });
});

test('keeps rejected messages with their reason after a reload, to be resent or deleted', async ({ server, logIn }) => {
  const { page } = await logIn('hamlet', await placeOf(server, 'kept'));
  let isRefused = true;
  await page.route('**/json/messages', (route) =>
    isRefused && route.request().method() === 'POST'
      ? route.fulfill({ status: 400, json: { result: 'error', msg: 'Not today', code: 'BAD_REQUEST' } })
      : route.continue(),
  );
  await send(page, 'Please');
  await send(page, 'Or never');
  await expect(page.getByRole('alert')).toHaveText([/Not today/, /Not today/]);
  await page.reload();
  await expect(page.getByRole('alert')).toHaveText([/Not today/, /Not today/]);
  isRefused = false;
  await messageWith(page, 'Or never').getByRole('button', { name: 'Delete' }).click();
  await expect(messageWith(page, 'Or never')).toHaveCount(0);
  await messageWith(page, 'Please').getByRole('button', { name: 'Try again' }).click();
  await expect(page.getByRole('alert')).toHaveCount(0);
  await page.reload();
  await expect(messageWith(page, 'Please')).toHaveCount(1);
  await expect(messageWith(page, 'Or never')).toHaveCount(0);
});

test('shows no data of a person to the next one who logs in in the same browser', async ({ server, logIn }) => {
  await server.call('desdemona', 'POST', '/messages', {
    type: 'direct',
    to: [await idOf(server, 'hamlet')],
    content: 'For your eyes only',
  });
  const { page } = await logIn('hamlet', `#narrow/dm/${await idOf(server, 'desdemona')}`);
  await expect(messageWith(page, 'For your eyes only')).toBeVisible();
  await untilStored(page, 'For your eyes only');
  await chooseInMenu(page, 'Log out');
  await expect(page).toHaveURL(/login/);
  const rows = await page.evaluate(async () => {
    const [known] = await indexedDB.databases();
    const database = await new Promise<IDBDatabase>((resolve) => {
      const request = indexedDB.open(known!.name!);
      request.onsuccess = () => resolve(request.result);
    });
    const counts = [...database.objectStoreNames].map(
      (name) =>
        new Promise<number>((resolve) => {
          const request = database.transaction(name).objectStore(name).count();
          request.onsuccess = () => resolve(request.result);
        }),
    );
    return (await Promise.all(counts)).reduce((a, b) => a + b, 0);
  });
  expect(rows).toBe(0);
});

test('offers the new version after an upgrade, and loads it', async ({ server, logIn }) => {
  const { page } = await logIn('hamlet', await placeOf(server, 'upgraded'));
  await page.getByRole('textbox', { name: 'Message' }).fill('Written before the upgrade');
  await page.route(`${server.url}/`, async (route) => {
    // The page also sends requests while the server starts.
    const response = await route.fetch().catch(() => null);
    if (!response) return route.abort();
    await route.fulfill({ response, body: (await response.text()).replace(/index-[\w-]+\.js/, 'index-newer.js') });
  });
  await server.crash();
  const line = page.getByText('There is a new version of this page.');
  await expect(line).toBeVisible({ timeout: 30_000 });
  await page.unroute(`${server.url}/`);
  await page.getByRole('button', { name: 'Load it now' }).click();
  await expect(line).toBeHidden();
  await expect(page.getByRole('textbox', { name: 'Message' })).toHaveValue('Written before the upgrade');
});
