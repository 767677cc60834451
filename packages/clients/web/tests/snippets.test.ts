import type { Page } from '@playwright/test';
import { expect, placeOf, test, violationsIn } from './stories.js';

const open = (page: Page) => page.getByRole('button', { name: 'Saved snippets' }).click();

test('saves a snippet, inserts it, and follows changes from other windows', async ({ server, logIn }) => {
  const place = await placeOf(server, 'snippets-of-hamlet');
  const { page } = await logIn('hamlet', place);
  const other = await logIn('hamlet', place);
  const field = page.getByRole('textbox', { name: 'Message' });
  const dialog = page.getByRole('dialog');
  await field.fill('The rest is silence');
  await open(page);
  expect(await violationsIn(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'New snippet' }).click();
  await expect(dialog.getByRole('textbox', { name: 'Text' })).toHaveValue('The rest is silence');
  expect(await violationsIn(page)).toEqual([]);
  await dialog.getByRole('textbox', { name: 'Title' }).fill('Last words');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(dialog).toHaveCount(0);
  await expect(page.getByRole('status').getByText('Snippet saved')).toBeVisible();

  await open(other.page);
  const elsewhere = other.page.getByRole('dialog');
  await elsewhere.getByRole('button', { name: /^Last words/ }).click();
  await expect(other.page.getByRole('textbox', { name: 'Message' })).toHaveValue(/The rest is silence$/);
  await expect(other.page.getByRole('textbox', { name: 'Message' })).toBeFocused();

  await open(other.page);
  await open(page);
  await dialog.getByRole('listitem').filter({ hasText: 'Last words' }).getByRole('button', { name: 'Edit' }).click();
  await dialog.getByRole('textbox', { name: 'Title' }).fill('Very last words');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(elsewhere.getByRole('button', { name: /^Very last words/ })).toBeVisible();
  expect(await violationsIn(other.page)).toEqual([]);
  await open(page);
  await dialog.getByRole('listitem').filter({ hasText: 'Very last' }).getByRole('button', { name: 'Delete' }).click();
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await expect(elsewhere.getByRole('button', { name: /^Very last words/ })).toHaveCount(0);
});

test('edits snippets by keyboard, and keeps the text when another device has deleted them', async ({
  server,
  logIn,
}) => {
  const { saved_snippet_id: id } = await server.call('cordelia', 'POST', '/saved_snippets', {
    title: 'Nothing',
    content: 'Nothing, my lord',
  });
  const { page } = await logIn('cordelia', await placeOf(server, 'snippets-of-cordelia'));
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'Saved snippets' }).focus();
  await page.keyboard.press('Enter');
  await dialog.getByRole('listitem').filter({ hasText: 'Nothing' }).getByRole('button', { name: 'Edit' }).focus();
  await page.keyboard.press('Enter');
  await expect(dialog.getByRole('textbox', { name: 'Title' })).toBeFocused();
  await page.keyboard.type('!');
  await server.call('cordelia', 'DELETE', `/saved_snippets/${id}`);
  await page.keyboard.press('Enter');
  await expect(dialog.getByRole('alert')).toContainText(/does not exist|no longer exists/);
  await expect(dialog.getByRole('textbox', { name: 'Title' })).toHaveValue(/!/);
  await page.keyboard.press('Escape');
  await expect(page.getByRole('button', { name: 'Saved snippets' })).toBeFocused();
});
