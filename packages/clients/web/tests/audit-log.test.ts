import { emailOf, expect, goTo, type Person, PHONE, test, violationsIn } from './stories.js';

const PLACE = '#organization/audit-log';
const NARROW = { ...PHONE, viewport: { width: 390, height: 844 } };

const entriesIn = ({ page }: Person) => page.getByRole('list', { name: 'Audit log' }).locator('> li');

test('shows owners who did what to whom, and filters by person, operation and day', async ({ server, logIn }) => {
  const { members } = await server.call('iago', 'GET', '/users');
  const idOf = (name: string) =>
    members.find(({ delivery_email }: { delivery_email: string }) => delivery_email === emailOf(name)).user_id;
  await server.call('iago', 'PATCH', `/users/${idOf('hamlet')}`, { role: 300 });
  await server.call('desdemona', 'PATCH', '/realm', { message_retention_days: 30 });
  const desdemona = await logIn('desdemona', PLACE);
  const { page } = desdemona;
  const entries = entriesIn(desdemona);
  const role = entries.filter({ hasText: 'Change person' });
  await expect(role).toContainText('role: member → moderator');
  await expect(role).toContainText('Iago');
  await expect(role).toContainText('Hamlet');
  await expect(role).toContainText(/127\.0\.0\.1|::1/);
  await expect(entries.filter({ hasText: /^Log-in/ }).first()).toContainText('Desdemona');
  expect(await violationsIn(page)).toEqual([]);

  // By keyboard alone.
  const who = page.getByRole('combobox', { name: 'Who', exact: true });
  await who.focus();
  await page.keyboard.type('iago');
  await page.keyboard.press('Enter');
  await expect(entries.filter({ hasText: 'Organization settings' })).toHaveCount(0);
  await expect(role).toHaveCount(1);
  await page.getByLabel('What', { exact: true }).selectOption('Change person');
  await expect(entries).toHaveCount(1);
  await expect(page.getByRole('status').filter({ hasText: '1 entry' })).toBeVisible();
  const downloading = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Download as CSV' }).click();
  const download = await downloading;
  expect(download.suggestedFilename()).toBe('audit.csv');
  const chunks: Buffer[] = [];
  for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer);
  expect(Buffer.concat(chunks).toString().trim().split('\r\n')).toEqual([
    'id,time,actor_id,program,action,user_id,target,changes,details,erased,hash',
    expect.stringContaining(`,${idOf('iago')},,PATCH /users/:user_id,${idOf('hamlet')},`),
  ]);
  await page.getByLabel('From', { exact: true }).fill('2100-01-01');
  await expect(page.getByText('Nothing found')).toBeVisible();
  expect(await violationsIn(page)).toEqual([]);
});

test('shows older entries on request, and is readable on a phone', async ({ server, logIn }) => {
  for (let days = 1; days <= 101; days++) {
    await server.call('desdemona', 'PATCH', '/realm', { message_retention_days: days });
  }
  const desdemona = await logIn('desdemona', PLACE, NARROW);
  const { page } = desdemona;
  await expect(entriesIn(desdemona)).toHaveCount(100);
  await page.getByRole('button', { name: 'Older entries' }).click();
  await expect(entriesIn(desdemona).filter({ hasText: 'messageRetentionDays: 1 → 2' })).toBeAttached();
  await expect.poll(() => entriesIn(desdemona).count()).toBeGreaterThan(100);
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  expect(width).toBe(390);
  expect(await violationsIn(page)).toEqual([]);
});

test('is a page for owners only', async ({ logIn }) => {
  const { page } = await logIn('iago', '#organization/users');
  await expect(page.getByRole('link', { name: 'Imports' })).toHaveCount(0);
  await expect(page.getByRole('link', { name: 'Audit log' })).toHaveCount(0);
  await goTo(page, PLACE);
  await expect(page.getByText('This page is for administrators only.')).toBeVisible();
});
