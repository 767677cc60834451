import { expect, goTo, messageWith, openPhone, placeOf, post, test } from './stories.js';

test('marks an edited message in its first line', async ({ logIn, server }) => {
  const { id: first } = await post(server, 'iago', 'marks', 'Before the change');
  const { id: second } = await post(server, 'iago', 'marks', 'Directly below it');
  const { page } = await logIn('hamlet', await placeOf(server, 'marks'));
  const heightOf = async (text: string) => (await messageWith(page, text).first().boundingBox())!.height;
  const before = [await heightOf('Before the change'), await heightOf('Directly below it')];
  for (const id of [first, second]) {
    await server.call('iago', 'PATCH', `/messages/${id}`, { content: id === first ? 'Changed' : 'Changed below' });
  }
  await expect(messageWith(page, 'Changed below')).toContainText('edited');
  await expect(page.getByText('edited')).toHaveCount(2);
  expect([await heightOf('Changed'), await heightOf('Changed below')]).toEqual(before);
});

test('shows the buttons of a message below its text on a phone', async ({ browser, logIn, server }) => {
  await post(server, 'iago', 'buttons', 'Covered by nothing');
  const { context } = await logIn('hamlet');
  const page = await openPhone(browser, context);
  await page.goto(`${server.url}/${await placeOf(server, 'buttons')}`);
  await page.getByText('Covered by nothing').tap();
  const bar = messageWith(page, 'Covered by nothing').getByRole('toolbar');
  await expect(bar).toBeVisible();
  const text = (await page.getByText('Covered by nothing').boundingBox())!;
  expect((await bar.boundingBox())!.y).toBeGreaterThanOrEqual(text.y + text.height);
  const title = page.getByRole('heading', { level: 1 });
  for (const name of ['Verona', 'buttons']) await expect(title.getByText(name, { exact: true })).toBeInViewport();
  await page.context().close();
});

test('shows more messages in the compact density', async ({ logIn, server }) => {
  await post(server, 'iago', 'density', 'Of any height');
  const { page } = await logIn('zoe', await placeOf(server, 'density'));
  const height = async () => (await messageWith(page, 'Of any height').boundingBox())!.height;
  const comfortable = await height();
  await goTo(page, '#settings/preferences');
  await page.getByLabel('Density').selectOption({ label: 'Compact' });
  await expect(page.locator('html')).toHaveAttribute('data-compact');
  await goTo(page, await placeOf(server, 'density'));
  expect(await height()).toBeLessThan(comfortable - 8);
  await server.call('zoe', 'PATCH', '/settings', { web_line_height_percent: 140 });
  await expect.poll(height).toBe(comfortable);
});

test('shows initials of people without a picture in browsers that choose them', async ({ logIn, server }) => {
  await post(server, 'iago', 'initials', 'Signed');
  const { page } = await logIn('zoe', '#settings/preferences');
  await page.getByLabel('Show initials of people without a picture').check();
  await goTo(page, await placeOf(server, 'initials'));
  const side = messageWith(page, 'Signed').locator('[part="avatar"]');
  await expect(side).toHaveText('I');
  await page.reload();
  await expect(side).toHaveText('I');
  await goTo(page, '#settings/preferences');
  await page.getByLabel('Show initials of people without a picture').uncheck();
  await goTo(page, await placeOf(server, 'initials'));
  await expect(messageWith(page, 'Signed').locator('img[part="avatar"]')).toBeVisible();
});
