import type { HttpFeature } from '../feature.js';
import { EVENT_WIRE_ERRORS } from './event.errors.js';
import { toNobody } from './event-presenter.js';
import { eventRoutes } from './events.routes.js';

export const EVENTS = {
  routes: eventRoutes,
  events: { blank: toNobody },
  errors: EVENT_WIRE_ERRORS,
} satisfies HttpFeature;
