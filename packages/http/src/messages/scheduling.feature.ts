import type { HttpFeature } from '../feature.js';
import { SCHEDULING_WIRE_ERRORS } from './scheduling.errors.js';
import { SCHEDULING_EVENTS } from './scheduling.events.js';
import { remindersSection, scheduledMessagesSection } from './scheduling.register.js';
import { schedulingRoutes } from './scheduling.routes.js';

export const SCHEDULING = {
  routes: schedulingRoutes,
  events: SCHEDULING_EVENTS,
  errors: SCHEDULING_WIRE_ERRORS,
  registerSections: () => [scheduledMessagesSection, remindersSection],
} satisfies HttpFeature;
