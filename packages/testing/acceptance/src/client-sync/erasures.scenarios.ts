import type { Scenarios } from './scenario.js';

export const ERASURES_SCENARIOS: Scenarios = {
  'POST /users/:user_id/erasure': [
    {
      title: 'a member',
      as: 'desdemona',
      at: ({ people }) => ({ user_id: people.hamlet.id }),
      params: ({ people }) => ({ name: 'King Hamlet', password: people.desdemona.password }),
      heard: [],
    },
  ],
};
