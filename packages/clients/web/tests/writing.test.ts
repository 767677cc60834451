import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import {
  attachedFile,
  expect,
  messageWith,
  openPhone,
  placeOf,
  post,
  pressIn,
  send,
  test,
  violationsIn,
} from './stories.js';

const IMAGES = join(import.meta.dirname, '../../../../docs/images');

const fieldOf = (page: Page) => page.getByRole('textbox', { name: 'Message', exact: true });

test('shows which key sends, explains it once, and changes it next to Send', async ({ server, logIn }) => {
  // Other stories may leave another key.
  await server.call('zoe', 'PATCH', '/settings', { enter_sends: false });
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

test('inserts links, tables, polls and to-do lists, and enlarges the field', async ({ server, logIn }) => {
  const { page } = await logIn('hamlet', await placeOf(server, 'toolbar'));
  await page.setViewportSize({ width: 1600, height: 900 });
  const field = fieldOf(page);
  const tools = page.getByRole('toolbar', { name: 'Formatting' });
  const dialog = page.getByRole('dialog');
  await expect(tools.getByRole('button', { name: 'More formatting' })).toBeHidden();
  await field.fill('old words');
  await field.selectText();
  await tools.getByRole('button', { name: 'Strikethrough' }).click();
  await expect(field).toHaveValue('~~old words~~');
  await expect(tools.getByRole('button', { name: 'Create a poll' })).toBeDisabled();
  await field.fill('See ');
  await tools.getByRole('button', { name: 'Link' }).click();
  await dialog.getByRole('textbox', { name: 'Address' }).fill('example.com/a (b)');
  expect(await violationsIn(page)).toEqual([]);
  await dialog.getByRole('textbox', { name: 'Text' }).fill('the [site]');
  await dialog.getByRole('button', { name: 'Insert' }).click();
  await expect(field).toHaveValue('See [the (site)](https://example.com/a%20%28b%29)');
  await expect(field).toBeFocused();

  await field.fill('');
  await tools.getByRole('button', { name: 'Create a poll' }).click();
  await dialog.getByRole('textbox', { name: 'Question' }).fill('Lunch?');
  await dialog.getByRole('textbox', { name: 'Options' }).fill('Pie\n\nSoup');
  await dialog.getByRole('button', { name: 'Insert' }).click();
  await expect(field).toHaveValue('/poll Lunch?\nPie\nSoup');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await expect(messageWith(page, 'Lunch?')).toContainText('Soup');

  const height = async () => (await field.boundingBox())!.height;
  const before = await height();
  await tools.getByRole('button', { name: 'Enlarge the field' }).click();
  expect(await height()).toBeGreaterThan(before + 200);
  await tools.getByRole('button', { name: 'Table' }).click();
  await page.keyboard.type('Name');
  await expect(field).toHaveValue('| Name | Column |\n| --- | --- |\n|  |  |\n');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await expect(page.getByRole('columnheader', { name: 'Name' })).toBeVisible();
  expect(await height()).toBe(before);
});

test('has every formatting action in a menu on a phone, and cuts no button', async ({ server, browser, logIn }) => {
  const { context } = await logIn('hamlet');
  const page = await openPhone(browser, context);
  await page.goto(`${server.url}/${await placeOf(server, 'toolbar on a phone')}`);
  const field = fieldOf(page);
  const tools = page.getByRole('toolbar', { name: 'Formatting' });
  await field.fill('secret');
  await field.selectText();
  for (const button of await tools.getByRole('button').all()) {
    if (await button.isVisible()) await expect(button).toBeInViewport({ ratio: 1 });
  }
  for (const width of [320, 390]) {
    await page.setViewportSize({ width, height: 800 });
    const tops = await page
      .locator('form[part="composer"] button:visible')
      .evaluateAll((buttons) => buttons.map((button) => Math.round(button.getBoundingClientRect().top)));
    expect(new Set(tops).size).toBe(1);
  }
  await tools.getByRole('button', { name: 'More formatting' }).tap();
  expect(await violationsIn(page)).toEqual([]);
  await page.getByRole('menuitem', { name: 'Spoiler' }).tap();
  await expect(field).toHaveValue('```spoiler \nsecret\n```');
  await expect(field).toBeFocused();
  await tools.getByRole('button', { name: 'More formatting' }).tap();
  await page.getByRole('menuitem', { name: 'Saved snippets' }).tap();
  await expect(page.getByRole('dialog', { name: 'Saved snippets' })).toBeVisible();
  await page.context().close();
});

test('has one tab stop for the formatting buttons, which arrow keys move between', async ({ server, logIn }) => {
  const { page } = await logIn('hamlet', await placeOf(server, 'toolbar-keys'));
  await page.setViewportSize({ width: 1600, height: 900 });
  const tools = page.getByRole('toolbar', { name: 'Formatting' });
  const button = (name: string) => tools.getByRole('button', { name, exact: true });
  await fieldOf(page).fill('Text');
  await page.keyboard.press('Tab');
  await expect(button('Attach files')).toBeFocused();
  await page.keyboard.press('ArrowRight');
  await expect(button('Insert emoji')).toBeFocused();
  await page.keyboard.press('End');
  await expect(button('Preview')).toBeFocused();
  await page.keyboard.press('ArrowRight');
  await expect(button('Attach files')).toBeFocused();
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowLeft');
  await expect(button('Enlarge the field')).toBeFocused();
  await page.keyboard.press('Home');
  await page.keyboard.press('Tab');
  await expect(tools.locator(':focus')).toHaveCount(0);
  await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('Shift+Tab');
  await expect(fieldOf(page)).toBeFocused();

  // A dialog returns the focus to its button, and disabled buttons are skipped.
  await page.keyboard.press('Tab');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('combobox', { name: 'Search emoji' })).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(button('Insert emoji')).toBeFocused();
  await fieldOf(page).fill('');
  await button('Insert emoji').focus();
  await page.keyboard.press('End');
  await expect(button('Enlarge the field')).toBeFocused();

  // Narrow columns move buttons into a menu.
  await page.setViewportSize({ width: 1040, height: 900 });
  await button('Add a call').focus();
  await page.keyboard.press('ArrowLeft');
  await expect(button('Code')).toBeFocused();
  await page.evaluate(() => {
    document.documentElement.dir = 'rtl';
  });
  await page.keyboard.press('ArrowLeft');
  await expect(button('Add a call')).toBeFocused();
});

test('edits with the tools of the composer', async ({ server, logIn }) => {
  const { page } = await logIn('hamlet', await placeOf(server, 'editor'));
  await send(page, 'To be edited');
  const row = messageWith(page, 'To be edited');
  await expect(row.locator('p').first()).toHaveCSS('font-size', '15px');
  await pressIn(row, { name: 'Edit', exact: true });
  const field = page.getByRole('textbox', { name: 'Edit message' });
  const tools = page.getByRole('article').getByRole('toolbar', { name: 'Formatting' });
  await expect(field).toHaveCSS('font-size', '15px');
  await field.selectText();
  await tools.getByRole('button', { name: 'Bold' }).click();
  await expect(field).toHaveValue('**To be edited**');
  await expect(tools.getByRole('button', { name: 'Create a poll' })).toHaveCount(0);
  await tools.getByRole('button', { name: 'Strikethrough' }).click();
  await expect(field).toHaveValue('**~~To be edited~~**');
  await page.keyboard.press('End');
  await tools.getByRole('button', { name: 'Insert emoji' }).click();
  await page.getByRole('combobox', { name: 'Search emoji' }).fill('tada');
  await page.getByRole('option', { name: ':tada:', exact: true }).click();
  await expect(field).toHaveValue('**~~To be edited~~**:tada: ');
  expect(await violationsIn(page)).toEqual([]);
  await tools.getByRole('button', { name: 'Preview' }).click();
  await expect(page.getByRole('article').locator('form strong')).toHaveText('To be edited');
  await tools.getByRole('button', { name: 'Edit', exact: true }).click();
  await expect(field).toBeFocused();
  await page.getByRole('article').getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('dialog', { name: 'Discard your changes?' }).getByRole('button', { name: 'Discard' }).click();
  await expect(field).toHaveCount(0);
  await expect(messageWith(page, 'To be edited')).toBeVisible();
});

test('shows the name, size and picture of an upload, and several pictures in a row', async ({ server, logIn }) => {
  const { page } = await logIn('hamlet', await placeOf(server, 'pictures'));
  const picture = (name: string, file: string) => ({
    name,
    mimeType: 'image/png',
    buffer: readFileSync(join(IMAGES, file)),
  });
  await fieldOf(page).fill('See');
  let release = () => {};
  const isReleased = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route('**/json/user_uploads', async (route) => {
    await isReleased;
    await route.continue();
  });
  await page
    .locator('input[type="file"]')
    .setInputFiles([picture('wide.png', 'web-client.png'), picture('second.png', 'web-client.png')]);
  const uploads = page.getByRole('list', { name: 'Uploads' });
  await expect(uploads.getByRole('listitem').first()).toContainText(/wide\.png.*\d+(\.\d)? kB/);
  const thumbnail = uploads.locator('img').first();
  await expect.poll(() => thumbnail.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBeGreaterThan(0);
  expect(await violationsIn(page)).toEqual([]);
  release();
  await expect(attachedFile(page, 'second.png')).toBeVisible();
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  const pictures = messageWith(page, 'See').locator('a[data-media] img');
  await expect(pictures).toHaveCount(2);
  await expect(messageWith(page, 'See').getByRole('link', { name: 'wide.png' }).first().locator('svg')).toHaveCount(0);
  const boxes = await pictures.evaluateAll((images) =>
    images.map((image) => {
      const { top, height } = image.getBoundingClientRect();
      return { top, height };
    }),
  );
  expect(boxes[0]).toEqual(boxes[1]);
  expect(boxes[0]!.height).toBe(160);
  await page
    .locator('input[type="file"]')
    .setInputFiles({ name: 'plan.pdf', mimeType: 'application/pdf', buffer: Buffer.alloc(2500, '%PDF') });
  await expect(attachedFile(page, 'plan.pdf')).toBeVisible();
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  const tile = page.getByRole('article').getByRole('link', { name: 'plan.pdf' });
  await expect(tile.locator('svg')).toBeVisible();
  await expect(tile).toHaveText('plan.pdf2.5 kB');
  expect(await violationsIn(page)).toEqual([]);
});

test('lists recently picked emoji first', async ({ server, logIn }) => {
  const { page } = await logIn('hamlet', await placeOf(server, 'recent-emoji'));
  const picker = page.getByRole('dialog', { name: 'Insert emoji' });
  const pick = async (name: string) => {
    await page.getByRole('button', { name: 'Insert emoji' }).click();
    await picker.getByRole('combobox', { name: 'Search emoji' }).fill(name);
    await picker.getByRole('option', { name: `:${name}:`, exact: true }).click();
    await expect(picker).toHaveCount(0);
  };
  await pick('octopus');
  await pick('rocket');
  await expect(fieldOf(page)).toHaveValue(':octopus: :rocket: ');
  await page.reload();
  await page.getByRole('button', { name: 'Insert emoji' }).click();
  await expect(picker.getByRole('option').first()).toHaveAccessibleName(':rocket:');
  await expect(picker.getByRole('option').nth(1)).toHaveAccessibleName(':octopus:');
});

test('shows emoji by category, in a tab list with one tab stop', async ({ server, logIn }) => {
  const { page } = await logIn('hamlet', await placeOf(server, 'emoji-tabs'));
  await page.getByRole('button', { name: 'Insert emoji' }).click();
  const picker = page.getByRole('dialog', { name: 'Insert emoji' });
  const tab = (name: string) => picker.getByRole('tab', { name, exact: true });
  await expect(tab('All emoji, recent ones first')).toHaveAttribute('aria-selected', 'true');
  await expect(picker.getByRole('combobox', { name: 'Search emoji' })).toBeFocused();
  await page.keyboard.press('Tab');
  await page.keyboard.press('ArrowRight');
  await expect(tab('Smileys')).toBeFocused();
  await expect(tab('Smileys')).toHaveAttribute('aria-selected', 'true');
  await expect(picker.getByRole('listbox').getByRole('option').first()).toHaveAccessibleName(':grinning:');
  await tab('Animals and nature').click();
  await expect(picker.getByRole('listbox').getByRole('option').first()).toHaveAccessibleName(':monkey_face:');
  await expect(picker.getByRole('listbox').getByRole('option', { name: ':grinning:', exact: true })).toHaveCount(0);
  expect(await violationsIn(page)).toEqual([]);
  await page.keyboard.press('Tab');
  await expect(picker.getByRole('listbox')).toBeFocused();
  await page.keyboard.press('ArrowRight');
  await expect(picker.getByRole('listbox').getByRole('option', { selected: true })).toHaveAccessibleName(':monkey:');
  await page.keyboard.press('Tab');
  await expect(picker.getByRole('combobox', { name: 'Skin tone' })).toBeFocused();
  await picker.getByRole('combobox', { name: 'Search emoji' }).fill('grinning');
  await expect(picker.getByRole('listbox').getByRole('option').first()).toHaveAccessibleName(':grinning:');
  await expect(picker.getByRole('tab', { selected: true })).toHaveCount(0);
});

test('finds emoji by German words, and shows their German names', async ({ browser, server, logIn }) => {
  const { context } = await logIn('prospero');
  const german = await browser.newContext({ locale: 'de-DE', storageState: await context.storageState() });
  const page = await german.newPage();
  await page.goto(`${server.url}/${await placeOf(server, 'emoji-words')}`);
  await page.getByRole('button', { name: 'Emoji einfügen' }).click();
  const picker = page.getByRole('dialog', { name: 'Emoji einfügen' });
  const search = picker.getByRole('combobox', { name: 'Emoji suchen' });
  await search.fill('böll');
  await expect(picker.getByRole('listbox').getByRole('option')).toHaveCount(1);
  await expect(picker.getByRole('status')).toHaveText(':tada: Konfettibombe');
  await search.fill('frankr');
  await expect(picker.getByRole('status')).toHaveText(':flag_france: Frankreich');
  await search.press('Enter');
  await expect(page.getByRole('textbox', { name: 'Nachricht', exact: true })).toHaveValue(':flag_france: ');
  await german.close();
});

test('inserts emoji in the skin tone remembered by this browser, only into texts', async ({ server, logIn }) => {
  const { page } = await logIn('othello', await placeOf(server, 'skin-tones'));
  const picker = page.getByRole('dialog', { name: 'Insert emoji' });
  const tone = picker.getByRole('combobox', { name: 'Skin tone' });
  await page.getByRole('button', { name: 'Insert emoji' }).click();
  await tone.selectOption('✋🏽');
  await picker.getByRole('listbox').getByRole('option', { name: ':+1:', exact: true }).click();
  await page.getByRole('button', { name: 'Insert emoji' }).click();
  await picker.getByRole('listbox').getByRole('option', { name: ':tada:', exact: true }).click();
  await expect(fieldOf(page)).toHaveValue('👍🏽 :tada: ');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await expect(messageWith(page, '👍🏽')).toBeVisible();
  await page.reload();
  // The row moves until the field is loaded.
  await expect(fieldOf(page)).toBeVisible();
  await pressIn(messageWith(page, '👍🏽'), { name: 'Add a reaction' });
  const reactions = page.getByRole('dialog', { name: 'Add a reaction' });
  await expect(reactions.getByRole('listbox').getByRole('option', { name: ':+1:', exact: true })).toHaveText('👍');
  await expect(reactions.getByRole('combobox', { name: 'Skin tone' })).toHaveCount(0);
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Insert emoji' }).click();
  await expect(picker.getByRole('listbox').getByRole('option', { name: ':+1:', exact: true })).toHaveText('👍🏽');
  await tone.selectOption('✋');
  await expect(picker.getByRole('listbox').getByRole('option', { name: ':+1:', exact: true })).toHaveText('👍');
});

test('continues and ends lists and quotes, surrounds selections and marks code with the keyboard', async ({
  server,
  logIn,
}) => {
  const { page } = await logIn('hamlet', await placeOf(server, 'line starts'));
  const field = page.getByRole('textbox', { name: 'Message' });
  await server.call('hamlet', 'PATCH', '/settings', { enter_sends: false });
  await field.focus();
  await page.keyboard.type('1. one\ntwo\n\n> said\n\nword');
  await expect(field).toHaveValue('1. one\n2. two\n> said\nword');
  await page.keyboard.press('Control+Shift+ArrowLeft');
  await page.keyboard.type('*');
  await expect(field).toHaveValue(/\n\*word\*$/);
  await page.keyboard.press('Control+z');
  await page.keyboard.press('End');
  await page.keyboard.press('Control+Shift+ArrowLeft');
  await page.keyboard.press('Control+Shift+c');
  await expect(field).toHaveValue(/\n`word`$/);
  await field.fill('```\n- one');
  await page.keyboard.press('Enter');
  await expect(field).toHaveValue('```\n- one\n');
});

test('attaches a text that is too long as a file', async ({ server, logIn }) => {
  const { page } = await logIn('hamlet', await placeOf(server, 'long text'));
  const field = page.getByRole('textbox', { name: 'Message' });
  await field.fill('word '.repeat(2100));
  const send = page.getByRole('button', { name: 'Send', exact: true });
  const gap = async () => {
    const [form, button] = await Promise.all([page.locator('form[part="composer"]').boundingBox(), send.boundingBox()]);
    return form!.x + form!.width - button!.x - button!.width;
  };
  for (const width of [1440, 868, 390]) {
    await page.setViewportSize({ width, height: 700 });
    await expect.poll(gap, `at ${width} pixels`).toBeLessThan(16);
  }
  await page.getByRole('button', { name: 'Attach as a file' }).click();
  await expect(field).toHaveValue('');
  await expect(page.getByRole('list', { name: 'Uploads' })).toContainText('Message.txt');
  await send.click();
  await expect(page.getByRole('article').getByRole('link', { name: 'Message.txt' })).toBeVisible();
});

test('names the keys of formatting on its buttons and in its menu', async ({ server, logIn }) => {
  const { page } = await logIn('hamlet', await placeOf(server, 'named keys'));
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  await expect(button('Bold')).toHaveAttribute('title', 'Bold (Ctrl+B)');
  await expect(button('Link')).toHaveAttribute('title', 'Link (Ctrl+Shift+L)');
  await expect(button('Preview')).toHaveAttribute('title', 'Preview (Alt+P)');
  await expect(button('Go to…')).toHaveAttribute('title', 'Go to… (Ctrl+K)');
  await page.setViewportSize({ width: 600, height: 700 });
  await button('More formatting').click();
  await expect(page.getByRole('menuitem', { name: 'Code' }).locator('kbd')).toHaveText('Ctrl+Shift+C');
});

test('completes a channel and starts its topics with >', async ({ server, logIn }) => {
  await post(server, 'hamlet', 'release notes', 'Known');
  const { page } = await logIn('hamlet', await placeOf(server, 'channel links'));
  const field = page.getByRole('textbox', { name: 'Message' });
  const options = page.getByRole('listbox', { name: 'Suggestions' }).getByRole('option');
  await field.pressSequentially('#vero');
  await expect(options.first()).toContainText('Verona');
  await page.keyboard.type('>');
  await expect(field).toHaveValue('#**Verona>');
  await expect(options.first()).toBeVisible();
  await page.keyboard.type('>release');
  await expect(field).toHaveValue('#**Verona>release');
  await expect(options.first()).toContainText('release notes');
  await field.fill('');
  await field.pressSequentially('a -> b');
  await expect(field).toHaveValue('a -> b');
});

test('suggests topics in the field of a new message, and keeps a typed one', async ({ server, logIn }) => {
  await post(server, 'hamlet', 'Sprint review', 'Known');
  const { page } = await logIn('hamlet', (await placeOf(server, 'any')).replace(/\/topic.*/, ''));
  const topic = page.getByRole('combobox', { name: 'Topic' });
  const options = page.getByRole('listbox', { name: 'Suggestions' }).getByRole('option');
  await topic.pressSequentially('sprint');
  await expect(options).toHaveText([/^sprint/, /^Sprint review/]);
  expect(await violationsIn(page)).toEqual([]);
  await page.keyboard.press('Enter');
  await expect(topic).toHaveValue('sprint');
  await expect(page.getByRole('textbox', { name: 'Message' })).toBeFocused();
  await topic.fill('spri');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await expect(topic).toHaveValue('Sprint review');
  await expect(options).toHaveCount(0);
});

test('keeps the Send button on the line of the tools at every width', async ({ server, logIn }) => {
  const { page } = await logIn('hamlet', await placeOf(server, 'send line'));
  const composer = page.locator('form[part="composer"]');
  const send = page.getByRole('button', { name: 'Send', exact: true });
  await page.getByRole('textbox', { name: 'Message' }).fill('x');
  const heightOf = async () => Math.round((await composer.boundingBox())!.height);
  await page.setViewportSize({ width: 1100, height: 700 });
  await expect(send).toBeVisible();
  const height = await heightOf();
  for (let width = 1104; width <= 1320; width += 4) {
    await page.setViewportSize({ width, height: 700 });
    await expect.poll(heightOf, `at ${width} pixels`).toBe(height);
    await expect(send).toBeVisible();
  }
});

test('marks quotes in the field while they are written', async ({ server, logIn }) => {
  const { page } = await logIn('hamlet', await placeOf(server, 'quoting'));
  const field = page.getByRole('textbox', { name: 'Message', exact: true });
  const quotes = page.locator('form[part="composer"] [data-quote]');
  /** Top and height of each mark within the text, in lines. */
  const marks = () =>
    quotes.evaluateAll((all) =>
      all.map((mark) => {
        const field = mark.closest('form')!.querySelector('textarea')!;
        const { lineHeight, paddingTop } = getComputedStyle(field);
        const { top, height } = mark.getBoundingClientRect();
        const start = field.getBoundingClientRect().top + Number.parseFloat(paddingTop) - field.scrollTop;
        return [top - start, height].map((pixels) => Math.round((10 * pixels) / Number.parseFloat(lineHeight)) / 10);
      }),
    );
  await field.fill('Words > no quote');
  await page.keyboard.press('Enter');
  await page.keyboard.type('> A quote');
  await page.keyboard.press('Enter');
  await page.keyboard.type('with two lines');
  await expect.poll(marks).toEqual([[1, 2]]);
  expect(await violationsIn(page)).toEqual([]);
  for (let n = 0; n < 3; n++) await page.keyboard.press('Enter');
  await page.keyboard.type('```quote\nOne\n```\nAnswer');
  await expect.poll(marks).toEqual([
    [1, 2],
    [4, 3],
  ]);
  // Long lines wrap as in the field, which scrolls.
  await page.setViewportSize({ width: 800, height: 500 });
  await field.fill(`${'words '.repeat(300)}\n> One\n${'more '.repeat(100)}`);
  const wrapped = await marks();
  expect(wrapped).toHaveLength(1);
  const height = await field.evaluate((it: HTMLTextAreaElement) => {
    const copy = it.cloneNode() as HTMLTextAreaElement;
    it.after(copy);
    copy.value = it.value.slice(0, it.value.indexOf('\n'));
    const { lineHeight, paddingTop, paddingBottom } = getComputedStyle(it);
    const padding = Number.parseFloat(paddingTop) + Number.parseFloat(paddingBottom);
    const lines = (copy.scrollHeight - padding) / Number.parseFloat(lineHeight);
    copy.remove();
    return Math.round(10 * lines) / 10;
  });
  expect(wrapped).toEqual([[height, 1]]);
  // Quotes are marked at the start of their text.
  for (const quote of ['> ציטוט', '```quote\nציטוט\n```', '```quote\n> ציטוט\nEnglish\n```', '~~~quote\n\nציטוט']) {
    await field.fill(`English\n\n${quote}`);
    await expect(quotes).toHaveText(`${quote}\u200b`, { useInnerText: true });
    await expect(quotes).toHaveCSS('border-right-width', '4px');
    await expect(quotes).toHaveCSS('border-left-width', '0px');
  }
  await field.fill('No quote');
  await expect(quotes).toHaveCount(0);
});
