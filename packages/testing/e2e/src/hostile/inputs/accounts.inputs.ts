import { type InputContext, type Inputs, linkToAllChannels } from '../input-context.js';
import type { Fields } from '../routes.js';

/** Returns the key of a link that confirms the caller's email in different letter case. */
async function newAddress({ get, post, keyEmailedTo: keyMailedTo }: InputContext): Promise<Fields> {
  const { delivery_email } = await get('/users/me');
  const before = String(delivery_email);
  const email = before === before.toLowerCase() ? before.toUpperCase() : before.toLowerCase();
  await post('/settings', { method: 'PATCH', email });
  return { key: await keyMailedTo(email) };
}
async function forgottenPassword({
  n,
  organization,
  sendForm,
  keyEmailedTo: keyMailedTo,
}: InputContext): Promise<Fields> {
  const { email } = organization.members.at(-1 - (n % 100))!;
  await sendForm('/accounts/password/reset/', { email });
  return { key: await keyMailedTo(email) };
}

export const INPUTS: Inputs = {
  'GET /accounts/unsubscribe/:kind/:key/': { 'any key': () => ({ kind: 'login', key: 'x'.repeat(10_000) }) },
  'GET /accounts/do_confirm/:key': { 'a link': linkToAllChannels },
  'GET /accounts/confirm_new_email/:key': { 'an email': newAddress },
  'POST /accounts/confirm_new_email/:key': { 'an email': newAddress },
  'POST /accounts/password/reset/': { nobody: ({ n }) => ({ email: `n${n}@example.com` }) },
  'GET /accounts/password/reset/:key': { 'an email': forgottenPassword },
  'POST /accounts/password/reset/:key': {
    'an email': async (surroundings) => ({
      ...(await forgottenPassword(surroundings)),
      password: `${surroundings.n} Something is rotten ${surroundings.n}`,
    }),
  },
};
