import { expect, test, violationsIn } from './stories.js';

test('goes to a conversation by a part of its name', async ({ logIn }) => {
  const { page } = await logIn('hamlet', '#inbox');
  await page.keyboard.press('Control+k');
  const field = page.getByRole('combobox', { name: /Name of a conversation/ });
  await expect(field).toBeFocused();
  await field.fill('verona');
  await expect(page.getByRole('option', { name: 'Verona' }).first()).toHaveAttribute('aria-selected', 'true');
  expect(await violationsIn(page)).toEqual([]);
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { level: 1 })).toContainText('Verona');
  await page.keyboard.press('Control+k');
  await field.fill('corde lear');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { level: 1 })).toContainText('Cordelia');
});

test("has Zulip's shortcuts, which can be turned off", async ({ logIn }) => {
  const { page } = await logIn('hamlet', '#inbox');
  const heading = page.getByRole('heading', { level: 1 });
  await page.keyboard.press('t');
  await expect(heading).toHaveText('Recent conversations');
  await page.keyboard.press('a');
  await expect(heading).toHaveText('Combined feed');
  await page.getByRole('article').last().waitFor();
  await page.keyboard.press('k');
  await expect(page.getByRole('listitem').and(page.locator(':focus'))).toBeVisible();
  await page.keyboard.press('/');
  await expect(page.getByRole('searchbox', { name: 'Search' }).first()).toBeFocused();
  await page.keyboard.press('t');
  await expect(heading).toHaveText('Combined feed');
  await page.getByRole('searchbox', { name: 'Search' }).first().blur();
  await page.keyboard.press('?');
  await expect(page.getByRole('dialog', { name: 'Keyboard shortcuts' })).toBeVisible();
  expect(await violationsIn(page)).toEqual([]);
  await page.getByRole('checkbox', { name: 'Shortcuts of one letter' }).uncheck();
  await page.keyboard.press('Escape');
  await page.keyboard.press('t');
  await expect(heading).toHaveText('Combined feed');
});

test('goes to pages of settings and runs actions by a part of their names', async ({ logIn }) => {
  const { page } = await logIn('iago', '#inbox');
  const field = page.getByRole('combobox', { name: /Name of a conversation/ });
  const choose = async (query: string, name: string) => {
    await page.keyboard.press('Control+k');
    await field.fill(query);
    await expect(page.getByRole('option', { name }).first()).toBeVisible();
    await page.getByRole('option', { name }).first().click();
  };
  await choose('data exp', 'Data exports');
  await expect(page.getByRole('heading', { level: 2, name: 'Data exports' })).toBeVisible();
  await choose('alert', 'Alert words');
  await expect(page.getByRole('heading', { level: 2, name: 'Alert words' })).toBeVisible();
  await choose('new direct', 'New direct message');
  await expect(page.getByRole('dialog', { name: 'New direct message' })).toBeVisible();
  await page.keyboard.press('Escape');
  await choose('keyboard', 'Keyboard shortcuts');
  await expect(page.getByRole('dialog', { name: 'Keyboard shortcuts' })).toBeVisible();
  await page.keyboard.press('Escape');
  await choose('log out', 'Log out');
  await expect(page).toHaveURL(/\/login\//);
});
