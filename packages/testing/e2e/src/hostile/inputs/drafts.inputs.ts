import type { InputContext, Inputs } from '../input-context.js';
import type { Fields } from '../routes.js';

const draftFor = ({ organization: { channelIds } }: InputContext, content: string): Fields => ({
  type: 'stream',
  to: [channelIds.at(-1)],
  topic: 'x',
  content,
});
async function draftOf(surroundings: InputContext): Promise<Fields> {
  const { ids } = await surroundings.post('/drafts', { drafts: [draftFor(surroundings, 'x')] });
  return { draft_id: (ids as number[])[0] };
}

export const INPUTS: Inputs = {
  'POST /drafts': {
    one: (surroundings) => ({ drafts: [draftFor(surroundings, 'x')] }),
    many: (surroundings) => ({ drafts: Array(1000).fill(draftFor(surroundings, 'x'.repeat(700))) }),
  },
  'PATCH /drafts/:draft_id': {
    'a long one': async (surroundings) => ({
      ...(await draftOf(surroundings)),
      draft: draftFor(surroundings, 'x'.repeat(900_000)),
    }),
  },
};
