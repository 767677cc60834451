import { fieldsOf } from '../testing/expectations.js';
import type { WireWorld as World } from '../testing/wire-world.js';
import { ACQUAINTED, MESSAGE, type Scenarios } from './scenario.js';

export const INVITATIONS_SCENARIOS: Scenarios = {
  'POST /invites/multiuse': [{ title: 'a link', as: 'desdemona', heard: ['invites_changed'] }],
  'POST /invites': [
    {
      title: 'one address',
      as: 'hamlet',
      params: { invitee_emails: 'yorick@example.com', stream_ids: [] },
      heard: ['invites_changed'],
    },
  ],
  'POST /invites/:invite_id/resend': [
    { title: 'an email', as: 'hamlet', prepare: inviteYorick, at: () => ({ invite_id: 1 }), heard: [] },
  ],
  'DELETE /invites/:invite_id': [
    {
      title: 'an email',
      as: 'hamlet',
      prepare: inviteYorick,
      at: () => ({ invite_id: 1 }),
      heard: ['invites_changed'],
    },
  ],
  'DELETE /invites/multiuse/:invite_id': [
    {
      title: 'a link',
      as: 'iago',
      prepare: makeLink,
      at: () => ({ invite_id: 1 }),
      heard: ['invites_changed'],
    },
  ],
  'POST /invites/accept': [
    {
      title: 'by a link into channels with a history, once the address is confirmed',
      as: null,
      prepare: async (world) => {
        await makeLink(world);
        const asked = await world.server.post('/invites/accept', null, await joining(world));
        expect(fieldsOf(asked)).toMatchObject({ confirmation_sent: true });
      },
      params: async (world) => {
        return { ...(await joining(world)), key: await world.server.linkKey('confirmation', 1) };
      },
      heard: ['realm_export_consent', ...ACQUAINTED, 'subscription/peer_add', 'user_group/add_members'],
    },
  ],
  'POST /realm/test_welcome_bot_custom_message': [
    { title: 'to oneself', as: 'desdemona', params: { welcome_message_custom_text: 'Hi' }, heard: MESSAGE },
  ],
};

/** Parameters for joining with the first link. */
async function joining({ server, people }: World): Promise<Record<string, string>> {
  const { invites } = fieldsOf(await server.get('/invites', people.iago)) as {
    invites: { link_url: string }[];
  };
  return {
    key: invites[0]!.link_url.split('/').at(-2)!,
    email: 'yorick@example.com',
    full_name: 'Yorick',
    password: 'alas, poor yorick 1601',
  };
}

function inviteYorick({ server, people }: World): Promise<unknown> {
  return server.post('/invites', people.hamlet, { invitee_emails: 'yorick@example.com', stream_ids: [] });
}

function makeLink({ server, people, channels }: World): Promise<unknown> {
  return server.post('/invites/multiuse', people.iago, { stream_ids: [channels.town] });
}
