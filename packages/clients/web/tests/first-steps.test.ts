import { expect, goTo, messageWith, test, violationsIn } from './stories.js';

test.use({ organization: 'new' });

/** Phone and desktop widths. */
const WIDTHS = [390, 1280];

test('welcomes the owner of a new organization with unread conversations and first steps until dismissed', async ({
  logIn,
  server,
}) => {
  const { page } = await logIn('ann', '#inbox');
  const steps = page.getByRole('region', { name: 'First steps' });
  const inbox = page.getByRole('main');
  await expect(steps.getByRole('listitem')).toHaveCount(4);
  await expect(inbox.getByRole('link', { name: /^welcome .* 2 unread/ })).toBeVisible();
  await expect(inbox.getByRole('link', { name: /^experiments .* 1 unread/ })).toBeVisible();
  await expect(inbox.getByRole('link', { name: /^Welcome Bot/ })).toBeVisible();
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
    expect(await violationsIn(page)).toEqual([]);
    if (process.env.SCREENSHOTS) await page.screenshot({ path: `${process.env.SCREENSHOTS}/first-steps-${width}.png` });
  }
  await steps.getByRole('link', { name: 'Describe the organization' }).click();
  await page.getByLabel('Description').fill('Castle on the sound');
  await page.locator('[data-setting="description"]').getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('Saved')).toBeVisible();
  await goTo(page, '#inbox');
  await expect(steps.getByRole('img', { name: 'Done' })).toHaveCount(1);
  await inbox.getByRole('link', { name: /^welcome .* 2 unread/ }).click();
  await expect(messageWith(page, 'A channel decides who reads a message')).toBeVisible();
  await goTo(page, '#inbox');
  await steps.getByRole('button', { name: 'Dismiss' }).click();
  await expect(steps).toHaveCount(0);
  const { onboarding_steps } = await server.call('ann', 'POST', '/register', {
    fetch_event_types: ['onboarding_steps'],
  });
  expect(onboarding_steps).not.toContainEqual({ type: 'one_time_notice', name: 'first_steps' });
  // Accounts have no time zone until one is chosen.
  await goTo(page, '#settings/profile');
  const zone = page.getByLabel('Time zone');
  await expect(zone.locator(':checked')).toHaveText('None');
  await zone.selectOption('Europe/Copenhagen');
  await expect(page.getByText('Saved')).toBeVisible();
  await expect(zone.locator(':checked')).toHaveText('Europe/Copenhagen');
  await expect(zone.locator('option', { hasText: 'None' })).toHaveCount(0);
});
