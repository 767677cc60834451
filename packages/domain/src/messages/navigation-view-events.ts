import { users } from '../kernel/audience.js';
import type { Caller } from '../kernel/caller.js';
import type { EventOf, FeatureParts } from '../kernel/event.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import type { NavigationView } from './navigation-view.js';

/** To those whose views they are (users §19). */
export interface NavigationViewEventTypes {
  'navigation_view.added': { readonly view: NavigationView };
  /** With what has changed. */
  'navigation_view.changed': {
    readonly fragment: string;
    readonly changes: { readonly isPinned?: boolean; readonly name?: string };
  };
  'navigation_view.removed': { readonly fragment: string };
}

declare module '../kernel/event.js' {
  interface DomainEventTypes extends NavigationViewEventTypes {}
}

export const NAVIGATION_VIEW_FEATURE = {
  eventFormats: {
    'navigation_view.added': 1,
    'navigation_view.changed': 1,
    'navigation_view.removed': 1,
  },
} satisfies FeatureParts<NavigationViewEventTypes>;

export async function publishNavigationView(
  tx: Transaction,
  { realmId, userId }: Caller,
  event: EventOf<keyof NavigationViewEventTypes>,
): Promise<void> {
  await tx.events.append(realmId, { event, audience: users([userId]) });
}
