import type { HttpFeature } from '../feature.js';
import { GROUP_WIRE_ERRORS } from './group.errors.js';
import { GROUP_EVENTS } from './group.events.js';
import { groupsSection } from './group.register.js';
import { groupRoutes } from './group.routes.js';

export const GROUPS = {
  routes: () => groupRoutes,
  events: GROUP_EVENTS,
  errors: GROUP_WIRE_ERRORS,
  registerSections: () => [groupsSection],
} satisfies HttpFeature;
