import type { Scenarios } from './scenario.js';

export const ERASURES_SCENARIOS: Scenarios = {
  'POST /users/:user_id/erasure': [
    {
      title: 'a member',
      as: 'desdemona',
      at: ({ people }) => ({ user_id: people.shiva.id }),
      params: ({ people }) => ({ name: 'शिव', password: people.desdemona.password }),
      heard: ['realm_user/update', 'subscription/peer_remove', 'user_group/remove_members'],
    },
  ],
};
