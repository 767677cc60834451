import type { HttpFeature } from '../feature.js';
import { PUSH_WIRE_ERRORS } from './push.errors.js';
import { PUSH_EVENTS } from './push.events.js';
import { devicesSection } from './push.register.js';
import { pushRoutes } from './push.routes.js';

export const PUSH = {
  routes: () => pushRoutes,
  events: PUSH_EVENTS,
  errors: PUSH_WIRE_ERRORS,
  registerSections: () => [devicesSection],
} satisfies HttpFeature;
