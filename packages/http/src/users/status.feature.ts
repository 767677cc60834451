import type { HttpFeature } from '../feature.js';
import { STATUS_WIRE_ERRORS } from './status.errors.js';
import { STATUS_EVENTS } from './status.events.js';
import { statusSection } from './status.register.js';
import { statusRoutes } from './status.routes.js';

export const STATUSES = {
  routes: () => statusRoutes,
  events: STATUS_EVENTS,
  errors: STATUS_WIRE_ERRORS,
  registerSections: () => [statusSection],
} satisfies HttpFeature;
