import { fieldsOf } from '../testing/expectations.js';
import type { WireWorld as World, WorldPerson } from '../testing/wire-world.js';
import { CREATED, type Fields, HIDDEN, MESSAGE, type Scenarios, systemGroups } from './scenario.js';

/** Newest group created by `makeGroup`. */
const madeGroups = new WeakMap<World, number>();

export const GROUPS_SCENARIOS: Scenarios = {
  'POST /user_groups/create': [
    {
      title: 'with members and subgroups',
      as: 'iago',
      params: async (world) => ({
        name: 'cast',
        description: 'On stage',
        members: [world.people.hamlet.id, world.people.polonius.id],
        subgroups: [(await systemGroups(world)).moderators],
        can_mention_group: { direct_members: [world.people.hamlet.id], direct_subgroups: [] },
      }),
      heard: ['user_group/add', 'user_group/add_subgroups'],
    },
  ],
  'PATCH /user_groups/:user_group_id': [
    {
      title: 'name and permissions',
      as: 'iago',
      prepare: makeGroup(),
      at: toGroup,
      params: async (world) => ({
        name: 'crew',
        description: 'Behind the stage',
        can_join_group: { new: (await systemGroups(world)).members },
      }),
      heard: ['user_group/update'],
    },
    {
      title: 'a deactivated group',
      as: 'iago',
      prepare: async (world) => {
        await makeGroup()(world);
        await world.server.post(`/user_groups/${toGroup(world).user_group_id}/deactivate`, world.people.iago);
      },
      at: toGroup,
      params: { name: 'crew' },
      heard: ['user_group/update'],
    },
    {
      title: 'reactivation',
      as: 'iago',
      prepare: async (world) => {
        await makeGroup()(world);
        await world.server.post(`/user_groups/${toGroup(world).user_group_id}/deactivate`, world.people.iago);
      },
      at: toGroup,
      params: { deactivated: false },
      heard: ['user_group/add', 'user_group/update'],
    },
  ],
  'POST /user_groups/:user_group_id/deactivate': [
    {
      title: 'one with members',
      as: 'iago',
      prepare: makeGroup('hamlet'),
      at: toGroup,
      heard: ['user_group/remove', 'user_group/update'],
    },
  ],
  'POST /user_groups/:user_group_id/members': [
    {
      title: 'coming and going',
      as: 'iago',
      prepare: makeGroup('hamlet'),
      at: toGroup,
      params: ({ people }) => ({ add: [people.cordelia.id, people.lonelyGuest.id], delete: [people.hamlet.id] }),
      heard: ['user_group/add_members', 'user_group/remove_members', ...MESSAGE],
    },
    {
      title: 'to whom it opens channels, and rights',
      as: 'iago',
      prepare: letGroupSeeChannel(),
      at: toGroup,
      params: async (world) => ({
        add: [world.people.cordelia.id],
        add_subgroups: [(await systemGroups(world)).members],
      }),
      heard: ['user_group/add_members', 'user_group/add_subgroups', ...CREATED, 'subscription/peer_add', ...MESSAGE],
    },
    {
      title: 'a deactivated group',
      as: 'iago',
      prepare: async (world) => {
        await makeGroup('hamlet')(world);
        await world.server.post(`/user_groups/${toGroup(world).user_group_id}/deactivate`, world.people.iago);
      },
      at: toGroup,
      params: ({ people }) => ({ add: [people.cordelia.id], delete: [people.hamlet.id] }),
      heard: ['user_group/add_members', 'user_group/remove_members', ...MESSAGE],
    },
    {
      title: 'a user who joins',
      as: 'cordelia',
      prepare: makeGroup('cordelia'),
      at: toGroup,
      params: ({ people }) => ({ delete: [people.cordelia.id] }),
      heard: ['user_group/remove_members'],
    },
    {
      title: 'to whom it closes them',
      as: 'iago',
      prepare: letGroupSeeChannel('hamlet', 'cordelia'),
      at: toGroup,
      params: ({ people }) => ({ delete: [people.hamlet.id, people.cordelia.id] }),
      heard: ['user_group/remove_members', ...HIDDEN, ...MESSAGE],
    },
  ],
  'POST /user_groups/:user_group_id/subgroups': [
    {
      title: 'a role, with which rights go',
      as: 'iago',
      prepare: async (world) => {
        await letGroupSeeChannel('hamlet')(world);
        const add_subgroups = [(await systemGroups(world)).members];
        const at = `/user_groups/${toGroup(world).user_group_id}/members`;
        fieldsOf(await world.server.post(at, world.people.iago, { add_subgroups }));
      },
      at: toGroup,
      params: async (world) => ({ delete: [(await systemGroups(world)).members] }),
      heard: ['user_group/remove_subgroups', ...HIDDEN],
    },
    {
      title: 'a role',
      as: 'iago',
      prepare: makeGroup('hamlet'),
      at: toGroup,
      params: async (world) => ({ add: [(await systemGroups(world)).owners] }),
      heard: ['user_group/add_subgroups'],
    },
  ],
};

function toGroup(world: World): Fields {
  return { user_group_id: madeGroups.get(world) };
}

function makeGroup(...members: readonly WorldPerson[]): (world: World) => Promise<void> {
  return async (world) => {
    const { server, people } = world;
    const params = { name: 'cast', description: '', members: members.map((name) => people[name].id) };
    madeGroups.set(world, fieldsOf(await server.post('/user_groups/create', people.iago, params)).group_id!);
  };
}

/** More channels than an event contains. */
const BALCONIES = Array.from({ length: 12 }, (_, n) => ({ name: `balcony ${n}` }));

/** Lets the members of the newest group access a channel and create others. */
function letGroupSeeChannel(...members: readonly WorldPerson[]): (world: World) => Promise<void> {
  return async (world) => {
    const { server, people } = world;
    await makeGroup(...members)(world);
    const group = madeGroups.get(world);
    const params = { name: 'stage', subscribers: [people.iago.id], invite_only: true, can_subscribe_group: group };
    fieldsOf(await server.post('/channels/create', people.desdemona, params));
    const balconies = { subscriptions: BALCONIES, invite_only: true, can_subscribe_group: group };
    fieldsOf(await server.post('/users/me/subscriptions', people.desdemona, balconies));
    fieldsOf(await server.patch('/realm', people.desdemona, { can_create_private_channel_group: { new: group } }));
  };
}
