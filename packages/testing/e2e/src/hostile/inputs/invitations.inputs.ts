import { type InputContext, type Inputs, linkToAllChannels } from '../input-context.js';

const joining = ({ n }: InputContext, prefix: string): Fields => ({
  email: `${prefix}${n}@example.com`,
  full_name: `Joined ${prefix} ${n}`,
  password: `${n} Something is rotten ${n}`,
});

import type { Fields } from '../routes.js';

const listed = async ({ get }: InputContext, isLink: boolean): Promise<Fields> => {
  const { invites } = await get('/invites');
  const all = invites as { readonly id: number; readonly is_multiuse: boolean }[];
  return { invite_id: all.filter(({ is_multiuse }) => is_multiuse === isLink).at(-1)!.id };
};
async function newEmail(surroundings: InputContext): Promise<Fields> {
  await surroundings.post('/invites', { invitee_emails: `l${surroundings.n}@example.com`, stream_ids: [] });
  return listed(surroundings, false);
}
async function newLink(surroundings: InputContext): Promise<Fields> {
  await surroundings.post('/invites/multiuse', {});
  return listed(surroundings, true);
}

export const INPUTS: Inputs = {
  'POST /invites': {
    'one person': ({ n }) => ({ invitee_emails: `i${n}@example.com`, stream_ids: [] }),
    'three hundred, into all channels': ({ n, organization: { channelIds } }) => ({
      invitee_emails: Array.from({ length: 300 }, (_, index) => `i${n}-${index}@example.com`).join(','),
      stream_ids: channelIds.slice(0, 1000),
      invite_as: 400,
    }),
  },
  'POST /invites/accept': {
    'by a link into all channels': async (surroundings) => ({
      ...(await linkToAllChannels(surroundings)),
      ...joining(surroundings, 'j'),
    }),
  },
  'POST /accounts/register/': {
    'by a link into all channels': async (surroundings) => ({
      ...(await linkToAllChannels(surroundings)),
      ...joining(surroundings, 'r'),
    }),
  },
  'GET /join/:key/': { 'a link': linkToAllChannels },
  'POST /join/:key/': {
    'a link': async (surroundings) => ({
      ...(await linkToAllChannels(surroundings)),
      email: `l${surroundings.n}@example.com`,
    }),
  },
  'POST /register/': {
    somebody: async ({ n, post }) => {
      await post('/realm', { method: 'PATCH', invite_required: false });
      return { email: `o${n}@example.com` };
    },
  },
  'DELETE /invites/:invite_id': { 'an email': (surroundings) => newEmail(surroundings) },
  'POST /invites/:invite_id/resend': { 'an email': (surroundings) => newEmail(surroundings) },
  'DELETE /invites/multiuse/:invite_id': { 'a link': (surroundings) => newLink(surroundings) },
};
