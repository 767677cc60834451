import type { HttpFeature } from '../feature.js';
import { PRESENCE_EVENTS } from './presence.events.js';
import { presenceSection } from './presence.register.js';
import { presenceRoutes } from './presence.routes.js';

export const PRESENCE = {
  routes: presenceRoutes,
  events: PRESENCE_EVENTS,
  registerSections: (parts) => [presenceSection(parts)],
} satisfies HttpFeature;
