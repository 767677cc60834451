import type { Page } from '@playwright/test';
import { CLIPBOARDS, type Clipboard } from '../src/editor/testing/clipboards.js';
import { expect, placeOf, test } from './stories.js';

const fieldOf = (page: Page) => page.getByRole('textbox', { name: 'Message' });

/** Pastes into the focused field as a program's copy does. */
const paste = (page: Page, { html, text, mode }: Omit<Clipboard, 'name' | 'markdown'>) =>
  page.evaluate(
    ([html, text, mode]) => {
      const clipboardData = new DataTransfer();
      if (html) clipboardData.setData('text/html', html);
      clipboardData.setData('text/plain', text);
      if (mode) clipboardData.setData('vscode-editor-data', JSON.stringify({ version: 1, mode }));
      const event = new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true });
      // Scripts cannot trigger the browser's own paste.
      if (document.activeElement!.dispatchEvent(event)) document.execCommand('insertText', false, text);
    },
    [html, text, mode ?? ''] as const,
  );

test('pastes copies of office programs, editors and chats as Markdown', async ({ server, logIn }) => {
  const { page } = await logIn('hamlet', await placeOf(server, 'pasting'));
  const field = fieldOf(page);
  await field.focus();
  for (const { name, markdown, ...clipboard } of CLIPBOARDS) {
    await field.fill('');
    await paste(page, clipboard);
    await expect(field, name).toHaveValue(markdown);
  }
});

test('pastes from the clipboard with formatting, or without by Ctrl+Shift+V, and undoes a paste at once', async ({
  server,
  logIn,
}) => {
  const { page, context } = await logIn('hamlet', await placeOf(server, 'pasting-keys'));
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.evaluate(async () => {
    const html = '<p>Read <b>this</b>:</p><ul><li>One</li><li>Two</li></ul>';
    const blob = (text: string, type: string) => new Blob([text], { type });
    await navigator.clipboard.write([
      new ClipboardItem({
        'text/html': blob(html, 'text/html'),
        'text/plain': blob('Read this:\n• One\n• Two', 'text/plain'),
      }),
    ]);
  });
  const field = fieldOf(page);
  await field.fill('Before ');
  await page.keyboard.press('Control+v');
  await expect(field).toHaveValue('Before Read **this**:\n\n* One\n* Two');
  await page.keyboard.press('Control+z');
  await expect(field).toHaveValue('Before ');
  await page.keyboard.press('End');
  await page.keyboard.press('Control+Shift+v');
  await expect(field).toHaveValue('Before Read this:\n• One\n• Two');
  // Firefox passes formatted text here as well.
  await field.fill('');
  await page.keyboard.press('Control+Shift+v');
  await expect(field).toHaveValue('Read this:\n• One\n• Two');
  await field.selectText();
  await paste(page, { html: '<p>Read <b>this</b></p>', text: 'Read this' });
  await expect(field).toHaveValue('Read this');
  await field.fill('```\n');
  await page.keyboard.press('Control+v');
  await expect(field).toHaveValue('```\nRead this:\n• One\n• Two');
});

test('turns the selection into a link when an address is pasted', async ({ server, logIn }) => {
  const { page } = await logIn('hamlet', await placeOf(server, 'pasting-links'));
  const field = fieldOf(page);
  await field.fill('See guide');
  for (let i = 0; i < 'guide'.length; i++) await page.keyboard.press('Shift+ArrowLeft');
  await paste(page, { html: '', text: 'https://example.com/a_(b)' });
  await expect(field).toHaveValue('See [guide](https://example.com/a_%28b%29)');
  await page.keyboard.press('Control+z');
  await expect(field).toHaveValue('See guide');
});
