import type { HttpFeature } from '../feature.js';
import { REACTION_WIRE_ERRORS } from './reaction.errors.js';
import { REACTION_EVENTS } from './reaction.events.js';
import { REACTION_PART } from './reaction.presenters.js';
import { reactionRoutes } from './reaction.routes.js';

export const REACTIONS = {
  routes: () => reactionRoutes,
  events: REACTION_EVENTS,
  errors: REACTION_WIRE_ERRORS,
  messageParts: [REACTION_PART],
} satisfies HttpFeature;
