import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Locator, Page } from '@playwright/test';
import {
  attachedFile,
  choose,
  expect,
  gate,
  goTo,
  idOf,
  messageWith,
  openPhone,
  placeOf,
  post,
  pressIn,
  send,
  test,
  violationsIn,
} from './stories.js';

const fieldOf = (page: Page) => page.getByRole('textbox', { name: 'Message' });
const options = (page: Page) => page.getByRole('listbox', { name: 'Suggestions' }).getByRole('option');

test('completes people by parts of their names with the keyboard, which can be undone', async ({ server, logIn }) => {
  const { page } = await logIn('hamlet', await placeOf(server, 'completion'));
  const field = fieldOf(page);
  await field.pressSequentially('Hello @cor');
  await expect(options(page)).toHaveCount(1);
  await expect(options(page)).toHaveAttribute('aria-selected', 'true');
  await expect(field).toHaveAttribute('aria-activedescendant', (await options(page).getAttribute('id'))!);
  expect(await violationsIn(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await expect(options(page)).toHaveCount(0);
  await expect(field).toBeFocused();
  await page.keyboard.type('d');
  await expect(options(page)).toHaveCount(0);
  await field.fill('');
  await field.pressSequentially('Hello @cor');
  await page.keyboard.press('Enter');
  await expect(field).toHaveValue(/^Hello @\*\*Cordelia[^*|]*\*\* $/);
  await page.keyboard.press('Control+z');
  await expect(field).toHaveValue('Hello @cor');
  // The browser selects the restored text.
  await page.keyboard.press('End');
  await page.keyboard.press('Tab');
  await page.keyboard.type('hi');
  await page.keyboard.press('Control+Enter');
  await expect(messageWith(page, '@Cordelia').getByText(/@Cordelia/)).toBeVisible();
});

test('navigates suggestions with the arrow keys and accepts one on a click', async ({ server, logIn }) => {
  const { page } = await logIn('hamlet', await placeOf(server, 'completion-keys'));
  const field = fieldOf(page);
  await field.pressSequentially('@');
  await expect(options(page).first()).toHaveAttribute('aria-selected', 'true');
  await page.keyboard.press('ArrowUp');
  await expect(options(page).last()).toHaveAttribute('aria-selected', 'true');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await expect(options(page).nth(1)).toHaveAttribute('aria-selected', 'true');
  await options(page).nth(2).click();
  await expect(field).toHaveValue(/^@\*+[^*]+\*+ $/);
  await expect(field).toBeFocused();
});

test('completes channels, topics and emoji', async ({ server, logIn }) => {
  await server.call('hamlet', 'POST', '/messages', {
    type: 'channel',
    to: 'Verona',
    topic: 'Sprint plan',
    content: 'Plan',
    read_by_sender: true,
  });
  const { page } = await logIn('hamlet', await placeOf(server, 'completion-links'));
  const field = fieldOf(page);
  await field.pressSequentially('#ver');
  await options(page).filter({ hasText: 'Verona' }).click();
  await expect(field).toHaveValue('#**Verona>');
  await expect(options(page).first()).toHaveText('Verona');
  await page.keyboard.press('Enter');
  await expect(field).toHaveValue('#**Verona** ');
  await page.keyboard.press('Control+z');
  await page.keyboard.press('End');
  await page.keyboard.type('pla');
  await expect(options(page).first()).toContainText('Sprint plan');
  await page.keyboard.press('Enter');
  await field.pressSequentially(':thu');
  await expect(options(page).first()).toContainText('👍');
  await page.keyboard.press('Enter');
  await expect(field).toHaveValue(/^#\*\*Verona>Sprint plan\*\* :[+\w]+: $/);
  await page.keyboard.press('Control+Enter');
  await expect(page.getByRole('link', { name: '#Verona > Sprint plan' })).toBeVisible();
});

test('completes by touch on a phone', async ({ server, browser, logIn }) => {
  const { context } = await logIn('hamlet');
  const page = await openPhone(browser, context);
  await page.goto(`${server.url}/${await placeOf(server, 'completion-touch')}`);
  await fieldOf(page).pressSequentially('@oth');
  await options(page).first().tap();
  await expect(fieldOf(page)).toHaveValue(/^@\*\*Othello[^*]*\*\* $/);
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
  await page.context().close();
});

/** Links to files in a message. */
const fileLinks = (message: Locator) => message.locator('a[href*="/user_uploads/"]');

const note = (name: string) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(`content of ${name}`) });

test('uploads several files and sends links to them in the order of their choice', async ({ server, logIn }) => {
  const { page } = await logIn('hamlet', await placeOf(server, 'uploads'));
  await fieldOf(page).fill('See');
  const chooser = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Attach files' }).click();
  await page.route('**/json/user_uploads', async (route) => {
    // The second file is uploaded before the first one.
    if (route.request().postData()?.includes('one.txt')) await page.waitForTimeout(1000);
    await route.continue();
  });
  await (await chooser).setFiles([note('one.txt'), note('two [draft].txt')]);
  await expect(attachedFile(page, 'two [draft].txt')).toBeVisible();
  await expect(page.getByRole('list', { name: 'Uploads' }).getByRole('listitem')).toHaveText([
    /^one\.txt.*\d bytes$/,
    /^two \[draft\]\.txt.*\d bytes$/,
  ]);
  expect(await violationsIn(page)).toEqual([]);
  await expect(fieldOf(page)).toHaveValue('See');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await expect(fileLinks(messageWith(page, 'See'))).toHaveText([/one\.txt/, /two \(draft\)\.txt/]);
  await expect(page.getByRole('list', { name: 'Uploads' })).toHaveCount(0);
});

test('sends the files of a poll in a message before it', async ({ server, logIn }) => {
  const { page } = await logIn('hamlet', await placeOf(server, 'uploads-poll'));
  await fieldOf(page).fill('/poll Which?\nRed\nBlue');
  await page.locator('input[type="file"]').setInputFiles(note('colors.txt'));
  await expect(attachedFile(page, 'colors.txt')).toBeVisible();
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  const messages = page.getByRole('article');
  await expect(messages).toHaveCount(2);
  await expect(fileLinks(messages.first())).toHaveText(/colors\.txt/);
  await expect(messages.last()).toContainText('Which?');
  await expect(messages.last().getByRole('listitem')).toHaveText([/Red/, /Blue/]);
  await expect(page.getByRole('list', { name: 'Uploads' })).toHaveCount(0);
});

test('schedules the files of a poll once if the server rejects the poll twice', async ({ server, logIn }) => {
  const { page } = await logIn('hamlet', await placeOf(server, 'uploads-poll-later'));
  const field = page.getByRole('textbox', { name: 'Message', exact: true, includeHidden: true });
  const uploads = page.getByRole('list', { name: 'Uploads', includeHidden: true });
  await field.fill('/poll Which?\nRed\nBlue');
  await page.locator('input[type="file"]').setInputFiles(note('colors.txt'));
  await expect(attachedFile(page, 'colors.txt')).toBeVisible();
  let calls = 0;
  await page.route('**/json/scheduled_messages', (route) => {
    const isRejected = [2, 3].includes(++calls);
    return isRejected ? route.fulfill({ status: 400, json: { result: 'error', msg: 'Rejected' } }) : route.continue();
  });
  const dialog = page.getByRole('dialog');
  const schedule = dialog.getByRole('button', { name: 'Schedule' });
  const rejectedCall = async (count: number) => {
    await schedule.click();
    await expect.poll(() => calls).toBe(count);
    await expect(dialog.getByRole('alert')).toBeVisible();
  };
  await page.getByRole('button', { name: 'Send later' }).click();
  await rejectedCall(2);
  await expect(uploads).toHaveCount(0);
  await expect(field).toHaveValue('/poll Which?\nRed\nBlue');
  await rejectedCall(3);
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Send later' }).click();
  await schedule.click();
  await expect(dialog).toHaveCount(0);
  await expect(field).toHaveValue('');
  const { scheduled_messages: scheduled } = await server.call('hamlet', 'GET', '/scheduled_messages');
  const contents = scheduled
    .filter(({ topic }: { topic: string }) => topic === 'uploads-poll-later')
    .map(({ content }: { content: string }) => content);
  expect(contents).toEqual([expect.stringMatching(/^\[colors\.txt\]\(.*\)$/), '/poll Which?\nRed\nBlue']);
});

test('keeps only the poll in the field if its files fill the queue of waiting messages', async ({ server, logIn }) => {
  const { page, context } = await logIn('hamlet', await placeOf(server, 'uploads-poll-waiting'));
  const { url } = (await server.upload('hamlet', '/user_uploads', 'hues.txt', Buffer.from('hues'))) as { url: string };
  await context.setOffline(true);
  await fieldOf(page).focus();
  await page.evaluate(async () => {
    const form = document.activeElement!.closest('form')!;
    for (let i = 1; i < 100; i++) {
      document.execCommand('insertText', false, `Waiting ${i}`);
      await new Promise((resolve) => setTimeout(resolve));
      form.requestSubmit();
      await new Promise((resolve) => setTimeout(resolve));
    }
  });
  await send(page, `/poll Which hue?\nRed\n\n[hues.txt](${url})`);
  await expect(page.getByText('Too many messages')).toBeVisible();
  await expect(fieldOf(page)).toHaveValue('/poll Which hue?\nRed');
  await context.setOffline(false);
  await expect(fileLinks(messageWith(page, 'hues.txt'))).toHaveCount(1);
});

test('keeps uploaded files with the draft and in edited messages, until they are removed', async ({
  server,
  logIn,
}) => {
  const { page } = await logIn('hamlet', await placeOf(server, 'uploads-kept'));
  const uploads = page.getByRole('list', { name: 'Uploads' });
  const remove = (name: string) => page.getByRole('button', { name: `Remove ${name}` });
  await fieldOf(page).fill('See');
  await page.locator('input[type="file"]').setInputFiles([note('one.txt'), note('two.txt'), note('three.txt')]);
  await expect(attachedFile(page, 'three.txt')).toBeVisible();
  await remove('one.txt').focus();
  await page.keyboard.press('Enter');
  await expect(uploads.getByRole('listitem')).toHaveCount(2);
  await expect(page.getByText('one.txt: Removed')).toBeAttached();
  await expect(remove('two.txt')).toBeFocused();
  await page.reload();
  await expect(uploads.getByRole('listitem')).toHaveText(['two.txt18 bytes', 'three.txt20 bytes']);
  await expect(fieldOf(page)).toHaveValue('See');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  const sent = messageWith(page, 'See');
  await expect(fileLinks(sent)).toHaveText([/two\.txt/, /three\.txt/]);
  await pressIn(sent, { name: 'Edit', exact: true });
  const field = page.getByRole('textbox', { name: 'Edit message' });
  await expect(field).toHaveValue('See');
  await remove('two.txt').click();
  await expect(remove('three.txt')).toBeFocused();
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(fileLinks(sent)).toHaveText([/three\.txt/]);
});

test('shows the stored picture of an uploaded file after a reload', async ({ server, logIn }) => {
  const { page } = await logIn('hamlet', await placeOf(server, 'uploads-stored'));
  const buffer = readFileSync(join(import.meta.dirname, '../../../../docs/images/web-client.png'));
  await page.locator('input[type="file"]').setInputFiles({ name: 'wide.png', mimeType: 'image/png', buffer });
  await expect(attachedFile(page, 'wide.png')).toBeVisible();
  await page.reload();
  const picture = page.getByRole('list', { name: 'Uploads' }).locator('img');
  await expect.poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBeGreaterThan(0);
  await page.getByRole('button', { name: 'Remove wide.png' }).click();
  await expect(fieldOf(page)).toBeFocused();
});

test('shows upload progress, and why a file was rejected until it is sent again', async ({ server, logIn }) => {
  const { page } = await logIn('hamlet', await placeOf(server, 'uploads-refused'));
  let answer = () => {};
  const isAnswered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await page.route('**/json/user_uploads', async (route) => {
    await isAnswered;
    await route.fulfill({
      status: 400,
      json: { result: 'error', msg: 'Upload would exceed your quota', code: 'BAD_REQUEST' },
    });
  });
  await fieldOf(page).fill('Text');
  const chooser = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Attach files' }).click();
  await (await chooser).setFiles([note('refused.txt')]);
  await expect(page.getByRole('progressbar', { name: 'Uploading refused.txt' })).toBeVisible();
  await expect(page.getByRole('button', { name: 'Send', exact: true })).toBeDisabled();
  expect(await violationsIn(page)).toEqual([]);
  answer();
  await expect(page.getByRole('alert')).toContainText('Upload would exceed your quota');
  expect(await violationsIn(page)).toEqual([]);
  await page.unroute('**/json/user_uploads');
  await page.getByRole('button', { name: 'Try refused.txt again' }).click();
  await expect(attachedFile(page, 'refused.txt')).toBeVisible();
});

test('sends a small file once the connection is back', async ({ server, logIn }) => {
  const { page, context } = await logIn('hamlet', await placeOf(server, 'uploads-offline'));
  await expect(fieldOf(page)).toBeVisible();
  await context.setOffline(true);
  const chooser = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Attach files' }).click();
  await (await chooser).setFiles([note('later.txt')]);
  await expect(page.getByText('No connection since')).toBeVisible();
  await expect(page.getByRole('alert')).toHaveCount(0);
  await context.setOffline(false);
  await expect(attachedFile(page, 'later.txt')).toBeVisible();
});

for (const kind of ['paste', 'drop'] as const) {
  test(`uploads files by ${kind}`, async ({ server, logIn }) => {
    const { page } = await logIn('hamlet', await placeOf(server, `uploads-${kind}`));
    await fieldOf(page).evaluate((field, type) => {
      const data = new DataTransfer();
      data.items.add(new File(['content'], `${type}.txt`, { type: 'text/plain' }));
      const options = { bubbles: true, cancelable: true };
      field.dispatchEvent(
        type === 'paste'
          ? new ClipboardEvent('paste', { ...options, clipboardData: data })
          : new DragEvent('drop', { ...options, dataTransfer: data }),
      );
    }, kind);
    await expect(attachedFile(page, `${kind}.txt`)).toBeVisible();
  });
}

const LARGE = { name: 'film.bin', mimeType: 'application/octet-stream', buffer: Buffer.alloc(6 * 1024 * 1024, 7) };

test('resumes a large file after a lost connection', async ({ server, logIn }) => {
  const { page, context } = await logIn('hamlet', await placeOf(server, 'uploads-resumed'));
  let parts = 0;
  const offsets: string[] = [];
  await page.route('**/json/tus/**', async (route) => {
    if (route.request().method() === 'PATCH') {
      parts++;
      offsets.push(route.request().headers()['upload-offset']!);
      if (parts === 2) {
        await context.setOffline(true);
        return route.abort('internetdisconnected');
      }
    }
    return route.continue();
  });
  await page.locator('input[type="file"]').setInputFiles(LARGE);
  await expect(page.getByText('Waiting for the connection')).toBeVisible();
  await context.setOffline(false);
  await expect(attachedFile(page, 'film.bin')).toBeVisible({ timeout: 60_000 });
  // Only the lost part was repeated.
  expect(offsets[0]).toBe('0');
  expect(Number(offsets[1])).toBeGreaterThan(0);
  expect(offsets[2]).toBe(offsets[1]);
});

test('resumes a large file that is chosen again after a reload', async ({ server, logIn }) => {
  const { page } = await logIn('hamlet', await placeOf(server, 'uploads-reloaded'));
  const folder = mkdtempSync(join(tmpdir(), 'parley-upload-'));
  const path = join(folder, 'tour.bin');
  writeFileSync(path, LARGE.buffer);
  let isLost = true;
  const offsets: string[] = [];
  await page.route('**/json/tus/**', async (route) => {
    if (route.request().method() !== 'PATCH') return route.continue();
    offsets.push(route.request().headers()['upload-offset']!);
    return isLost && offsets.length > 1 ? route.abort('internetdisconnected') : route.continue();
  });
  await page.locator('input[type="file"]').setInputFiles(path);
  await expect(page.getByText('Waiting for the connection')).toBeVisible();
  await page.reload();
  isLost = false;
  const before = offsets.length;
  await expect(fieldOf(page)).toBeVisible();
  await page.locator('input[type="file"]').setInputFiles(path);
  await expect(attachedFile(page, 'tour.bin')).toBeVisible({ timeout: 60_000 });
  expect(Number(offsets[before])).toBeGreaterThan(0);
  rmSync(folder, { recursive: true });
});

test('completes commands at the start of a message, and languages of code blocks', async ({ server, logIn }) => {
  const { page } = await logIn('hamlet', await placeOf(server, 'completion-words'));
  const field = fieldOf(page);
  await field.pressSequentially('/po');
  await expect(options(page)).toHaveText(/\/poll\s*Create a poll/);
  await page.keyboard.press('Enter');
  await expect(field).toHaveValue('/poll ');
  await field.fill('');
  await field.pressSequentially('```pyth');
  await expect(options(page)).toHaveText('python');
  await page.keyboard.press('Tab');
  await expect(field).toHaveValue('```python\n');
  await page.keyboard.press('Control+z');
  await expect(field).toHaveValue('```pyth');
});

test('warns before mentioning people who are not subscribed, many people, or guests', async ({ server, logIn }) => {
  const { user_id: guest } = await server.call('desdemona', 'POST', '/users', {
    ...{ email: 'yorick@zulip.com', password: 'pw-yorick@zulip.com', full_name: 'Yorick the Guest' },
  });
  await server.call('desdemona', 'PATCH', `/users/${guest}`, { role: 600 });
  const { user_id: outsider } = await server.call('desdemona', 'POST', '/users', {
    ...{ email: 'osric@zulip.com', password: 'pw-osric@zulip.com', full_name: 'Osric Outside' },
  });
  const { page } = await logIn('hamlet', await placeOf(server, 'warnings'));
  const field = fieldOf(page);
  await field.fill('@**Osric Outside** look');
  await expect(page.getByText('Osric Outside is not subscribed to this channel')).toBeVisible();
  expect(await violationsIn(page)).toEqual([]);
  await field.fill('@_**Osric Outside** said');
  await expect(page.getByText('Osric Outside is not subscribed to this channel')).toHaveCount(0);
  await field.fill('');
  await goTo(page, `#narrow/dm/${guest},${outsider}`);
  await expect(field).toBeVisible();
  await field.fill('Alas');
  await expect(page.getByText('Yorick the Guest is a guest.')).toBeVisible();
  await field.fill('');
});

test('sends a text to the destination shown when the button was pressed', async ({ server, logIn }) => {
  await post(server, 'iago', 'shown first', 'Begins');
  await post(server, 'iago', 'shown second', 'Begins too');
  const [first, second] = [await placeOf(server, 'shown first'), await placeOf(server, 'shown second')];
  const { page } = await logIn('othello', first);
  const field = page.getByRole('textbox', { name: 'Message' });
  const button = page.getByRole('button', { name: 'Send', exact: true });
  await field.fill('Written for the first');
  // The page shows the previous place until it receives the new address.
  await button.evaluate((element: HTMLElement, hash) => {
    location.assign(hash);
    element.click();
  }, second);
  await expect(messageWith(page, 'Begins too')).toBeVisible();
  await field.fill('Written for the second');
  await button.evaluate((element: HTMLElement, hash) => {
    element.click();
    location.assign(hash);
  }, first);
  await expect(messageWith(page, 'Written for the first')).toBeVisible();
  const textsIn = async (topic: string) => {
    const narrow = [
      { operator: 'channel', operand: 'Verona' },
      { operator: 'topic', operand: topic },
    ];
    const range = { anchor: 'newest', num_before: 10, num_after: 0, apply_markdown: false };
    const { messages } = await server.call('iago', 'GET', '/messages', { ...range, narrow });
    return messages.map(({ content }: { content: string }) => content);
  };
  await expect.poll(() => textsIn('shown first')).toEqual(['Begins', 'Written for the first']);
  await expect.poll(() => textsIn('shown second')).toEqual(['Begins too', 'Written for the second']);
});

test('removes bold and italic markers again', async ({ server, logIn }) => {
  const { page } = await logIn('hamlet', await placeOf(server, 'marks'));
  const field = page.getByRole('textbox', { name: 'Message' });
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
  await field.fill('word');
  await field.selectText();
  for (const [name, text] of [
    ['Bold', '**word**'],
    ['Italic', '***word***'],
    ['Bold', '*word*'],
    ['Italic', 'word'],
  ] as const) {
    await press(name);
    await expect(field).toHaveValue(text);
  }
  await field.fill('one **two** three');
  await field.evaluate((element: HTMLTextAreaElement) => element.setSelectionRange(4, 11));
  await page.keyboard.press('Control+b');
  await expect(field).toHaveValue('one two three');
  await page.keyboard.press('Control+i');
  await expect(field).toHaveValue('one *two* three');
});

test('removes list, quote and code markers again', async ({ server, logIn }) => {
  const { page } = await logIn('hamlet', await placeOf(server, 'marks of lines'));
  const field = page.getByRole('textbox', { name: 'Message' });
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
  for (const [name, before, after] of [
    ['List', 'one\ntwo', '* one\n* two'],
    ['Quote', 'one\n\ntwo', '> one\n> \n> two'],
    ['Code', 'one\ntwo', '```\none\ntwo\n```'],
    ['Code', 'one', '`one`'],
  ] as const) {
    await field.fill(before);
    await field.selectText();
    for (const text of [after, before, after]) {
      await press(name);
      await expect(field).toHaveValue(text);
    }
    await field.selectText();
    await press(name);
    await expect(field).toHaveValue(before);
  }
  // Without a selection, the line of the cursor changes, and the cursor keeps its position in the text.
  await field.fill('one\ntwo');
  await press('List');
  await expect(field).toHaveValue('one\n* two');
  await page.keyboard.type(' three');
  await expect(field).toHaveValue('one\n* two three');
  await press('List');
  await expect(field).toHaveValue('one\ntwo three');
  await field.fill('');
  await press('Code');
  await expect(field).toHaveValue('``');
  await press('Code');
  await expect(field).toHaveValue('');
});

test('edits a message with suggestions, formatting, files, a preview and the configured Enter key', async ({
  server,
  logIn,
}) => {
  const { page } = await logIn('zoe', await placeOf(server, 'editing'));
  await send(page, 'Before');
  const field = page.getByRole('textbox', { name: 'Edit message' });
  const begin = async (text: string) => {
    await pressIn(messageWith(page, text), { name: 'Edit', exact: true });
    await expect(field).toBeFocused();
  };
  await begin('Before');
  await page.keyboard.type(' @iag');
  const suggestions = page.getByRole('listbox', { name: 'Suggestions' });
  await expect(suggestions.getByRole('option')).toHaveText(['Iago']);
  await expect(suggestions).toBeInViewport();
  expect(await violationsIn(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await expect(suggestions).toHaveCount(0);
  await page.keyboard.type('o');
  await page.keyboard.press('Backspace');
  await page.keyboard.press('Backspace');
  await page.keyboard.type(' @iag');
  await page.keyboard.press('Enter');
  await expect(field).toHaveValue('Before @ia @**Iago** ');
  await field.fill('Before');
  await field.selectText();
  await page.keyboard.press('Control+b');
  await page.keyboard.press('Control+i');
  await page.keyboard.press('Control+b');
  await expect(field).toHaveValue('*Before*');
  await page.keyboard.press('End');
  await field.evaluate((element) => {
    const clipboardData = new DataTransfer();
    clipboardData.items.add(new File(['pasted'], 'pasted.txt'));
    element.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
  });
  await expect(attachedFile(page, 'pasted.txt')).toBeVisible();
  await field.evaluate((element) => {
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File(['dropped'], 'dropped.txt'));
    element.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
  });
  await expect(attachedFile(page, 'dropped.txt')).toBeVisible();
  await expect(field).toHaveValue('*Before*');
  await expect(page.getByRole('textbox', { name: 'Message', exact: true })).toHaveValue('');
  const editor = page.getByRole('article').locator('form');
  await editor.getByRole('button', { name: 'Preview' }).click();
  await expect(editor.locator('em')).toHaveText('Before');
  await editor.getByRole('button', { name: 'Edit' }).click();
  await field.fill('After');
  await page.keyboard.press('Enter');
  await expect(field).toHaveValue('After\n');
  await page.keyboard.press('Control+Enter');
  await expect(fileLinks(messageWith(page, 'After'))).toHaveText([/pasted\.txt/, /dropped\.txt/]);
  await expect(field).toHaveCount(0);
  await server.call('zoe', 'PATCH', '/settings', { enter_sends: true });
  await begin('After');
  await page.keyboard.type(' all');
  await page.keyboard.press('Shift+Enter');
  await page.keyboard.type('lines');
  await page.keyboard.press('Enter');
  await expect(field).toHaveCount(0);
  await expect(messageWith(page, 'After all')).toContainText('lines');
});

test('types into the field after files were chosen with its button', async ({ server, logIn }) => {
  const { page } = await logIn('hamlet', await placeOf(server, 'chosen files'));
  const chooser = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Attach files' }).press('Enter');
  await (await chooser).setFiles({ name: 'plan.txt', mimeType: 'text/plain', buffer: Buffer.from('Plan') });
  await expect(attachedFile(page, 'plan.txt')).toBeVisible();
  // These letters are shortcuts outside of the field.
  await page.keyboard.type('the plan');
  await expect(fieldOf(page)).toHaveValue('the plan');
});

test('returns from the tools and the preview to the field with Escape', async ({ server, logIn }) => {
  const { page } = await logIn('hamlet', await placeOf(server, 'escapes'));
  await send(page, 'Written');
  await fieldOf(page).fill('Seen before');
  const composer = page.locator('[part="composer"]');
  await composer.getByRole('button', { name: 'Preview' }).click();
  await expect(fieldOf(page)).toBeHidden();
  await page.keyboard.press('Escape');
  await expect(fieldOf(page)).toBeFocused();
  await pressIn(messageWith(page, 'Written'), { name: 'Edit', exact: true });
  const field = page.getByRole('textbox', { name: 'Edit message' });
  await expect(field).toBeFocused();
  await page.keyboard.press('Alt+p');
  await expect(field).toBeHidden();
  await page.keyboard.press('Escape');
  await expect(field).toBeFocused();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Escape');
  await expect(field).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(field).toHaveCount(0);
});

test('focuses a message after its field was saved or cancelled', async ({ server, logIn }) => {
  const { page } = await logIn('hamlet', await placeOf(server, 'edited keys'));
  await post(server, 'hamlet', 'edited keys', 'First');
  await post(server, 'hamlet', 'edited keys', 'Second');
  await expect(messageWith(page, 'Second')).toBeVisible();
  const row = (text: string) => page.locator('[data-key]').filter({ hasText: text });
  const field = page.getByRole('textbox', { name: 'Edit message' });
  await row('First').focus();
  for (const end of ['Control+Enter', 'Escape']) {
    await page.keyboard.press('e');
    await expect(field).toBeFocused();
    if (end !== 'Escape') await page.keyboard.type(' changed');
    await page.keyboard.press(end);
    await expect(row('First changed')).toBeFocused();
  }
  await page.keyboard.press('j');
  await expect(row('Second')).toBeFocused();
  await page.keyboard.press('e');
  await page.getByRole('button', { name: 'Cancel' }).press('Enter');
  await expect(row('Second')).toBeFocused();
  await page.keyboard.press('e');
  await expect(field).toBeFocused();
  await page.keyboard.type(' changed');
  await page.getByRole('button', { name: 'Save', exact: true }).press('Enter');
  await expect(row('Second changed')).toBeFocused();
});

test('edits the last message with an arrow key in the composer, none before one being sent, and returns to the composer', async ({
  server,
  logIn,
}) => {
  const { page } = await logIn('hamlet', await placeOf(server, 'edited from the composer'));
  await post(server, 'hamlet', 'edited from the composer', 'Sent before');
  const row = page.locator('[data-key]').filter({ hasText: 'Just sent' });
  const composer = page.getByRole('textbox', { name: 'Message', exact: true });
  const field = page.getByRole('textbox', { name: 'Edit message' });
  await expect(messageWith(page, 'Sent before')).toBeVisible();
  const gates = { sending: gate(), events: gate() };
  await page.route('**/json/messages', async (route) => {
    await gates.sending.opened;
    await route.continue();
  });
  await page.route(/\/json\/events/, async (route) => {
    await gates.events.opened;
    await route.continue();
  });
  await page.reload();
  const sent = page.waitForResponse('**/json/messages');
  await send(page, 'Just sent');
  await expect(row).toBeVisible();
  await expect(composer).toHaveValue('');
  await page.keyboard.press('ArrowUp');
  await expect(composer).toBeFocused();
  gates.sending.open();
  await (await sent).finished();
  await page.keyboard.press('ArrowUp');
  await expect(composer).toBeFocused();
  gates.events.open();
  await expect(async () => {
    await composer.press('ArrowUp');
    await expect(field).toHaveValue('Just sent', { timeout: 1000 });
  }).toPass();
  await page.keyboard.press('Escape');
  await expect(composer).toBeFocused();
  for (const end of ['Control+Enter', 'Escape', 'Discard']) {
    await page.keyboard.press('ArrowUp');
    await expect(field).toBeFocused();
    if (end !== 'Escape') await page.keyboard.type(' changed');
    if (end === 'Discard') {
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').getByRole('button', { name: 'Discard' }).press('Enter');
    } else await page.keyboard.press(end);
    await expect(field).toHaveCount(0);
    await expect(composer, end).toBeFocused();
  }
  await row.focus();
  await page.keyboard.press('e');
  await expect(field).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(row).toBeFocused();
});

test('returns from a preview to the focused field with its undo history', async ({ server, logIn }) => {
  const { page } = await logIn('hamlet', await placeOf(server, 'previewed'));
  const field = fieldOf(page);
  await field.click();
  await page.keyboard.type('one');
  await field.selectText();
  await page.keyboard.press('Control+b');
  await page.keyboard.press('Alt+p');
  await expect(page.locator('form strong').last()).toHaveText('one');
  await expect(field).toBeHidden();
  expect(await violationsIn(page)).toEqual([]);
  await page.keyboard.press('Alt+p');
  await expect(field).toBeFocused();
  await page.keyboard.press('Control+z');
  await expect(field).toHaveValue('one');
  await page.getByRole('button', { name: 'Preview' }).click();
  await expect(field).toBeHidden();
  await page.getByRole('button', { name: 'Italic' }).click();
  await expect(field).toBeFocused();
  await expect(field).toHaveValue('*one*');
  await page.getByRole('button', { name: 'Preview' }).click();
  await expect(page.locator('form em').last()).toHaveText('one');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await expect(messageWith(page, 'one').locator('em')).toBeVisible();
  await expect(field).toHaveValue('');
});

test('shows no preview that arrives after its text was changed or sent', async ({ server, logIn }) => {
  const { page } = await logIn('hamlet', await placeOf(server, 'late-preview'));
  let answer = () => {};
  await page.route('**/messages/render', async (route) => {
    await new Promise<void>((resolve) => {
      answer = resolve;
    });
    await route.continue();
  });
  const field = fieldOf(page);
  await field.fill('Sent before its preview');
  const rendered = page.waitForResponse('**/messages/render');
  await page.getByRole('button', { name: 'Preview' }).click();
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await expect(messageWith(page, 'Sent before its preview')).toBeVisible();
  answer();
  await (await rendered).finished();
  await field.click();
  await page.keyboard.type('The next one');
  await expect(field).toHaveValue('The next one');
});

test('adds a file uploaded during a preview before the text can be sent', async ({ server, logIn }) => {
  const { page } = await logIn('hamlet', await placeOf(server, 'previewed-file'));
  const field = fieldOf(page);
  await field.fill('See ');
  let finish = () => {};
  await page.route('**/user_uploads', async (route) => {
    await new Promise<void>((resolve) => {
      finish = resolve;
    });
    await route.continue();
  });
  await page
    .locator('input[type=file]')
    .setInputFiles({ name: 'play.txt', mimeType: 'text/plain', buffer: Buffer.from('x') });
  await page.getByRole('button', { name: 'Preview' }).click();
  await expect(field).toBeHidden();
  finish();
  await expect(attachedFile(page, 'play.txt')).toBeVisible();
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await expect(messageWith(page, 'See').getByRole('link', { name: 'play.txt' })).toBeVisible();
});

test('leaves the Enter key that ends a composition to the input method', async ({ server, logIn }) => {
  const { page } = await logIn('hamlet', await placeOf(server, 'composition'));
  const field = fieldOf(page);
  await field.fill('にほん');
  // Safari sends this key after the end of the composition.
  const press = (keyCode: number) =>
    field.evaluate(
      (element, code) =>
        element.dispatchEvent(
          new KeyboardEvent('keydown', { key: 'Enter', ctrlKey: true, bubbles: true, cancelable: true, keyCode: code }),
        ),
      keyCode,
    );
  await press(229);
  await expect(field).toHaveValue('にほん');
  await press(13);
  await expect(field).toHaveValue('');
});

test('moves a file to the cursor in the text, which can be undone', async ({ server, logIn }) => {
  const { page } = await logIn('hamlet', await placeOf(server, 'inserted-link'));
  const field = fieldOf(page);
  await field.click();
  await page.keyboard.type('See for more');
  await field.evaluate((element: HTMLTextAreaElement) => element.setSelectionRange(4, 4));
  const file = { name: 'play.txt', mimeType: 'text/plain', buffer: Buffer.from('x') };
  await page.locator('input[type=file]').setInputFiles(file);
  await attachedFile(page, 'play.txt').click();
  await expect(field).toHaveValue(/^See \[play\.txt\]\(.+\) for more$/);
  await expect(attachedFile(page, 'play.txt')).toHaveCount(0);
  await page.keyboard.press('Control+z');
  await expect(field).toHaveValue('See for more');
  await expect(attachedFile(page, 'play.txt')).toBeVisible();
  await page.keyboard.press('Control+Shift+z');
  await page.keyboard.type('twice ');
  await expect(field).toHaveValue(/^See \[play\.txt\]\(.+\) twice for more$/);
  await field.fill('');
});

test('rejects a message that is too long and shows by how much', async ({ server, logIn }) => {
  const { page } = await logIn('hamlet', await placeOf(server, 'long-edit'));
  await send(page, 'Short');
  await pressIn(messageWith(page, 'Short'), { name: 'Edit', exact: true });
  const field = page.getByRole('textbox', { name: 'Edit message' });
  await field.fill('x'.repeat(10_003));
  await expect(page.getByRole('alert')).toHaveText('3 characters too many');
  await expect(page.getByRole('button', { name: 'Save', exact: true })).toBeDisabled();
  await page.keyboard.press('Control+Enter');
  await expect(field).toBeVisible();
  for (let i = 0; i < 3; i++) await page.keyboard.press('Backspace');
  await page.keyboard.press('Control+Enter');
  await expect(field).toHaveCount(0);
  await expect(messageWith(page, 'x'.repeat(10_000))).toBeVisible();
});

test('counts links to files as characters of a message', async ({ server, logIn }) => {
  const { page } = await logIn('hamlet', await placeOf(server, 'long-with-file'));
  await page.locator('input[type=file]').setInputFiles(note('play.txt'));
  await expect(attachedFile(page, 'play.txt')).toBeVisible();
  await fieldOf(page).fill('x'.repeat(10_000));
  await expect(page.getByRole('alert')).toHaveText(/^\d\d characters too many$/);
  await expect(page.getByRole('button', { name: 'Send', exact: true })).toBeDisabled();
  await page.getByRole('button', { name: 'Remove play.txt' }).click();
  await expect(page.getByRole('button', { name: 'Send', exact: true })).toBeEnabled();
  await fieldOf(page).fill('');
});

test('asks before the page is closed during an upload', async ({ server, logIn }) => {
  const { page } = await logIn('hamlet', await placeOf(server, 'closed-early'));
  await page.route('**/user_uploads', () => {});
  const questions: string[] = [];
  page.on('dialog', (dialog) => {
    questions.push(dialog.type());
    void dialog.accept();
  });
  await fieldOf(page).fill('See ');
  const file = { name: 'play.txt', mimeType: 'text/plain', buffer: Buffer.from('x') };
  await page.locator('input[type=file]').setInputFiles(file);
  await expect(page.getByRole('progressbar')).toBeVisible();
  await page.reload();
  expect(questions).toEqual(['beforeunload']);
  await expect(fieldOf(page)).toHaveValue('See ');
  await page.reload();
  expect(questions).toEqual(['beforeunload']);
});

test('returns to the field after choosing an emoji by keyboard and after inserting a link', async ({
  server,
  logIn,
}) => {
  const { page } = await logIn('hamlet', await placeOf(server, 'going-on'));
  const field = fieldOf(page);
  await field.fill('Well ');
  await page.getByRole('button', { name: 'Insert emoji' }).click();
  await page.getByRole('combobox', { name: 'Search emoji' }).fill('tada');
  await expect(page.getByRole('option', { name: ':tada:', exact: true })).toBeVisible();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await expect(field).toBeFocused();
  await page.keyboard.type('done');
  await expect(field).toHaveValue('Well :tada: done');
  await field.selectText();
  await page.getByRole('button', { name: 'Link' }).click();
  await expect(page.getByRole('textbox', { name: 'Address' })).toBeFocused();
  await page.keyboard.type('example.com');
  await page.keyboard.press('Enter');
  await expect(field).toBeFocused();
  await expect(field).toHaveValue('[Well :tada: done](https://example.com)');
  await field.fill('');
  await page.keyboard.press('Control+Shift+l');
  await page.keyboard.type('name');
  await expect(field).toHaveValue('[name](https://)');
  await field.fill('');
});

test('forwards a message to a chosen conversation or a new topic', async ({ server, logIn }) => {
  const { id } = await server.call('desdemona', 'POST', '/channels/create', {
    name: 'orders only',
    subscribers: [await idOf(server, 'hamlet'), await idOf(server, 'desdemona')],
    can_send_message_group: { direct_members: [await idOf(server, 'desdemona')], direct_subgroups: [] },
  });
  await post(server, 'cordelia', 'forwarded', 'Pass it *on*');
  const { page } = await logIn('hamlet', await placeOf(server, 'forwarded'));
  await fieldOf(page).fill('My own words');
  const row = page.getByRole('listitem').filter({ hasText: 'Pass it' });
  const dialog = page.getByRole('dialog', { name: 'Forward message' });
  const field = dialog.getByRole('combobox');
  const found = dialog.getByRole('option');
  await row.focus();
  await page.keyboard.press('<');
  await expect(field).toBeFocused();
  expect(await violationsIn(page)).toEqual([]);
  await field.fill('orders');
  await expect(found).toHaveCount(0);
  await page.keyboard.press('Escape');
  await expect(row).toBeFocused();

  await page.keyboard.press('<');
  await field.fill('othello');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { level: 1 })).toContainText('Othello');
  await expect(page.locator('form[part="composer"]')).toContainText('To: Othello');
  const quote = /^@_\*\*Cordelia, Lear's daughter\|\d+\*\* \[said\]\(#narrow\/.*\):\n```quote\nPass it \*on\*\n```\n?$/;
  await expect(fieldOf(page)).toHaveValue(quote);
  await expect(fieldOf(page)).toBeFocused();
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await expect(messageWith(page, 'Pass it on')).toBeVisible();
  await page.goBack();
  await expect(fieldOf(page)).toHaveValue('My own words');

  await choose(page, 'Pass it on', 'Forward…');
  await field.fill('Denmark');
  await found.filter({ hasText: /^Denmark$/ }).click();
  const topic = page.getByRole('combobox', { name: 'Topic' });
  await expect(topic).toBeFocused();
  await topic.fill('from afar');
  await expect(page.locator('form[part="composer"]')).toContainText(/To:.*Denmark/);
  await expect(fieldOf(page)).toHaveValue(quote);
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await expect(page.getByRole('article').filter({ hasText: 'Pass it on' }).last()).toBeVisible();
  const { messages } = await server.call('hamlet', 'GET', '/messages', {
    narrow: [{ operator: 'topic', operand: 'from afar' }],
    anchor: 'newest',
    num_before: 1,
    num_after: 0,
    apply_markdown: false,
  });
  expect(messages[0]).toMatchObject({ content: expect.stringMatching(quote), display_recipient: 'Denmark' });
  await server.call('desdemona', 'DELETE', `/streams/${id}`);
});

