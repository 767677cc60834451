import type { HttpFeature } from '../feature.js';
import { MUTED_USER_EVENTS } from './muted-user.events.js';
import { mutedUsersSection } from './muted-user.register.js';
import { mutedUserRoutes } from './muted-user.routes.js';

export const MUTED_USERS = {
  routes: () => mutedUserRoutes,
  events: MUTED_USER_EVENTS,
  registerSections: () => [mutedUsersSection],
} satisfies HttpFeature;
