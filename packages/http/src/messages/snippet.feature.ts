import type { HttpFeature } from '../feature.js';
import { SNIPPET_WIRE_ERRORS } from './snippet.errors.js';
import { SNIPPET_EVENTS } from './snippet.events.js';
import { snippetsSection } from './snippet.register.js';
import { snippetRoutes } from './snippet.routes.js';

export const SNIPPETS = {
  routes: snippetRoutes,
  events: SNIPPET_EVENTS,
  errors: SNIPPET_WIRE_ERRORS,
  registerSections: () => [snippetsSection],
} satisfies HttpFeature;
