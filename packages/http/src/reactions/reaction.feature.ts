import type { HttpFeature } from '../feature.js';
import { REACTION_EVENTS } from './reaction.events.js';
import { REACTION_PART } from './reaction.presenters.js';
import { reactionRoutes } from './reaction.routes.js';

export const REACTIONS = {
  routes: () => reactionRoutes,
  events: REACTION_EVENTS,
  errors: {
    EMOJI_REQUIRED: { text: 'At least one of the following arguments must be present: emoji_name, emoji_code' },
    REACTION_ALREADY_EXISTS: { code: 'REACTION_ALREADY_EXISTS' },
    UNKNOWN_REACTION: { code: 'REACTION_DOES_NOT_EXIST' },
  },
  messageParts: [REACTION_PART],
} satisfies HttpFeature;
