import { chooseInMenu, expect, test, violationsIn } from './stories.js';

const PLACES = ['#inbox', '#recent', '#feed', '#narrow/channel/2', '#narrow/channel/2/topic/welcome', '#nowhere'];

for (const theme of ['light', 'dark'] as const) {
  test(`has no accessibility findings and no sideways scrolling (${theme})`, async ({ logIn }) => {
    const { page } = await logIn('hamlet');
    await page.emulateMedia({ colorScheme: theme });
    for (const width of [320, 768, 1440]) {
      await page.setViewportSize({ width, height: 800 });
      for (const place of PLACES) {
        await page.evaluate((to) => location.assign(to), place);
        await expect(page.getByText('Loading…')).toHaveCount(0);
        expect(await violationsIn(page), `${place} at ${width} px`).toEqual([]);
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        expect(overflow, `${place} at ${width} px`).toBeLessThanOrEqual(0);
      }
    }
  });
}

test('opens conversations from a menu on phones', async ({ logIn }) => {
  const { page } = await logIn('hamlet', '#inbox');
  await page.setViewportSize({ width: 390, height: 800 });
  const channel = page.getByRole('navigation', { name: 'Conversations' }).getByRole('link', { name: 'Verona' });
  await expect(channel).not.toBeVisible();
  await page.getByRole('button', { name: 'Conversations' }).click();
  await channel.click();
  await expect(page.getByRole('heading', { level: 1 })).toContainText('Verona');
  await expect(channel).not.toBeVisible();
});

test('reaches messages by the arrow keys', async ({ logIn }) => {
  const { page } = await logIn('hamlet', '#feed');
  await page.getByRole('article').last().waitFor();
  await page.getByRole('region', { name: 'Messages' }).focus();
  await page.keyboard.press('ArrowUp');
  await expect(page.getByRole('listitem').and(page.locator(':focus'))).toBeVisible();
  await page.keyboard.press('Home');
  await expect(page.getByRole('listitem').and(page.locator(':focus'))).toBeVisible();
});

test('keeps the theme that was chosen', async ({ logIn }) => {
  const { page } = await logIn('hamlet', '#inbox');
  await chooseInMenu(page, 'Dark theme');
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
  await page.reload();
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
  await chooseInMenu(page, 'Light theme');
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'light');
});

test('logs out', async ({ logIn }) => {
  const { page } = await logIn('hamlet', '#inbox');
  await chooseInMenu(page, 'Log out');
  await expect(page).toHaveURL(/\/login\//);
  await page.goBack();
  await expect(page).toHaveURL(/\/login\//);
});
