import type { NavigationViewEventTypes } from '@parley/domain/messages';
import { form } from '../events/event-forms.js';
import { type Presenters, toAll } from '../events/event-presenter.js';
import * as wire from '../kernel/wire-schema.js';
import { navigationView, navigationViewChange } from './navigation-view.answers.js';
import { presentNavigationView } from './navigation-view.presenters.js';

export const NAVIGATION_VIEW_EVENTS = {
  'navigation_view.added': toAll(
    form('navigation_view', { op: wire.oneOf('add'), navigation_view: navigationView }),
    ({ view }) => ({
      op: 'add',
      navigation_view: presentNavigationView(view),
    }),
  ),
  'navigation_view.changed': toAll(
    form('navigation_view', { op: wire.oneOf('update'), fragment: wire.text(), data: navigationViewChange }),
    ({ fragment, changes }) => ({
      op: 'update',
      fragment,
      data: presentNavigationView(changes),
    }),
  ),
  'navigation_view.removed': toAll(
    form('navigation_view', { op: wire.oneOf('remove'), fragment: wire.text() }),
    ({ fragment }) => ({ op: 'remove', fragment }),
  ),
} satisfies Presenters<keyof NavigationViewEventTypes>;
