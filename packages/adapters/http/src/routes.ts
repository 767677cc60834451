import type { RouteDependencies, RouteParts, SectionParts } from './declarations/feature.js';
import type { Tag } from './declarations/operation.js';
import type { RegisterSection } from './declarations/register-section.js';
import { isDocumented, type Route } from './declarations/route.js';
import { eventSchema, form } from './delivery/event-presenter.js';
import { EVENT_PRESENTERS, FEATURES, MESSAGE_PARTS } from './features.js';
import { openApiRoutes } from './openapi/openapi-routes.js';

/** Schema of all feature events plus the heartbeat (events §6.3). */
const EVENT = eventSchema([...Object.values(EVENT_PRESENTERS).flatMap(({ forms }) => forms), form('heartbeat')]);

/** Creates every operation. Routes may hold per-server state, so each server creates its own. */
export function createRoutes(dependencies: RouteDependencies): readonly Route[] {
  const made = new Map<unknown, unknown>();
  const once = <T>(make: (parts: RouteDependencies) => T): T => {
    if (!made.has(make)) made.set(make, make(dependencies));
    return made.get(make) as T;
  };
  const shared = { ...dependencies, once };
  const parts: RouteParts = {
    ...shared,
    sections: registerSections(shared),
    event: EVENT,
    messageParts: MESSAGE_PARTS,
  };
  const routes = FEATURES.flatMap(({ tag, routes: routesOf }) => (routesOf?.(parts) ?? []).map(withTag(tag)));
  return [...routes, ...openApiRoutes(routes)];
}

const withTag =
  (tag: Tag | undefined) =>
  (route: Route): Route =>
    tag && isDocumented(route) && !route.tag ? { ...route, tag } : route;

/** Sections of the register response (events §3.2), in response order. */
export const registerSections = (parts: SectionParts): readonly RegisterSection[] =>
  FEATURES.flatMap(({ registerSections: sections }) => sections?.(parts) ?? []);
