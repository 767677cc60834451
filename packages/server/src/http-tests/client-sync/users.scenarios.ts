import { fieldsOf } from '../../testing/expectations.js';
import type { WireWorld as World, WorldPerson } from '../../testing/wire-world.js';
import { ACQUAINTED, CREATED, type Fields, HIDDEN, LOST, type Scenarios } from './scenario.js';

/** Of somebody whom a guest knows no longer. */
const OUT_OF_SIGHT = ['realm/update_dict', 'stream/update', 'user_group/remove_members', 'user_group/update'];

const ROLE = ['realm_user/update', 'user_group/add_members', 'user_group/remove_members'];

const toUser =
  (name: WorldPerson) =>
  ({ people }: World): Fields => ({ user_id: people[name].id });

export const USERS_SCENARIOS: Scenarios = {
  'POST /users': [
    {
      title: 'a member',
      as: 'desdemona',
      params: { email: 'yorick@zulip.com', password: 'alas, poor yorick 1601', full_name: 'Yorick' },
      heard: ['realm_export_consent', ...ACQUAINTED, 'subscription/peer_add', 'user_group/add_members'],
    },
  ],
  'DELETE /users/:user_id': [
    {
      title: 'a subscriber, whom a guest knows by a channel alone',
      as: 'iago',
      given: spellOut('shiva'),
      at: toUser('shiva'),
      heard: ['realm_user/update', ...LOST, 'subscription/peer_remove', ...OUT_OF_SIGHT],
    },
    {
      title: 'with the profile',
      as: 'iago',
      at: toUser('shiva'),
      params: { actions: { delete_profile: true } },
      heard: ['realm_user/update', 'subscription/peer_remove', 'user_group/remove_members'],
    },
  ],
  'DELETE /users/me': [
    {
      title: 'the owner of a bot',
      as: 'shiva',
      heard: ['realm_user/update', 'subscription/peer_remove', 'user_group/remove_members'],
    },
  ],
  'POST /users/:user_id/reactivate': [
    {
      title: 'a subscriber, whom a guest knows by a channel alone',
      as: 'iago',
      given: async (world) => {
        await spellOut('shiva')(world);
        fieldsOf(await world.server.delete(`/users/${world.people.shiva.id}`, world.people.iago));
      },
      at: toUser('shiva'),
      heard: [
        'realm/update_dict',
        'realm_export_consent',
        'realm_user/update',
        ...ACQUAINTED,
        'stream/update',
        'subscription/peer_add',
        'user_group/add_members',
        'user_group/update',
      ],
    },
    {
      title: 'somebody whose role changed meanwhile',
      as: 'iago',
      given: async ({ server, people: { iago, shiva } }) => {
        fieldsOf(await server.delete(`/users/${shiva.id}`, iago));
        fieldsOf(await server.patch(`/users/${shiva.id}`, iago, { role: 400 }));
      },
      at: toUser('shiva'),
      heard: [
        'realm_export_consent',
        'realm_user/update',
        'subscription/peer_add',
        'user_group/add_members',
        'user_group/remove_members',
      ],
    },
  ],
  'PATCH /users/:user_id': [
    {
      title: 'a name',
      as: 'iago',
      at: toUser('hamlet'),
      params: { full_name: 'Prince' },
      heard: ['realm_user/update'],
    },
    { title: 'a role', as: 'iago', at: toUser('hamlet'), params: { role: 300 }, heard: ROLE },
    {
      title: 'the same for less',
      as: 'iago',
      at: toUser('hamlet'),
      params: { role: 600 },
      heard: [...ROLE, ...HIDDEN, ...LOST, 'default_streams'],
    },
    {
      title: 'that of a guest who knew few',
      as: 'iago',
      at: toUser('lonelyGuest'),
      params: { role: 400 },
      heard: [...ROLE, ...CREATED, 'subscription/peer_add', ...ACQUAINTED, 'default_streams'],
    },
    {
      title: 'to administrator',
      as: 'desdemona',
      at: toUser('cordelia'),
      params: { role: 200 },
      heard: [...ROLE, ...CREATED, 'subscription/peer_add'],
    },
  ],
  'PATCH /users/:email': [
    {
      title: 'a name',
      as: 'iago',
      at: ({ people }) => ({ email: people.hamlet.email }),
      params: { full_name: 'Prince' },
      heard: ['realm_user/update'],
    },
  ],
};

/** Puts somebody into the town, where a guest is, and into permissions of everything by name. */
function spellOut(name: WorldPerson): (world: World) => Promise<void> {
  return async (world) => {
    const { server, people } = world;
    const value = { direct_members: [people[name].id, people.hamlet.id], direct_subgroups: [] };
    const subscribed = { subscriptions: [{ name: 'town' }], principals: [people[name].id] };
    fieldsOf(await server.post('/users/me/subscriptions', people.iago, subscribed));
    fieldsOf(await server.patch('/realm', people.desdemona, { can_create_groups: { new: value } }));
    fieldsOf(
      await server.patch(`/streams/${world.channels.town}`, people.iago, { can_send_message_group: { new: value } }),
    );
    fieldsOf(await server.patch('/realm', people.desdemona, { can_create_groups: { new: value } }));
    const params = { name: 'named', description: '', members: [people[name].id], can_join_group: value };
    fieldsOf(await server.post('/user_groups/create', people[name], params));
  };
}
