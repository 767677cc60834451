import type { Inputs } from '../input-context.js';

export const INPUTS: Inputs = {
  'POST /users/me/presence': {
    active: () => ({ status: 'active', last_update_id: -1 }),
    'in the old form': () => ({ status: 'idle', history_limit_days: 10_000 }),
  },
  'GET /users/:user_id_or_email/presence': {
    somebody: async ({ get, post }) => {
      await post('/users/me/presence', { status: 'active', ping_only: true });
      return { user_id_or_email: (await get('/users/me')).user_id };
    },
  },
};
