import { FOLLOWED, type Scenarios, SMILE, toMessage } from './scenario.js';

export const REACTIONS_SCENARIOS: Scenarios = {
  'POST /messages/:message_id/reactions': [
    { title: 'to a message in a channel', as: 'iago', at: toMessage(0), params: SMILE, heard: ['reaction/add'] },
    {
      title: 'to one that the person never received',
      as: 'cordelia',
      at: toMessage(0),
      params: SMILE,
      heard: ['reaction/add'],
    },
    { title: 'between people', as: 'hamlet', at: toMessage(3), params: SMILE, heard: ['reaction/add'] },
    {
      title: 'in a topic that one follows by taking part',
      as: 'hamlet',
      prepare: ({ server, people }) =>
        server.patch('/settings', people.hamlet, { automatically_follow_topics_policy: 1 }),
      at: toMessage(2),
      params: SMILE,
      heard: [...FOLLOWED, 'reaction/add'],
    },
  ],
  'DELETE /messages/:message_id/reactions': [
    {
      title: 'a reaction to a channel message',
      as: 'iago',
      prepare: ({ server, people, messages }) =>
        server.post(`/messages/${messages[0]}/reactions`, people.iago, { ...SMILE }),
      at: toMessage(0),
      params: SMILE,
      heard: ['reaction/remove'],
    },
  ],
};
