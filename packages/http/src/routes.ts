import type { RegisterSection } from './events/register-section.js';
import type { RouteDependencies, RouteParts, SectionParts } from './feature.js';
import { EVENT_PRESENTERS, FEATURES, MESSAGE_PARTS } from './features.js';
import { openApiRoutes } from './openapi/openapi-operations.js';
import type { Route } from './routing/route.js';
import { UserPagePresenter } from './users/user-page.js';

const EVENT_TYPES = [...new Set(Object.values(EVENT_PRESENTERS).flatMap(({ wireTypes }) => wireTypes))].sort();

/** Every operation. What they keep at hand is theirs: each server makes its own. */
export function createRoutes(dependencies: RouteDependencies): readonly Route[] {
  const shared = { ...dependencies, userPages: new UserPagePresenter(dependencies.realmUrls) };
  const parts: RouteParts = {
    ...shared,
    sections: registerSections(shared),
    eventTypes: EVENT_TYPES,
    messageParts: MESSAGE_PARTS,
  };
  const routes = FEATURES.flatMap((feature) => feature.routes?.(parts) ?? []);
  return [...routes, ...openApiRoutes(routes, dependencies)];
}

/** What a client can begin with (events §3.2), in the order of the answer. */
export const registerSections = (parts: SectionParts): readonly RegisterSection[] =>
  FEATURES.flatMap(({ registerSections: sections }) => sections?.(parts) ?? []);
