import type { Page } from '@playwright/test';
import { expect, goTo, messageWith, placeOf, send, test } from './stories.js';

test.use({ organization: 'large' });

const showsNewest = (page: Page, text: string) => expect(page.getByRole('article').last()).toContainText(text);

test('reads, searches and writes among 10,000 people, 5,000 channels and 100,000 messages of a topic', async ({
  logIn,
  server,
}) => {
  const place = await placeOf(server, 'long', 'busy');
  const { messages } = await server.call('hamlet', 'GET', '/messages', {
    ...{ anchor: 'newest', num_before: 1, num_after: 0 },
    narrow: [
      { operator: 'channel', operand: 'busy' },
      { operator: 'topic', operand: 'long' },
    ],
  });
  const { page } = await logIn('hamlet', place);
  await expect(messageWith(page, 'Message 99999:')).toBeInViewport();
  await goTo(page, `${place}/near/${messages.at(-1).id - 49_999}`);
  await expect(messageWith(page, 'Message 50000:')).toBeInViewport();
  await page.getByRole('button', { name: 'Newest message' }).click();
  await expect(messageWith(page, 'Message 99999:')).toBeInViewport();

  await page.getByRole('button', { name: 'People', exact: true }).click();
  const panel = page.getByRole('complementary', { name: 'People' });
  await panel.getByRole('searchbox').fill('number 7777');
  await expect(panel.getByRole('listitem')).toHaveCount(1);
  await expect(panel.getByRole('listitem')).toContainText('Person Number 7777');

  // The state has a part of the channels; the others are found by name.
  const sidebar = page.getByRole('navigation', { name: 'Conversations' });
  const filter = page.getByRole('searchbox', { name: 'Filter' });
  await filter.fill('channel 4320');
  await expect(sidebar.getByRole('link', { name: 'channel 4320' })).toBeVisible();
  await filter.fill('');
  await page.keyboard.press('Control+k');
  await page.getByRole('dialog').getByRole('combobox').fill('channel 4319');
  await expect(page.getByRole('option', { name: /channel 4319/ })).toBeVisible();
  await page.keyboard.press('Escape');
  await sidebar.getByRole('link', { name: 'Browse channels' }).click();
  const channels = page.getByRole('main').getByRole('list', { name: 'Channels' }).getByRole('listitem');
  await expect(page.getByText('Search for a channel that is not listed.')).toBeVisible();
  await page.getByRole('searchbox', { name: 'Search channels' }).fill('channel 4321');
  await expect(channels).toHaveCount(1);
  await expect(channels).toContainText('channel 4321');

  await goTo(page, place);
  await send(page, 'First of two');
  await send(page, 'Second of two');
  await showsNewest(page, 'Second of two');
  await expect(messageWith(page, 'First of two')).toHaveCount(1);
  await page.reload();
  await showsNewest(page, 'Second of two');
  await expect(messageWith(page, 'of two')).toHaveCount(2);
});
