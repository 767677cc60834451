import { type Inputs, lengthened, owner, peopleOf } from '../input-context.js';

export const INPUTS: Inputs = {
  'GET /users': {
    everybody: () => ({ client_gravatar: false, include_custom_profile_fields: true }),
    'everybody by id': (surroundings) => ({ client_gravatar: false, user_ids: peopleOf(surroundings) }),
  },
  'POST /users': {
    'somebody new': ({ n }) => ({
      email: `new${n}@elsinore.example`,
      password: `${n} Something is rotten ${n}`,
      full_name: lengthened(`New ${n} `, 100),
    }),
  },
  'GET /users/:email': { somebody: owner },
  'DELETE /users/:user_id': {
    somebody: ({ aMember }) => ({ user_id: aMember() }),
    'somebody, with many words': ({ aMember }) => ({
      user_id: aMember(),
      deactivation_notification_comment: lengthened('', 2000),
    }),
  },
  'POST /users/:user_id/reactivate': {
    somebody: ({ aMember }) => ({ user_id: aMember() }),
  },
  'PATCH /users/:user_id': {
    'a name': ({ organization: { members }, n }) => ({
      user_id: members[0]!.id,
      full_name: lengthened(`New ${n} `, 100),
    }),
    'a role': ({ organization: { members }, n }) => ({ user_id: members[1]!.id, role: n % 2 === 0 ? 600 : 300 }),
  },
  'PATCH /users/:email': {
    'a name': ({ organization: { members }, n }) => ({
      email: members[0]!.email,
      full_name: lengthened(`New ${n} `, 100),
    }),
  },
};
