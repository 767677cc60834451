import type { Page } from '@playwright/test';
import { expect, goTo, placeOf, post, type Server, test, violationsIn } from './stories.js';

const sidebarOf = (page: Page) => page.getByRole('navigation', { name: 'Conversations' });
const filterOf = (page: Page) => page.getByRole('searchbox', { name: 'Filter conversations' });

/** Phone and desktop widths. */
const LOOKS = [
  ['light', 1280],
  ['dark', 1280],
  ['light', 390],
  ['dark', 390],
] as const;

async function takePictures(page: Page, name: string, hasDialog = false): Promise<void> {
  if (!process.env.SCREENSHOTS) return;
  for (const [colorScheme, width] of LOOKS) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 800 });
    if (width < 720 && !hasDialog) await page.locator('main header button').first().click();
    await page.screenshot({ path: `${process.env.SCREENSHOTS}/sidebar-${name}-${colorScheme}-${width}.png` });
    if (width < 720 && !hasDialog) await page.getByRole('button', { name: 'Close' }).click();
  }
  await page.emulateMedia({ colorScheme: null });
  await page.setViewportSize({ width: 1280, height: 800 });
}

const createChannel = (server: Server, person: string, name: string) =>
  server.call(person, 'POST', '/users/me/subscriptions', { subscriptions: [{ name }] });

test('filters the sidebar by parts of names after q, and opens the first match with Enter', async ({
  server,
  logIn,
}) => {
  await post(server, 'prospero', 'island weather', 'A storm');
  const { page } = await logIn('prospero', '#inbox');
  const sidebar = sidebarOf(page);
  await expect(filterOf(page)).toBeVisible();
  await page.keyboard.press('q');
  await expect(filterOf(page)).toBeFocused();
  await page.keyboard.type('weather isl');
  await expect(sidebar.getByRole('link', { name: 'island weather' })).toBeVisible();
  await expect(sidebar.getByRole('link', { name: 'Inbox' })).toHaveCount(0);
  expect(await violationsIn(page)).toEqual([]);
  await takePictures(page, 'filter');
  await filterOf(page).fill('wether');
  await expect(sidebar.getByRole('link', { name: 'island weather' })).toBeVisible();
  await filterOf(page).fill('nothing like this');
  await expect(sidebar.getByText('Nothing found')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(filterOf(page)).toHaveValue('');
  await expect(sidebar.getByRole('link', { name: 'Inbox' })).toBeVisible();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await expect(sidebar.getByRole('link', { name: 'Recent conversations' })).toBeFocused();
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('ArrowUp');
  await expect(sidebar.locator('summary:focus')).toHaveText('Views');
  await page.keyboard.press('ArrowRight');
  await expect(sidebar.getByRole('button', { name: 'Choose views' })).toBeFocused();
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowUp');
  await expect(filterOf(page)).toBeFocused();
  await filterOf(page).fill('island');
  await sidebar.getByRole('link', { name: 'island weather' }).waitFor();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(/island weather/);
  await expect(filterOf(page)).toHaveValue('');
});

test('returns from the found conversations to the filter with Escape', async ({ logIn }) => {
  const { page } = await logIn('prospero', '#inbox');
  const found = sidebarOf(page).getByRole('link', { name: 'Verona' });
  await filterOf(page).fill('veron');
  await page.keyboard.press('ArrowDown');
  await expect(found).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(filterOf(page)).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(filterOf(page)).toHaveValue('');
});

test('clears the filter after a found row is opened by a click or with Enter', async ({ logIn }) => {
  const { page } = await logIn('prospero', '#inbox');
  const found = sidebarOf(page).getByRole('link', { name: 'Recent conversations' });
  await filterOf(page).fill('recent');
  await found.click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Recent conversations');
  await expect(filterOf(page)).toHaveValue('');
  await filterOf(page).fill('verona');
  await sidebarOf(page).getByRole('link', { name: 'Verona' }).waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { level: 1 })).toContainText('Verona');
  await expect(filterOf(page)).toHaveValue('');
  await expect(page.getByRole('region', { name: 'Messages' })).toBeFocused();
  await filterOf(page).fill('inbox');
  await sidebarOf(page).getByRole('link', { name: 'Inbox' }).waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await expect(filterOf(page)).toHaveValue('');
  // The page, or its list if that is loaded.
  await expect(page.locator('main:focus-within')).toBeVisible();
});

