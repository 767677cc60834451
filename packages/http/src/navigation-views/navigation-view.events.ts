import type { NavigationViewEventTypes } from '@parley/domain/navigation-views';
import { type Presenters, toAll } from '../events/event-presenter.js';
import { presentNavigationView } from './navigation-view.presenters.js';

export const NAVIGATION_VIEW_EVENTS = {
  'navigation_view.added': toAll('navigation_view', ({ view }) => ({
    op: 'add',
    navigation_view: presentNavigationView(view),
  })),
  'navigation_view.changed': toAll('navigation_view', ({ fragment, changes }) => ({
    op: 'update',
    fragment,
    data: presentNavigationView(changes),
  })),
  'navigation_view.removed': toAll('navigation_view', ({ fragment }) => ({ op: 'remove', fragment })),
} satisfies Presenters<keyof NavigationViewEventTypes>;
