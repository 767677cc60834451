import type { HttpFeature } from '../feature.js';
import { ALERT_WORD_EVENTS } from './alert-word.events.js';
import { alertWordsSection } from './alert-word.register.js';
import { alertWordRoutes } from './alert-word.routes.js';

export const ALERT_WORDS = {
  routes: () => alertWordRoutes,
  events: ALERT_WORD_EVENTS,
  registerSections: () => [alertWordsSection],
} satisfies HttpFeature;