test("appends a forwarded message to the text in the current conversation's field", async ({ server, logIn }) => {
  const { id: messageId } = await post(server, 'cordelia', 'forwarded here', 'Stay here');
  const { stream_id: id } = await server.call('hamlet', 'GET', '/get_stream_id', { stream: 'Verona' });
  const { page } = await logIn('hamlet', await placeOf(server, 'forwarded here'));
  const dialog = page.getByRole('dialog', { name: 'Forward message' });
  await fieldOf(page).fill('See:');
  await choose(page, 'Stay here', 'Forward…');
  await dialog.getByRole('combobox').fill('forwarded here');
  await page.keyboard.press('Enter');
  await expect(fieldOf(page)).toHaveValue(/^See:\n\n@_\*\*Cordelia.*Stay here\n```\n$/s);
  // The channel has unread messages from other stories.
  await goTo(page, `#narrow/channel/${id}-Verona/near/${messageId}`);
  const topic = page.getByRole('combobox', { name: 'Topic' });
  await topic.fill('half a topic');
  await choose(page, 'Stay here', 'Forward…');
  await dialog.getByRole('combobox').fill('Verona');
  await dialog
    .getByRole('option')
    .filter({ hasText: /^Verona$/ })
    .click();
  await expect(topic).toHaveValue('half a topic');
  await expect(fieldOf(page)).toHaveValue(/Stay here\n```\n$/);
});
