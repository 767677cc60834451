import type { Scenarios } from './scenario.js';

export const HOST_DATA_SCENARIOS: Scenarios = {
  'PATCH /application_data': [
    {
      title: 'data of a channel',
      as: 'iago',
      params: ({ channels }) => ({ object_type: 'channel', object_id: channels.town, data: { order: 7 } }),
      heard: [],
    },
  ],
};
