import { fieldsOf } from '../testing/expectations.js';
import type { WireWorld as World } from '../testing/wire-world.js';
import { ACQUAINTED, type Fields, type Scenarios } from './scenario.js';

const PASSWORD = 'alas, poor yorick 1601';

const page = { as: null, isPage: true } as const;

export const PAGES_SCENARIOS: Scenarios = {
  'POST /accounts/confirm_new_email/:key': [
    { ...page, title: 'another address', prepare: askForAddress, at: confirmation, heard: ['realm_user/update'] },
  ],
  'POST /accounts/login/complete/:method/': [
    { ...page, title: 'a response that nobody asked for', status: 400, at: () => ({ method: 'company' }), heard: [] },
  ],
  'POST /accounts/login/connect/': [
    { ...page, title: 'an unknown connection', status: 400, params: { state: 'nobody' }, heard: [] },
  ],
  'POST /accounts/login/logout/:method/': [
    { ...page, title: 'a notice of nobody', status: 400, at: () => ({ method: 'company' }), heard: [] },
  ],
  'POST /accounts/login/subdomain/:token': [
    { ...page, title: 'a token of nobody', status: 400, at: () => ({ token: 'nobody' }), heard: [] },
  ],
  'POST /accounts/password/reset/': [
    { ...page, title: 'a member', params: ({ people }) => ({ email: people.hamlet.email }), heard: [] },
  ],
  'POST /accounts/password/reset/:key': [
    {
      ...page,
      title: 'another password',
      prepare: askForPassword,
      at: confirmation,
      params: { password: PASSWORD },
      heard: [],
    },
  ],
  'POST /accounts/unsubscribe/:kind/:key/': [
    {
      ...page,
      title: 'from login emails',
      at: async ({ server, people }) => ({
        kind: 'login',
        key: await server.linkKey('unsubscribe', people.hamlet.id),
      }),
      heard: ['user_settings/update'],
    },
  ],
  'POST /join/:key/': [
    {
      ...page,
      title: 'by a link',
      prepare: makeLink,
      at: async ({ server }) => ({ key: await server.linkKey('invitation', 1) }),
      params: { email: 'yorick@example.com' },
      heard: [],
    },
  ],
  'POST /register/': [
    {
      ...page,
      title: 'an organization open to everybody',
      prepare: openToAll,
      params: { email: 'yorick@example.com' },
      heard: [],
    },
  ],
  'POST /accounts/register/': [
    {
      ...page,
      title: 'into the default channels',
      prepare: async (world) => {
        await openToAll(world);
        await world.server.post('//register/', null, { email: 'yorick@example.com' });
      },
      params: async (world) => ({ ...(await confirmation(world)), full_name: 'Yorick', password: PASSWORD }),
      heard: ['realm_export_consent', ...ACQUAINTED, 'subscription/peer_add', 'user_group/add_members'],
    },
  ],
  'POST /accounts/second-factor/': [{ ...page, title: 'changes nothing', heard: [] }],
  'POST /accounts/sessions/': [{ ...page, title: 'changes nothing without a session', heard: [] }],
  ...Object.fromEntries(
    [
      'POST /login/second-factor/',
      'POST /login/passkey/',
      'POST /accounts/second-factor/app/',
      'POST /accounts/second-factor/passkey/',
      'POST /accounts/second-factor/recovery/',
      'POST /accounts/second-factor/remove/',
    ].map((route) => [
      route,
      // Sent without the password before.
      [{ ...page, title: 'changes nothing', status: 400, params: () => ({ state: 'x' }), heard: [] }],
    ]),
  ),
};

/** Key of the first confirmation. */
async function confirmation({ server }: World): Promise<Fields> {
  return { key: await server.linkKey('confirmation', 1) };
}

/** Requests a change to an email that differs only in case, so that the world's clients still recognize it. */
async function askForAddress({ server, people }: World): Promise<void> {
  fieldsOf(await server.patch('/settings', people.hamlet, { email: people.hamlet.email.toUpperCase() }));
}

function askForPassword({ server, people }: World): Promise<unknown> {
  return server.post('//accounts/password/reset/', null, { email: people.hamlet.email });
}

function makeLink({ server, people }: World): Promise<unknown> {
  return server.post('/invites/multiuse', people.iago);
}

async function openToAll({ server, people }: World): Promise<void> {
  fieldsOf(await server.patch('/realm', people.desdemona, { invite_required: false }));
}
