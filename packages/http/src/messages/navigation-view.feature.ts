import type { HttpFeature } from '../feature.js';
import { NAVIGATION_VIEW_WIRE_ERRORS } from './navigation-view.errors.js';
import { NAVIGATION_VIEW_EVENTS } from './navigation-view.events.js';
import { navigationViewsSection } from './navigation-view.register.js';
import { navigationViewRoutes } from './navigation-view.routes.js';

export const NAVIGATION_VIEWS = {
  routes: () => navigationViewRoutes,
  events: NAVIGATION_VIEW_EVENTS,
  errors: NAVIGATION_VIEW_WIRE_ERRORS,
  registerSections: () => [navigationViewsSection],
} satisfies HttpFeature;
