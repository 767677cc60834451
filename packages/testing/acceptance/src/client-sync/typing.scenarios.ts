import { type Scenarios, toMessage } from './scenario.js';

export const TYPING_SCENARIOS: Scenarios = {
  'POST /typing': [
    {
      title: 'in a channel',
      as: 'hamlet',
      params: ({ channels }) => ({ op: 'start', type: 'stream', stream_id: channels.town, topic: 'news' }),
      heard: ['typing/start'],
    },
    {
      title: 'between people',
      as: 'hamlet',
      params: ({ people }) => ({ op: 'stop', to: [people.polonius.id] }),
      heard: ['typing/stop'],
    },
  ],
  'POST /messages/:message_id/typing': [
    {
      title: 'in a channel',
      as: 'iago',
      at: toMessage(0),
      params: { op: 'start' },
      heard: ['typing_edit_message/start'],
    },
  ],
};
