import { expect, placeOf, post, test } from './stories.js';

test.use({ settings: { PARLEY_QUIET: 'on' } });

const BANNER = 'Test server: emails, notifications, webhooks, scheduled messages and reminders are not sent.';

for (const [name, viewport] of [
  ['desktop', { width: 1280, height: 800 }],
  ['phone', { width: 360, height: 740 }],
] as const) {
  test(`a quiet server says so above the messages on a ${name}`, async ({ server, logIn }) => {
    await post(server, 'cordelia', 'quiet', `Written on a ${name}`);
    const { page } = await logIn('hamlet', await placeOf(server, 'quiet'));
    await page.setViewportSize(viewport);
    const banner = page.getByRole('note').filter({ hasText: BANNER });
    await expect(banner).toBeVisible();
    const { height } = (await banner.boundingBox())!;
    expect(height).toBeLessThan(100);
    await expect(page.getByText(`Written on a ${name}`)).toBeInViewport();
    if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/quiet-${name}.png` });
  });
}
