import { DomainError, declareErrors } from '../kernel/errors.js';
import { type EventOf, type FeatureParts, users } from '../kernel/event.js';
import type { PersonPart } from '../kernel/export-parts.js';
import type { Caller } from '../kernel/ids.js';
import type { Snapshot } from '../kernel/register-queue.js';
import type { RowRules, UserRow, UserRowReads, UserRows } from '../kernel/rows.js';
import * as shape from '../kernel/shape.js';
import { trim } from '../kernel/text.js';
import type { Transaction } from '../kernel/unit-of-work.js';

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

/** @throws DomainError UNKNOWN_NAVIGATION_VIEW */
export function requireView(views: readonly NavigationView[], fragment: string): NavigationView {
  const view = views.find((each) => each.fragment === fragment);
  if (view) return view;
  throw new DomainError('UNKNOWN_NAVIGATION_VIEW', 'Navigation view does not exist.');
}

/** @throws DomainError TOO_MANY_NAVIGATION_VIEWS */
export function requireRoomForView(views: readonly NavigationView[]): void {
  if (views.length < MAX_NAVIGATION_VIEWS) return;
  throw new DomainError('TOO_MANY_NAVIGATION_VIEWS', `Too many navigation views (limit: ${MAX_NAVIGATION_VIEWS}).`);
}

export const NAVIGATION_VIEW_ROWS: RowRules<keyof NavigationView> = {
  kind: 'navigationView',
  owner: 'user',
  order: ['id'],
};

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
    navigationViews: [reads: UserRowReads<NavigationView>, repository: UserRows<NavigationView>];
  }
  interface ErrorCodes extends NavigationViewErrors {}
  interface DomainEventTypes extends NavigationViewEventTypes {}
  interface PersonCopyParts {
    readonly navigationViews: readonly NavigationViewFields[];
  }
}

const personPart: PersonPart<'navigationViews'> = {
  none: { navigationViews: [] },
  shapes: {
    navigationViews: shape.list(
      shape.object({ fragment: shape.text(10_000), isPinned: shape.flag, name: shape.orNull(shape.name) }),
      100_000,
    ),
  },
  async read(reads, { realmId, userId }) {
    const views = await reads.navigationViews.list(realmId, userId);
    return { navigationViews: views.map(({ fragment, isPinned, name }) => ({ fragment, isPinned, name })) };
  },
  async add(tx, owner, { navigationViews }) {
    const byFragment = new Map(navigationViews.map((view) => [view.fragment, view]));
    for (const view of byFragment.values()) await tx.navigationViews.add({ ...view, ...owner });
  },
};

export const NAVIGATION_VIEW_FEATURE = {
  eventFormats: {
    'navigation_view.added': 1,
    'navigation_view.changed': 1,
    'navigation_view.removed': 1,
  },
  personPart: personPart,
  rows: { navigationViews: NAVIGATION_VIEW_ROWS },
} satisfies FeatureParts<NavigationViewEventTypes>;

export async function publishNavigationView(
  tx: Transaction,
  { realmId, userId }: Caller,
  event: EventOf<keyof NavigationViewEventTypes>,
): Promise<void> {
  await tx.events.append(realmId, { event, audience: users([userId]) });
}

/** Loads the viewer's navigation views, oldest first. */
export const loadNavigationViews = ({ caller, repositories }: Snapshot): Promise<readonly NavigationView[]> =>
  repositories.navigationViews.list(caller.realmId, caller.userId);
