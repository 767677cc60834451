import { ACQUAINTED, MESSAGE, type Scenarios } from './scenario.js';

export const BOTS_SCENARIOS: Scenarios = {
  'POST /bots': [
    {
      title: 'a bot for its creator',
      as: 'hamlet',
      params: { full_name: 'Another Helper', short_name: 'another', default_sending_stream: 'town' },
      heard: [...ACQUAINTED, 'user_group/add_members', 'realm_bot/add'],
    },
  ],
  'PATCH /bots/:bot_id': [
    {
      title: 'its name, address and channels',
      as: 'hamlet',
      at: ({ people }) => ({ bot_id: people.helper.id }),
      params: {
        full_name: 'Another',
        short_name: 'another',
        default_sending_stream: 'town',
        default_all_public_streams: true,
      },
      heard: ['realm_user/update', 'realm_bot/update'],
    },
    {
      title: 'its owner',
      as: 'desdemona',
      at: ({ people }) => ({ bot_id: people.helper.id }),
      params: ({ people }) => ({ bot_owner_id: people.cordelia.id }),
      heard: ['realm_user/update', 'realm_bot/add', 'realm_bot/delete'],
    },
  ],
  'DELETE /bots/:bot_id': [
    {
      title: 'a bot with subscriptions',
      as: 'hamlet',
      prepare: ({ server, people }) =>
        server.post('/users/me/subscriptions', people.hamlet, {
          subscriptions: [{ name: 'town' }, { name: 'closet' }],
          principals: [people.helper.id],
        }),
      at: ({ people }) => ({ bot_id: people.helper.id }),
      heard: ['realm_user/update', 'subscription/peer_remove'],
    },
  ],
  'POST /bots/:bot_id/api_key/regenerate': [
    { title: 'changes nothing', as: 'hamlet', at: ({ people }) => ({ bot_id: people.helper.id }), heard: [] },
  ],
  'POST /users/me/api_key/regenerate': [{ title: 'ends the user’s queues', as: 'shiva', heard: [] }],
  'POST /external/:integration': [
    {
      title: 'sends a message',
      as: 'hamlet',
      at: () => ({ integration: 'json' }),
      body: '{"a": 1}',
      headers: { 'Content-Type': 'application/json' },
      heard: MESSAGE,
    },
  ],
  'PUT /bot_storage': [
    { title: 'is the bot’s own business', as: 'helper', params: { storage: { key: 'value' } }, heard: [] },
  ],
  'DELETE /bot_storage': [{ title: 'is the bot’s own business', as: 'helper', heard: [] }],
};
