import { type Scenarios, SMILE } from './scenario.js';

export const PRESENCE_SCENARIOS: Scenarios = {
  'POST /users/me/status': [
    {
      title: 'a text and an emoji',
      as: 'hamlet',
      params: { status_text: 'busy', ...SMILE },
      heard: ['user_status'],
    },
    {
      title: 'away',
      as: 'hamlet',
      params: { away: true },
      heard: ['presence', 'user_settings/update', 'user_status'],
    },
    {
      title: 'none any more',
      as: 'hamlet',
      prepare: ({ server, people }) =>
        server.post('/users/me/status', people.hamlet, { status_text: 'busy', ...SMILE }),
      params: { status_text: '', emoji_name: '' },
      heard: ['user_status'],
    },
  ],
  'POST /users/:user_id/status': [
    {
      title: 'a user whom few guests can access',
      as: 'iago',
      at: ({ people }) => ({ user_id: people.shiva.id }),
      params: { status_text: 'busy' },
      heard: ['user_status'],
    },
  ],
  'POST /users/me/presence': [
    { title: 'a user without presence', as: 'hamlet', params: { status: 'active' }, heard: ['presence'] },
  ],
};
