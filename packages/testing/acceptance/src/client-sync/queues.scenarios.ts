import { fieldsOf } from '../testing/expectations.js';
import { webTokenOf } from '../testing/test-server.js';
import type { Scenarios } from './scenario.js';

export const QUEUES_SCENARIOS: Scenarios = {
  'POST /register': [{ title: 'changes nothing', as: 'hamlet', heard: [] }],
  'DELETE /events': [
    {
      title: 'changes nothing',
      as: 'hamlet',
      params: async ({ server, people }) => {
        const { queue_id } = fieldsOf(await server.post('/register', people.hamlet, { event_types: [] }));
        return { queue_id };
      },
      heard: [],
    },
  ],
  'POST /events/acknowledge': [
    {
      title: 'changes nothing',
      as: 'hamlet',
      params: async ({ server, people }) => {
        const { queue_id } = fieldsOf(await server.post('/register', people.hamlet, { event_types: [] }));
        return { queue_id, last_event_id: -1 };
      },
      heard: [],
    },
  ],
  'POST /fetch_api_key': [
    {
      title: 'changes nothing',
      as: null,
      params: ({ people: { hamlet } }) => ({ username: hamlet.email, password: hamlet.password }),
      heard: [],
    },
  ],
  'POST /dev_fetch_api_key': [
    { title: 'changes nothing', as: null, params: ({ people }) => ({ username: people.hamlet.email }), heard: [] },
  ],
  'POST /jwt/fetch_api_key': [
    {
      title: 'changes nothing',
      as: null,
      params: ({ people: { hamlet }, server: { clock } }) => ({
        token: webTokenOf({ email: hamlet.email, exp: clock.now() + 10 }),
      }),
      heard: [],
    },
  ],
  'POST /accounts/login/': [
    {
      title: 'changes nothing',
      as: null,
      params: ({ people: { hamlet } }) => ({ username: hamlet.email, password: hamlet.password }),
      heard: [],
    },
  ],
  'POST /json/register': [
    {
      title: 'changes nothing',
      as: null,
      prepare: async ({ server, people }) => {
        fieldsOf(await server.patch('/realm', people.desdemona, { enable_spectator_access: true }));
        await server.createChannel('gallery', [], { is_web_public: true });
      },
      heard: [],
    },
  ],
  'POST /login/': [
    {
      title: 'changes nothing',
      as: null,
      status: 303,
      params: ({ people: { hamlet } }) => ({ username: hamlet.email, password: hamlet.password }),
      heard: [],
    },
  ],
  'DELETE /users/me/sessions': [{ title: 'changes nothing', as: 'hamlet', heard: [] }],
  'DELETE /users/me/sessions/:session_id': [
    { title: 'changes nothing', as: 'hamlet', at: () => ({ session_id: 4711 }), heard: [] },
  ],
  'DELETE /users/:user_id/sessions': [
    { title: 'changes nothing', as: 'desdemona', at: ({ people }) => ({ user_id: people.hamlet.id }), heard: [] },
  ],
  'DELETE /users/:user_id/second_factors': [
    {
      title: 'changes nothing',
      as: 'desdemona',
      // Nobody has a second factor.
      status: 400,
      at: ({ people }) => ({ user_id: people.hamlet.id }),
      heard: [],
    },
  ],
  'POST /accounts/logout/': [{ title: 'changes nothing', as: 'hamlet', heard: [] }],
  'POST /json/fetch_api_key': [
    {
      title: 'changes nothing',
      as: 'hamlet',
      params: ({ people: { hamlet } }) => ({ password: hamlet.password }),
      heard: [],
    },
  ],
};