test('folds muted channels, except those with unread messages, and inactive ones if the setting says so', async ({
  server,
  logIn,
}) => {
  for (const name of ['quiet cove', 'loud cove']) await createChannel(server, 'prospero', name);
  const idOf = async (stream: string) => (await server.call('prospero', 'GET', '/get_stream_id', { stream })).stream_id;
  const mute = async (name: string, value: boolean) =>
    server.call('prospero', 'POST', '/users/me/subscriptions/properties', {
      subscription_data: [{ stream_id: await idOf(name), property: 'is_muted', value }],
    });
  const { page } = await logIn('prospero', '#inbox');
  const sidebar = sidebarOf(page);
  await expect(sidebar.getByRole('link', { name: 'quiet cove' })).toBeVisible();
  await mute('quiet cove', true);
  const fold = sidebar.getByRole('button', { name: 'Inactive or muted channels 1' });
  await expect(fold).toHaveAttribute('aria-expanded', 'false');
  await expect(sidebar.getByRole('link', { name: 'quiet cove' })).toHaveCount(0);
  await fold.click();
  await expect(sidebar.getByRole('link', { name: 'quiet cove' })).toBeVisible();
  expect(await violationsIn(page)).toEqual([]);
  await takePictures(page, 'folded');
  await fold.click();
  await createChannel(server, 'iago', 'quiet cove');
  const mention = { type: 'channel', to: 'quiet cove', topic: 'calls', content: '@**Prospero from The Tempest**' };
  await server.call('iago', 'POST', '/messages', mention);
  await expect(sidebar.getByRole('link', { name: 'quiet cove' })).toBeVisible();
  await expect(fold).toHaveCount(0);
  await mute('quiet cove', false);
});

test('lists the topics of a channel without leaving the current place', async ({ server, logIn }) => {
  for (let i = 0; i < 8; i++) await post(server, 'prospero', `chapter ${i}`, 'Text');
  const { page } = await logIn('prospero', '#inbox');
  const sidebar = sidebarOf(page);
  const channel = sidebar
    .getByRole('listitem')
    .filter({ has: page.getByRole('link', { name: /^(public channel )?Verona/ }) });
  await sidebar.getByRole('link', { name: 'Verona' }).hover();
  await channel.getByRole('button', { name: 'Topics', exact: true }).click();
  await expect(sidebar.getByRole('link', { name: 'chapter 7' })).toBeVisible();
  await expect(sidebar.getByRole('link', { name: 'chapter 0' })).toHaveCount(0);
  await sidebar.getByRole('button', { name: 'More topics' }).click();
  await expect(sidebar.getByRole('link', { name: 'chapter 0' })).toBeVisible();
  await expect(sidebar.getByRole('button', { name: 'More topics' })).toHaveCount(0);
  await sidebar.getByRole('button', { name: 'Show fewer' }).click();
  await expect(sidebar.getByRole('link', { name: 'chapter 0' })).toHaveCount(0);
  await expect(page).toHaveURL(/#inbox$/);
  expect(await violationsIn(page)).toEqual([]);
});

test('shows only unread conversations on request, also after a reload', async ({ server, logIn }) => {
  await createChannel(server, 'desdemona', 'silent garden');
  await post(server, 'iago', 'handkerchief', 'Where is it?');
  const { page } = await logIn('desdemona', await placeOf(server, 'elsewhere', 'silent garden'));
  await goTo(page, '#inbox');
  const sidebar = sidebarOf(page);
  await expect(sidebar.getByRole('link', { name: 'silent garden' })).toBeVisible();
  const toggle = page.getByRole('button', { name: 'Only unread conversations' });
  await toggle.click();
  await expect(toggle).toHaveAttribute('aria-pressed', 'true');
  await expect(sidebar.getByRole('link', { name: 'silent garden' })).toHaveCount(0);
  await expect(sidebar.getByRole('link', { name: 'Verona' })).toBeVisible();
  await takePictures(page, 'unread');
  await page.reload();
  await expect(sidebar.getByRole('link', { name: 'Verona' })).toBeVisible();
  await expect(sidebar.getByRole('link', { name: 'silent garden' })).toHaveCount(0);
  await page.getByRole('button', { name: 'Only unread conversations' }).click();
  await expect(sidebar.getByRole('link', { name: 'silent garden' })).toBeVisible();
});

test('offers to browse and create channels, and shows an invitation link to copy', async ({ logIn }) => {
  const { page, context } = await logIn('iago', '#inbox');
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const add = page.getByRole('button', { name: 'Add channels' });
  await add.click();
  expect(await violationsIn(page)).toEqual([]);
  await page.getByRole('menuitem', { name: 'Create channel' }).click();
  await expect(page.getByLabel('Name', { exact: true })).toBeFocused();
  await add.click();
  await page.getByRole('menuitem', { name: 'Browse channels' }).click();
  await expect(page).toHaveURL(/#channels\/available$/);
  await page.getByRole('button', { name: 'Invite people' }).click();
  const dialog = page.getByRole('dialog', { name: 'Invite people' });
  await dialog.getByRole('button', { name: 'Create link' }).click();
  const link = dialog.getByRole('textbox', { name: 'Invitation link' });
  await expect(link).toHaveValue(/\/join\//);
  expect(await violationsIn(page)).toEqual([]);
  await takePictures(page, 'invite', true);
  await dialog.getByRole('button', { name: 'Copy link' }).click();
  await expect(dialog.getByText('Copied')).toBeVisible();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(await link.inputValue());
});

test('offers people without the permission no invitation', async ({ logIn }) => {
  const { page } = await logIn('polonius', '#inbox');
  await expect(filterOf(page)).toBeVisible();
  await expect(page.getByRole('button', { name: 'Invite people' })).toHaveCount(0);
});
