import type { Inputs } from '../input-context.js';

export const INPUTS: Inputs = {
  'POST /users/me/onboarding_steps': {
    one: () => ({ onboarding_step: 'intro_inbox_view_modal' }),
  },
};
