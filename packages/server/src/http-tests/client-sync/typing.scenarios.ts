import { type Scenarios, toMessage } from './scenario.js';

/** What is not logged reaches clients that poll; these have only registered. */
const NOT_YET_THERE: readonly string[] = [];

export const TYPING_SCENARIOS: Scenarios = {
  'POST /typing': [
    {
      title: 'in a channel',
      as: 'hamlet',
      params: ({ channels }) => ({ op: 'start', type: 'stream', stream_id: channels.town, topic: 'news' }),
      heard: NOT_YET_THERE,
    },
    {
      title: 'between people',
      as: 'hamlet',
      params: ({ people }) => ({ op: 'stop', to: [people.polonius.id] }),
      heard: NOT_YET_THERE,
    },
  ],
  'POST /messages/:message_id/typing': [
    {
      title: 'in a channel',
      as: 'iago',
      at: toMessage(0),
      params: { op: 'start' },
      heard: NOT_YET_THERE,
    },
  ],
};
