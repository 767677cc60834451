import { emailOf, expect, type Person, test, violationsIn } from './stories.js';

const passwordOf = (person: string) => `pw-${emailOf(person)}`;

const sectionOf = ({ page }: Person) =>
  page.locator('section:not(:has(section))').filter({ has: page.getByRole('heading', { name: 'Personal data' }) });

test('downloads a copy of one’s data from the settings after the password was entered', async ({ logIn }) => {
  const cordelia = await logIn('cordelia', '#settings/account-and-privacy');
  const { page } = cordelia;
  const section = sectionOf(cordelia);
  await section.getByRole('button', { name: 'Download my data' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Password').fill('wrong');
  await dialog.getByRole('button', { name: 'Request' }).click();
  await expect(dialog.getByRole('alert')).toHaveText('Password is incorrect.');
  expect(await violationsIn(page)).toEqual([]);
  await dialog.getByLabel('Password').fill(passwordOf('cordelia'));
  await dialog.getByRole('button', { name: 'Request' }).click();
  await expect(section.getByRole('status')).toContainText('The archive is being created.');
  const link = section.getByRole('link', { name: 'Download archive' });
  await expect(link).toBeVisible({ timeout: 60_000 });
  await expect(section.getByText('You can request another archive from')).toBeVisible();
  await expect(section.getByRole('button')).toHaveCount(0);
  expect(await violationsIn(page)).toEqual([]);
  const downloading = page.waitForEvent('download');
  await link.click();
  expect((await downloading).suggestedFilename()).toMatch(/^user-\d+\.zip$/);
});

test('requests a copy of the data of a person who agrees, as an owner', async ({ server, logIn }) => {
  const desdemona = await logIn('desdemona', '#organization/users');
  const { page } = desdemona;
  const open = async () => {
    await page.getByRole('searchbox', { name: 'Search people' }).fill('othello');
    await page.getByRole('button', { name: 'Manage Othello, the Moor of Venice' }).click();
  };
  const dialog = page.getByRole('dialog');
  const request = async () => {
    await open();
    await sectionOf(desdemona).getByRole('button', { name: 'Request data' }).click();
    await dialog.getByLabel('Password').fill(passwordOf('desdemona'));
    await dialog.getByRole('button', { name: 'Request' }).click();
  };
  await request();
  await expect(dialog.getByRole('alert')).toHaveText('This user does not allow exports of their private data.');
  await server.call('othello', 'PATCH', '/settings', { allow_private_data_export: true });
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await request();
  await expect(dialog).toHaveCount(0);
  await open();
  await expect(sectionOf(desdemona).getByRole('link', { name: 'Download archive' })).toBeVisible({ timeout: 60_000 });
  await sectionOf(desdemona).scrollIntoViewIfNeeded();
});

test('erases a person for good after the name was typed, and shows the progress, as an owner', async ({
  server,
  logIn,
}) => {
  const name = 'Falstaff, formerly';
  await server.call('desdemona', 'POST', '/users', {
    email: 'falstaff@example.com',
    password: 'sack and sugar 99',
    full_name: name,
  });
  const { page } = await logIn('desdemona', '#organization/users');
  await page.getByRole('searchbox', { name: 'Search people' }).fill('falstaff');
  await page.getByRole('button', { name: `Manage ${name}` }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: `Erase ${name}` }).click();
  const typed = dialog.getByLabel(/^Type/);
  await typed.fill('Falstaff');
  await dialog.getByLabel('Password').fill(passwordOf('desdemona'));
  await dialog.getByRole('button', { name: 'Erase', exact: true }).click();
  await expect(dialog.getByRole('alert')).toHaveText('This is not the name of the user.');
  expect(await violationsIn(page)).toEqual([]);
  await typed.fill(name);
  await dialog.getByRole('button', { name: 'Erase', exact: true }).click();
  await expect(dialog).toHaveCount(0);
  await expect(page.getByText('Nobody found')).toBeVisible();
  await page.getByRole('searchbox', { name: 'Search people' }).fill('deleted user');
  await page.getByLabel('Accounts').selectOption('Deactivated');
  await page.getByRole('button', { name: 'Erase Deleted user' }).click();
  await expect(dialog.getByRole('status')).toContainText('Erased on');
});
