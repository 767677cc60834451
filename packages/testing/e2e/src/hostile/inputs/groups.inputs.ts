import { type Inputs, lengthened, newChannels, peopleOf } from '../input-context.js';

export const INPUTS: Inputs = {
  'GET /user_groups': { 'all of them': () => ({ include_deactivated_groups: true }) },
  'POST /user_groups/create': {
    'a small one': ({ n }) => ({ name: `Small ${n}`, description: '', members: [] }),
    'one of everybody': (surroundings) => ({
      name: lengthened(`Group ${surroundings.n} `, 100),
      description: lengthened('', 1024),
      members: peopleOf(surroundings),
      can_join_group: { direct_members: peopleOf(surroundings), direct_subgroups: [] },
      can_manage_group: { direct_members: peopleOf(surroundings), direct_subgroups: [] },
    }),
  },
  'PATCH /user_groups/:user_group_id': {
    'a name': async ({ makeGroup, n }) => ({ user_group_id: await makeGroup([]), name: `Renamed ${n}` }),
    everything: async (surroundings) => ({
      user_group_id: await surroundings.makeGroup([]),
      name: lengthened(`Renamed ${surroundings.n} `, 100),
      description: lengthened('', 1024),
      can_mention_group: { new: { direct_members: peopleOf(surroundings), direct_subgroups: [] } },
    }),
  },
  'POST /user_groups/:user_group_id/deactivate': {
    'an empty one': async ({ makeGroup }) => ({ user_group_id: await makeGroup([]) }),
    'one of everybody': async (surroundings) => ({
      user_group_id: await surroundings.makeGroup(peopleOf(surroundings)),
    }),
  },
  'GET /user_groups/:user_group_id/members': {
    'of everybody': async (surroundings) => ({ user_group_id: await surroundings.makeGroup(peopleOf(surroundings)) }),
  },
  'GET /user_groups/:user_group_id/members/:user_id': {
    somebody: async (surroundings) => ({
      user_group_id: await surroundings.makeGroup([]),
      user_id: peopleOf(surroundings)[0],
    }),
  },
  'GET /user_groups/:user_group_id/subgroups': {
    'of one': async ({ makeGroup }) => ({ user_group_id: await makeGroup([]) }),
  },
  'POST /user_groups/:user_group_id/members': {
    'one more': async (surroundings) => ({
      user_group_id: await surroundings.makeGroup([]),
      add: peopleOf(surroundings).slice(0, 1),
    }),
    everybody: async (surroundings) => ({
      user_group_id: await surroundings.makeGroup([]),
      add: peopleOf(surroundings),
      add_subgroups: [await surroundings.makeGroup(peopleOf(surroundings))],
    }),
    'everybody, whom it lets see many private channels': async (surroundings) => {
      const user_group_id = await surroundings.makeGroup([]);
      await surroundings.post('/users/me/subscriptions', {
        subscriptions: newChannels(surroundings, 200).map(({ name }) => ({ name })),
        invite_only: true,
        can_subscribe_group: user_group_id,
      });
      return { user_group_id, add: peopleOf(surroundings) };
    },
  },
  'POST /user_groups/:user_group_id/subgroups': {
    'one more': async ({ makeGroup }) => ({ user_group_id: await makeGroup([]), add: [await makeGroup([])] }),
  },
};
