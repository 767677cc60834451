import type { RegisterSection } from './events/register-section.js';
import type { RouteDependencies, RouteParts, SectionParts } from './feature.js';
import { FEATURES, MESSAGE_PARTS } from './features.js';
import type { Route } from './routing/route.js';
import { UserPagePresenter } from './users/user-page.js';

/** Every operation. What they keep at hand is theirs: each server makes its own. */
export function createRoutes(dependencies: RouteDependencies): readonly Route[] {
  const shared = { ...dependencies, userPages: new UserPagePresenter(dependencies.realmUrls) };
  const parts: RouteParts = { ...shared, sections: registerSections(shared), messageParts: MESSAGE_PARTS };
  return FEATURES.flatMap(({ routes }) => routes?.(parts) ?? []);
}

/** What a client can begin with (events §3.2), in the order of the answer. */
export const registerSections = (parts: SectionParts): readonly RegisterSection[] =>
  FEATURES.flatMap(({ registerSections: sections }) => sections?.(parts) ?? []);
