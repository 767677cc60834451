import type { Page } from '@playwright/test';
import { expect, messageWith, placeOf, type Server, test, violationsIn } from './stories.js';

/** Adds a call and returns the link inserted into the composer. */
async function linkOf(page: Page, kind: 'Video call' | 'Voice call'): Promise<string> {
  const field = page.getByRole('textbox', { name: 'Message' });
  await page.getByRole('button', { name: 'Add a call' }).click();
  await page.getByRole('menuitem', { name: kind }).click();
  await expect(field).toHaveValue(/\]\(.+\) $/);
  return /\]\((.+)\)/.exec(await field.inputValue())![1]!;
}

const chooseProvider = (server: Server, provider: number) =>
  server.call('iago', 'PATCH', '/realm', { video_chat_provider: provider });

test("adds a call with the organization's provider", async ({ server, logIn }) => {
  const { page } = await logIn('hamlet', await placeOf(server, 'calling'));
  const field = page.getByRole('textbox', { name: 'Message' });
  await field.fill('Shall we talk?');
  await page.getByRole('button', { name: 'Add a call' }).click();
  await expect(page.getByRole('menuitem', { name: 'Voice call' })).toBeVisible();
  expect(await violationsIn(page)).toEqual([]);
  await page.keyboard.press('Escape');
  expect(await linkOf(page, 'Video call')).toMatch(
    /^https:\/\/meet\.jit\.si\/\d{20,}#config\.startWithVideoMuted=false$/,
  );
  await expect(field).toHaveValue(/^Shall we talk\? \[Join video call\.\]/);
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  const link = messageWith(page, 'Shall we talk?').getByRole('link', { name: 'Join video call.' });
  await expect(link).toHaveAttribute('href', /^https:\/\/meet\.jit\.si\//);
  expect(await linkOf(page, 'Voice call')).toMatch(/#config\.startWithVideoMuted=true$/);

  await chooseProvider(server, 0);
  await expect(page.getByRole('button', { name: 'Add a call' })).toHaveCount(0);
  await chooseProvider(server, 4);
  await page.getByRole('textbox', { name: 'Message' }).fill('');
  expect(await linkOf(page, 'Video call')).toMatch(
    new RegExp(`^${server.url}/calls/bigbluebutton/join\\?bigbluebutton=.`),
  );
  await chooseProvider(server, 1);
});

test('offers no GIFs without a key of a provider', async ({ server, logIn }) => {
  const { page } = await logIn('hamlet', await placeOf(server, 'still'));
  await expect(page.getByRole('button', { name: 'Add a call' })).toBeVisible();
  await expect(page.getByRole('button', { name: 'Add a GIF' })).toHaveCount(0);
});
