import { expect, messageWith, placeOf, post, test } from './stories.js';

test('receives messages by one stream', async ({ server, logIn }) => {
  const { page } = await logIn('hamlet', await placeOf(server, 'streamed'));
  await expect(page.getByRole('textbox', { name: 'Message' })).toBeVisible();
  await post(server, 'cordelia', 'streamed', 'first');
  await expect(messageWith(page, 'first')).toHaveCount(1);
  const requests: string[] = [];
  page.on('request', (request) => requests.push(new URL(request.url()).pathname));
  for (const content of ['second', 'third', 'fourth']) {
    await post(server, 'cordelia', 'streamed', content);
    await expect(messageWith(page, content)).toHaveCount(1);
  }
  expect(requests.filter((path) => path === '/json/events' || path === '/json/events/stream')).toEqual([]);
});

test('receives messages by polls behind a proxy that buffers streams', async ({ server, logIn }) => {
  const place = await placeOf(server, 'held-back');
  const { page, context } = await logIn('hamlet', place);
  // Neither response nor error.
  await context.route(/\/json\/events\/stream/, () => {});
  const polls: string[] = [];
  page.on('request', (request) => {
    const { pathname, searchParams } = new URL(request.url());
    if (pathname === '/json/events' && !searchParams.has('dont_block')) polls.push(pathname);
  });
  await page.reload();
  await expect(page.getByRole('textbox', { name: 'Message' })).toBeVisible();
  await expect.poll(() => polls.length, { timeout: 20_000 }).toBe(1);
  for (const content of ['by a poll', 'by another poll']) {
    await post(server, 'cordelia', 'held-back', content);
    await expect(messageWith(page, content)).toHaveCount(1);
  }
  await expect(page.getByText('No connection')).toHaveCount(0);
});
