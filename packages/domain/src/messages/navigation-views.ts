import { DomainError, declareErrors } from '../kernel/errors.js';
import type { FeatureParts } from '../kernel/event.js';
import type { PersonPart } from '../kernel/export-parts.js';
import { PersonalList, type PersonalListPorts } from '../kernel/personal-list.js';
import type { UserRow } from '../kernel/rows.js';
import * as shape from '../kernel/shape.js';
import { trim } from '../kernel/text.js';

/** Properties of a navigation view that clients see. */
export interface NavigationViewFields {
  /** URL fragment after `#`, such as `narrow/is/starred`. */
  readonly fragment: string;
  readonly isPinned: boolean;
  /** Null only for built-in views. */
  readonly name: string | null;
}

/** Pinned or hidden entry of a user's navigation. A user has at most one view of a fragment. */
export interface NavigationView extends UserRow, NavigationViewFields {}

/** Per user. */
export const MAX_NAVIGATION_VIEWS = 500;

/** Views built into every client (users §19). */
const BUILT_IN: ReadonlySet<string> = new Set([
  'inbox',
  'recent',
  'all',
  'narrow/is/mentioned',
  'narrow/has/reaction/sender/me',
  'narrow/is/starred',
  'drafts',
  'scheduled',
  'reminders',
]);

/** @throws DomainError INVALID_NAVIGATION_VIEW_NAME if the view of this fragment cannot have this name */
export function requireFittingName(fragment: string, name: string | null): void {
  if (BUILT_IN.has(fragment)) {
    if (name !== null) throw invalidName('Built-in views cannot have a custom name.');
  } else if (name === null || trim(name) === '') throw invalidName('Custom views must have a valid name.');
}

const invalidName = (message: string) => new DomainError('INVALID_NAVIGATION_VIEW_NAME', message);

/** Checks uniqueness among the user's views. @throws DomainError NAVIGATION_VIEW_EXISTS */
export function requireUnique(
  views: readonly NavigationView[],
  { fragment, name }: { readonly fragment: string | null; readonly name: string | null },
): void {
  if (views.some((view) => view.fragment === fragment || (name !== null && view.name === name))) {
    throw new DomainError('NAVIGATION_VIEW_EXISTS', 'Navigation view already exists.');
  }
}

export const NAVIGATION_VIEW_ERRORS = declareErrors({
  /** The caller has no view with this fragment. */
  UNKNOWN_NAVIGATION_VIEW: 'unknown',
  /** Built-in views have a fixed name; other views need a nonblank one. */
  INVALID_NAVIGATION_VIEW_NAME: 'invalid',
  /** The user has a view with this fragment or name. */
  NAVIGATION_VIEW_EXISTS: 'conflict',
  /** The user has too many views. */
  TOO_MANY_NAVIGATION_VIEWS: 'conflict',
});

type NavigationViewErrors = typeof NAVIGATION_VIEW_ERRORS;

/** Sent to the owner of the views (users §19). */
export interface NavigationViewEventTypes {
  'navigation_view.added': { readonly view: NavigationViewFields };
  /** Contains only changed properties. */
  'navigation_view.changed': {
    readonly fragment: string;
    readonly changes: { readonly isPinned?: boolean; readonly name?: string };
  };
  'navigation_view.removed': { readonly fragment: string };
}

declare module '../kernel/feature-types.js' {
  interface RepositoryMap {
    navigationViews: PersonalListPorts<NavigationView>;
  }
  interface ErrorCodes extends NavigationViewErrors {}
  interface DomainEventTypes extends NavigationViewEventTypes {}
  interface PersonCopyParts {
    readonly navigationViews: readonly NavigationViewFields[];
  }
}

const fieldsOf = ({ fragment, isPinned, name }: NavigationViewFields): NavigationViewFields => ({
  fragment,
  isPinned,
  name,
});

/** Oldest first. */
export const NAVIGATION_VIEW_LIST = new PersonalList<NavigationView>('navigationViews', {
  rows: { kind: 'navigationView', order: ['id'] },
  max: MAX_NAVIGATION_VIEWS,
  unknown: ['UNKNOWN_NAVIGATION_VIEW', 'Navigation view does not exist.'],
  tooMany: ['TOO_MANY_NAVIGATION_VIEWS', `Too many navigation views (limit: ${MAX_NAVIGATION_VIEWS}).`],
  events: {
    added: (view) => ({ type: 'navigation_view.added', view: fieldsOf(view) }),
    removed: ({ fragment }) => ({ type: 'navigation_view.removed', fragment }),
  },
});

/** @throws DomainError UNKNOWN_NAVIGATION_VIEW */
export function requireView(views: readonly NavigationView[], fragment: string): NavigationView {
  const view = views.find((each) => each.fragment === fragment);
  if (view) return view;
  throw NAVIGATION_VIEW_LIST.unknown();
}

const personPart: PersonPart<'navigationViews'> = {
  none: { navigationViews: [] },
  shapes: {
    navigationViews: shape.list(
      shape.object({ fragment: shape.text(10_000), isPinned: shape.flag, name: shape.orNull(shape.name) }),
      100_000,
    ),
  },
  async read(reads, owner) {
    return { navigationViews: (await NAVIGATION_VIEW_LIST.list(reads, owner)).map(fieldsOf) };
  },
  async add(tx, owner, { navigationViews }) {
    const byFragment = new Map(navigationViews.map((view) => [view.fragment, view]));
    for (const view of byFragment.values()) await tx.navigationViews.add({ ...view, ...owner });
  },
};

export const NAVIGATION_VIEW_FEATURE = {
  eventFormats: { 'navigation_view.added': 1, 'navigation_view.changed': 1, 'navigation_view.removed': 1 },
  personPart: personPart,
  rows: { navigationViews: NAVIGATION_VIEW_LIST.rows },
} satisfies FeatureParts<NavigationViewEventTypes>;
