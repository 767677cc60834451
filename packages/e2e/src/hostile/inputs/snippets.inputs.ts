import type { InputContext, Inputs } from '../input-context.js';
import type { Fields } from '../routes.js';

async function snippetOf({ post }: InputContext): Promise<Fields> {
  const { saved_snippet_id } = await post('/saved_snippets', { title: 'x', content: 'x' });
  return { saved_snippet_id };
}

export const INPUTS: Inputs = {
  'POST /saved_snippets': {
    'a long one': () => ({ title: 'x'.repeat(60), content: 'x'.repeat(10_000) }),
  },
  'PATCH /saved_snippets/:saved_snippet_id': {
    'a new text': async (surroundings) => ({ ...(await snippetOf(surroundings)), content: 'x'.repeat(10_000) }),
  },
  'DELETE /saved_snippets/:saved_snippet_id': { one: snippetOf },
};
