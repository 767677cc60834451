import type { Page } from '@playwright/test';
import { expect, messageWith, type Server, test, violationsIn } from './stories.js';

const placeOf = async (server: Server, topic: string): Promise<string> => {
  const { stream_id: id } = await server.call('hamlet', 'GET', '/get_stream_id', { stream: 'Verona' });
  return `#narrow/channel/${id}-Verona/topic/${topic}`;
};

const fieldOf = (page: Page) => page.getByRole('textbox', { name: 'Message', exact: true });

test('shows which key sends, explains it once, and changes it next to Send', async ({ server, logIn }) => {
  const { page } = await logIn('zoe', await placeOf(server, 'enter'));
  const field = fieldOf(page);
  const keys = page.getByRole('button', { name: 'Ctrl+Enter sends' });
  const sendButton = page.getByRole('button', { name: 'Send', exact: true });
  await expect(sendButton).toHaveAttribute('title', 'Send (Ctrl+Enter)');
  await field.pressSequentially('First');
  const hint = page.getByRole('status').filter({ hasText: 'Ctrl+Enter sends, Enter adds a line' });
  await expect(hint).toHaveCount(0);
  await field.press('Enter');
  await expect(hint).toBeVisible();
  expect(await violationsIn(page)).toEqual([]);
  await hint.getByRole('button', { name: 'Close' }).click();
  await field.press('Enter');
  await expect(hint).toHaveCount(0);

  await keys.click();
  await expect(page.getByRole('menuitemradio', { name: 'Ctrl+Enter sends, Enter adds a line' })).toBeChecked();
  expect(await violationsIn(page)).toEqual([]);
  await page.getByRole('menuitemradio', { name: 'Enter sends, Shift+Enter adds a line' }).click();
  await expect(page.getByRole('button', { name: 'Enter sends', exact: true })).toBeVisible();
  await expect(sendButton).toHaveAttribute('title', 'Send (Enter)');
  await field.fill('Sent by one key');
  await field.press('Enter');
  await expect(messageWith(page, 'Sent by one key')).toBeVisible();
  await page.reload();
  await expect(page.getByRole('button', { name: 'Enter sends', exact: true })).toBeVisible();
});

test('turns Enter into the key that sends from the hint', async ({ server, logIn }) => {
  const { page } = await logIn('prospero', await placeOf(server, 'enter-hint'));
  const field = fieldOf(page);
  await field.pressSequentially('Text');
  await field.press('Enter');
  await page.getByRole('button', { name: 'Send with Enter' }).click();
  await expect(page.getByRole('button', { name: 'Enter sends', exact: true })).toBeVisible();
  await expect(page.getByRole('button', { name: 'Send with Enter' })).toHaveCount(0);
  await field.press('Enter');
  await expect(messageWith(page, 'Text')).toBeVisible();
});
