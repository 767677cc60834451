import type { HttpFeature } from '../feature.js';
import { DRAFT_WIRE_ERRORS } from './draft.errors.js';
import { DRAFT_EVENTS } from './draft.events.js';
import { draftsSection } from './draft.register.js';
import { draftRoutes } from './draft.routes.js';

export const DRAFTS = {
  routes: draftRoutes,
  events: DRAFT_EVENTS,
  errors: DRAFT_WIRE_ERRORS,
  registerSections: () => [draftsSection],
} satisfies HttpFeature;
