import type { Inputs } from '../input-context.js';

const ALL_EVENTS = ['message', 'update_message_flags', 'subscription', 'stream', 'realm_user'];

export const INPUTS: Inputs = {
  'POST /register': {
    'a bot': () => ({ event_types: ['message'], fetch_event_types: [] }),
    everything: () => ({}),
    'everything, with subscribers': () => ({
      include_subscribers: 'true',
      client_gravatar: false,
      apply_markdown: true,
    }),
    'with a narrow': ({ organization: { channelNames } }) => ({
      event_types: ALL_EVENTS,
      narrow: Array.from({ length: 60 }, (_, n) => ['channel', channelNames[n % channelNames.length]]),
    }),
  },
  'GET /events': {
    'what there is': async ({ openQueue }) => ({ queue_id: await openQueue(), last_event_id: -1, dont_block: true }),
  },
  'POST /events/acknowledge': {
    nothing: async ({ openQueue }) => ({ queue_id: await openQueue(), last_event_id: -1 }),
  },
  'DELETE /events': {
    'a queue': async ({ openQueue }) => ({ queue_id: await openQueue() }),
  },
};
