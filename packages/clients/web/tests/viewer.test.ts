import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { expect, goTo, placeOf, post, type Server, test, violationsIn } from './stories.js';

const PICTURE = readFileSync(join(import.meta.dirname, '../../../../docs/images/web-client.png'));

/** Sends files to a separate topic, one message each. */
async function sendFiles(server: Server, topic: string, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const bytes = name.endsWith('.png') ? PICTURE : Buffer.from('no media');
    const { url } = (await server.upload('hamlet', '/user_uploads', name, bytes)) as { url: string };
    await post(server, 'hamlet', topic, `[${name}](${url})`);
  }
}

const viewer = (page: Page) => page.getByRole('dialog');
/** A link with the file name is next to it. */
const thumbnail = (page: Page, name: string) =>
  page
    .getByRole('article')
    .getByRole('link', { name })
    .filter({ has: page.getByRole('img') });
const enlarged = (page: Page, name: string) => viewer(page).getByRole('img', { name });
const widthOf = (page: Page, name: string) =>
  enlarged(page, name).evaluate((image: HTMLImageElement) => (image.complete ? image.clientWidth : 0));

test('shows the images of a conversation one after the other, and restores the focus', async ({ logIn, server }) => {
  await sendFiles(server, 'viewer by mouse', ['viewer one.png', 'viewer two.png']);
  const { page } = await logIn('hamlet', await placeOf(server, 'viewer.20by.20mouse'));
  const originals: string[] = [];
  page.on('request', (request) => /user_uploads\/\d/.test(request.url()) && originals.push(request.url()));
  const first = thumbnail(page, 'viewer one.png');
  await expect(first.getByRole('img')).toBeVisible();
  expect(originals).toEqual([]);
  await first.click();
  await expect(viewer(page).getByText('1 of 2')).toBeVisible();
  await expect.poll(() => widthOf(page, 'viewer one.png')).toBeGreaterThan(0);
  expect(originals.length).toBe(1);
  await expect(viewer(page).getByRole('button', { name: 'Previous' })).toBeDisabled();
  expect(await violationsIn(page)).toEqual([]);
  await viewer(page).getByRole('button', { name: 'Next' }).click();
  await expect(viewer(page).getByText('2 of 2')).toBeVisible();
  await expect.poll(() => widthOf(page, 'viewer two.png')).toBeGreaterThan(0);
  const download = page.waitForEvent('download');
  await viewer(page).getByRole('link', { name: 'Download viewer two.png' }).click();
  expect((await download).suggestedFilename()).toBe('viewer two.png');
  await viewer(page).getByRole('button', { name: 'Close' }).click();
  await expect(viewer(page)).toHaveCount(0);
  await expect(first).toBeFocused();
});

test('shows images by keyboard alone, with zoom, at phone width', async ({ logIn, server }) => {
  await sendFiles(server, 'viewer by keys', ['keys one.png', 'keys two.png', 'keys three.png']);
  const { page } = await logIn('hamlet', await placeOf(server, 'viewer.20by.20keys'));
  await page.setViewportSize({ width: 320, height: 640 });
  const second = thumbnail(page, 'keys two.png');
  await expect(second.getByRole('img')).toBeVisible();
  await second.focus();
  await page.keyboard.press('Enter');
  await expect(viewer(page).getByText('2 of 3')).toBeVisible();
  await expect.poll(() => widthOf(page, 'keys two.png')).toBeGreaterThan(100);
  const fitted = await widthOf(page, 'keys two.png');
  expect(fitted).toBeLessThanOrEqual(320);
  await page.keyboard.press('+');
  await expect.poll(() => widthOf(page, 'keys two.png')).toBeGreaterThan(fitted * 1.4);
  await expect(viewer(page).getByRole('button', { name: 'Next' })).toBeInViewport({ ratio: 1 });
  await expect(viewer(page).getByRole('button', { name: 'Close' })).toBeInViewport({ ratio: 1 });
  // Arrow keys scroll the enlarged image.
  await page.keyboard.press('ArrowRight');
  await expect(viewer(page).getByText('2 of 3')).toBeVisible();
  await page.keyboard.press('0');
  await expect.poll(() => widthOf(page, 'keys two.png')).toBe(fitted);
  await page.keyboard.press('ArrowRight');
  await expect(viewer(page).getByText('3 of 3')).toBeVisible();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Home');
  await expect(viewer(page).getByText('1 of 3')).toBeVisible();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320);
  await page.keyboard.press('Escape');
  await expect(viewer(page)).toHaveCount(0);
  await expect(second).toBeFocused();
  // The shortcut opens the image of the focused message, once the server has made its preview.
  await expect(thumbnail(page, 'keys three.png')).toBeVisible();
  const message = page.getByRole('listitem').filter({ has: thumbnail(page, 'keys three.png') });
  await message.last().focus();
  await page.keyboard.press('v');
  await expect(viewer(page).getByText('3 of 3')).toBeVisible();
});

test('plays a video between the images, and reports files that cannot be displayed', async ({ logIn, server }) => {
  await sendFiles(server, 'viewer with video', ['still.png', 'broken film.mp4']);
  const { page } = await logIn('hamlet', await placeOf(server, 'viewer.20with.20video'));
  await expect(page.locator('article video')).toBeVisible();
  // Loading it moves the content below.
  await expect(thumbnail(page, 'still.png').getByRole('img')).toBeVisible();
  await page.getByRole('button', { name: 'Enlarge broken film.mp4' }).press('Enter');
  await expect(viewer(page).getByText('2 of 2')).toBeVisible();
  await expect(viewer(page).getByRole('alert')).toHaveText(
    'broken film.mp4 cannot be shown here. It can be downloaded.',
  );
  await expect(viewer(page).getByRole('link', { name: 'Download broken film.mp4' })).toBeVisible();
  await expect(viewer(page).getByRole('button', { name: 'Zoom in' })).toHaveCount(0);
  await page.keyboard.press('ArrowLeft');
  await expect.poll(() => widthOf(page, 'still.png')).toBeGreaterThan(0);
  await goTo(page, '#inbox');
});
