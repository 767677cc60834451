import type { InputContext, Inputs } from '../input-context.js';
import type { Fields } from '../routes.js';

async function viewOf({ post, n }: InputContext): Promise<Fields> {
  const fragment = `narrow/made/${n}/${Math.random()}`;
  await post('/navigation_views', { fragment, is_pinned: false, name: fragment });
  return { fragment };
}

export const INPUTS: Inputs = {
  'POST /navigation_views': {
    one: ({ n }) => ({ fragment: `narrow/${n}`, is_pinned: true, name: `View ${n}` }),
  },
  'PATCH /navigation_views/*fragment': {
    'a new name': async (surroundings) => ({ ...(await viewOf(surroundings)), name: `Renamed ${surroundings.n}` }),
  },
  'DELETE /navigation_views/*fragment': { one: viewOf },
};
