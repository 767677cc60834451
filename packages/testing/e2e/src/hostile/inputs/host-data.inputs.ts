import { type Inputs, messageIn } from '../input-context.js';

export const INPUTS: Inputs = {
  'GET /application_data': {
    messages: ({ n }) => ({ object_type: 'message', object_ids: Array.from({ length: 1000 }, (_, id) => n + id + 1) }),
  },
  'PATCH /application_data': {
    'a new message': async (surroundings) => ({
      object_type: 'message',
      object_id: await messageIn(surroundings, 'data'),
      data: { text: 'x'.repeat(4000) },
    }),
  },
};
