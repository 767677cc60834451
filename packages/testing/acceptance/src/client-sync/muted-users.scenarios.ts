import type { WireWorld as World, WorldPerson } from '../testing/wire-world.js';
import type { Fields, Scenarios } from './scenario.js';

export const MUTED_USERS_SCENARIOS: Scenarios = {
  'POST /users/me/muted_users/:muted_user_id': [
    {
      title: 'a user who sent messages',
      as: 'hamlet',
      at: mutedUser('iago'),
      heard: ['muted_users', 'update_message_flags/add'],
    },
  ],
  'DELETE /users/me/muted_users/:muted_user_id': [
    {
      title: 'no longer',
      as: 'hamlet',
      prepare: ({ server, people }) => server.post(`/users/me/muted_users/${people.iago.id}`, people.hamlet),
      at: mutedUser('iago'),
      heard: ['muted_users'],
    },
  ],
  'POST /users/me/alert_words': [
    { title: 'a word', as: 'hamlet', params: { alert_words: ['Tea'] }, heard: ['alert_words'] },
  ],
  'DELETE /users/me/alert_words': [
    {
      title: 'a word',
      as: 'hamlet',
      prepare: ({ server, people }) => server.post('/users/me/alert_words', people.hamlet, { alert_words: ['Tea'] }),
      params: { alert_words: ['tea'] },
      heard: ['alert_words'],
    },
  ],
};

function mutedUser(name: WorldPerson) {
  return ({ people }: World): Fields => ({ muted_user_id: people[name].id });
}
