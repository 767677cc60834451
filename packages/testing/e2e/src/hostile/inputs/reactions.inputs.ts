import type { Inputs } from '../input-context.js';

export const INPUTS: Inputs = {
  'POST /messages/:message_id/reactions': {
    'a vote': ({ n }) => ({ message_id: n + 1, emoji_name: 'smile' }),
  },
  'DELETE /messages/:message_id/reactions': {
    'a vote': ({ react }) => react(),
  },
};
