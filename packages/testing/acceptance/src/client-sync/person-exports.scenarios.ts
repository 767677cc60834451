import type { Scenarios } from './scenario.js';

export const PERSON_EXPORTS_SCENARIOS: Scenarios = {
  'POST /export/users': [
    {
      title: "a copy of the caller's data",
      as: 'hamlet',
      params: ({ people }) => ({ password: people.hamlet.password }),
      heard: [],
    },
  ],
};
