import { type Inputs, owner } from '../input-context.js';

export const INPUTS: Inputs = {
  'POST /users/me/status': { 'a text and an emoji': () => ({ status_text: 'x'.repeat(60), emoji_name: 'smile' }) },
  'POST /users/:user_id/status': { somebody: (surroundings) => ({ ...owner(surroundings), status_text: 'busy' }) },
};
