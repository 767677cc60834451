import type { Page } from '@playwright/test';
import { expect, messageWith, PHONE, placeOf, test, violationsIn } from './stories.js';

test.use({
  settings: { PARLEY_GIPHY_API_KEY: 'key-of-gifs' },
  otherAddresses: ['https://api.giphy.com/', 'https://media.giphy.com/'],
});

const PIXEL = Buffer.from('R0lGODlhAQABAIAAAP///wAAACwAAAAAAQABAAACAkQBADs=', 'base64');

const gif = (name: string) => {
  const url = `https://media.giphy.com/media/${name}/200.gif`;
  return { id: name, title: `A ${name} [moving]`, images: { downsized_medium: { url }, fixed_height_small: { url } } };
};

/** Replaces GIPHY; returns the received requests. */
async function simulateGiphy(page: Page): Promise<readonly URL[]> {
  const requests: URL[] = [];
  await page.route('https://media.giphy.com/**', (route) => route.fulfill({ contentType: 'image/gif', body: PIXEL }));
  await page.route('https://api.giphy.com/**', (route) => {
    const url = new URL(route.request().url());
    requests.push(url);
    const query = url.searchParams.get('q');
    const headers = { 'Access-Control-Allow-Origin': '*' };
    if (query === 'limit') return route.fulfill({ status: 429, headers, json: {} });
    if (query === 'offline') return route.abort();
    const offset = Number(url.searchParams.get('offset'));
    const names = query === null ? Array.from({ length: 24 }, (_, index) => `trend${offset + index}`) : [query];
    return route.fulfill({ headers, json: { data: query === 'nothing' ? [] : names.map(gif) } });
  });
  return requests;
}

test('inserts a GIF found at the provider, which gets no request before', async ({ server, logIn }) => {
  const { page } = await logIn('hamlet', await placeOf(server, 'gifs'));
  const requests = await simulateGiphy(page);
  const field = page.getByRole('textbox', { name: 'Message' });
  const dialog = page.getByRole('dialog', { name: 'Add a GIF' });
  await field.fill('Look:');
  await expect(page.getByRole('button', { name: 'Add a GIF' })).toBeVisible();
  expect(requests).toEqual([]);
  await page.getByRole('button', { name: 'Add a GIF' }).click();
  await expect(dialog.getByRole('button', { name: 'A trend23 [moving]' })).toBeAttached();
  await expect(dialog.getByText('Powered by GIPHY')).toBeVisible();
  expect(await violationsIn(page)).toEqual([]);
  expect(requests.map(({ pathname }) => pathname)).toEqual(['/v1/gifs/trending']);
  expect(Object.fromEntries(requests[0]!.searchParams)).toMatchObject({ api_key: 'key-of-gifs', rating: 'g' });
  await dialog.getByRole('button', { name: 'More GIFs' }).click();
  await expect(dialog.getByRole('button', { name: 'A trend47 [moving]' })).toBeAttached();

  // Each key would be a request without a pause before it.
  await dialog.getByRole('searchbox').pressSequentially('dog');
  const found = dialog.getByRole('button', { name: 'A dog [moving]' });
  await expect(found).toBeVisible();
  expect(requests.slice(2).map(({ searchParams }) => searchParams.get('q'))).toEqual(['dog']);
  await page.keyboard.press('Tab');
  await expect(found).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(dialog).toHaveCount(0);
  await expect(field).toHaveValue('Look: [A dog (moving)](https://media.giphy.com/media/dog/200.gif) ');
  await expect(field).toBeFocused();
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await expect(messageWith(page, 'Look:').getByRole('link', { name: 'A dog (moving)' })).toBeVisible();
});

test('moves between GIFs by arrow keys, and says why there are none', async ({ server, logIn }) => {
  const { page } = await logIn('hamlet', await placeOf(server, 'gifs by keyboard'));
  await simulateGiphy(page);
  const dialog = page.getByRole('dialog', { name: 'Add a GIF' });
  await page.getByRole('button', { name: 'Add a GIF' }).click();
  const gifs = dialog.getByRole('button', { name: /^A trend/ });
  await gifs.first().focus();
  await page.keyboard.press('ArrowRight');
  await expect(gifs.nth(1)).toBeFocused();
  await page.keyboard.press('ArrowDown');
  const rows = await gifs.evaluateAll((all) => all.map((button) => button.getBoundingClientRect().top));
  const columns = rows.filter((top) => top === rows[0]).length;
  expect(columns).toBeGreaterThan(1);
  await expect(gifs.nth(1 + columns)).toBeFocused();

  const search = dialog.getByRole('searchbox');
  await search.fill('nothing');
  await expect(dialog.getByText('No GIF found')).toBeVisible();
  await search.fill('limit');
  await expect(dialog.getByRole('alert')).toContainText('GIPHY rejected the request.');
  await search.fill('offline');
  await expect(dialog.getByRole('alert')).toContainText('GIPHY cannot be reached.');
  await search.fill('');
  await expect(gifs.first()).toBeVisible();
});

test('follows the highest rating set by the organization', async ({ server, logIn }) => {
  const { page } = await logIn('hamlet', await placeOf(server, 'rated gifs'), PHONE);
  const requests = await simulateGiphy(page);
  const rate = async (label: string) => {
    const choice = iago.page.getByRole('combobox', { name: 'Highest rating of GIFs' });
    await choice.selectOption({ label });
  };
  const iago = await logIn('iago', '#organization/organization-settings');
  await rate('PG-13');
  await page.getByRole('textbox', { name: 'Message', exact: true }).tap();
  await page.getByRole('button', { name: 'More formatting' }).click();
  await page.getByRole('menuitem', { name: 'Add a GIF' }).click();
  await expect(page.getByRole('dialog').getByRole('button', { name: 'A trend0 [moving]' })).toBeVisible();
  await expect.poll(() => requests.at(-1)!.searchParams.get('rating')).toBe('pg-13');
  await page.keyboard.press('Escape');
  await rate('Off');
  // An open menu keeps its items.
  await expect(async () => {
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'More formatting' }).click();
    await expect(page.getByRole('menuitem', { name: 'Link' })).toBeVisible();
    await expect(page.getByRole('menuitem', { name: 'Add a GIF' })).toHaveCount(0, { timeout: 500 });
  }).toPass();
});
