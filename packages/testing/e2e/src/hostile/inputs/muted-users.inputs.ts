import type { Inputs } from '../input-context.js';

export const INPUTS: Inputs = {
  'POST /users/me/muted_users/:muted_user_id': {
    'who has written': ({ n, organization: { members } }) => ({ muted_user_id: members[n % members.length]!.id }),
  },
  'DELETE /users/me/muted_users/:muted_user_id': {
    'a muted one': async ({ post, n, organization: { members } }) => {
      const muted_user_id = members[(n * 7 + 3) % members.length]!.id;
      await post(`/users/me/muted_users/${muted_user_id}`, {});
      return { muted_user_id };
    },
  },
};
