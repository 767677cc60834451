import {
  ChangeNavigationView,
  CreateNavigationView,
  DeleteNavigationView,
  ListNavigationViews,
  NAVIGATION_VIEW_LIST,
  type NavigationViewEventTypes,
  type NavigationViewFields,
} from '@parley/domain/messages';
import type { HttpFeature } from '../declarations/feature.js';
import { type RegisterSection, registerSection } from '../declarations/register-section.js';
import { type Route, route } from '../declarations/route.js';
import { form, type Presenters, toAll } from '../delivery/event-presenter.js';
import { BooleanParam, NoParameters, TextParam } from '../params/params.js';
import type { WireErrors } from '../wire/reply.js';
import * as wire from '../wire/schema.js';

/** Users §19. */
const CHANGEABLE = { is_pinned: wire.boolean(), name: wire.nullable(wire.text()) };

export const navigationView = wire.named('NavigationView', wire.fields({ fragment: wire.text(), ...CHANGEABLE }));

export const navigationViewChange = wire.fields(wire.optionalFields(CHANGEABLE));

export const NAVIGATION_VIEW_WIRE_ERRORS = {
  UNKNOWN_NAVIGATION_VIEW: { status: 404 },
} as const satisfies WireErrors;

/** Presents a navigation view (users §19). */
export const presentNavigationView = ({ fragment, isPinned, name }: NavigationViewFields) => ({
  fragment,
  is_pinned: isPinned,
  name,
});

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
      data: {
        ...(changes.isPinned !== undefined && { is_pinned: changes.isPinned }),
        ...(changes.name !== undefined && { name: changes.name }),
      },
    }),
  ),
  'navigation_view.removed': toAll(
    form('navigation_view', { op: wire.oneOf('remove'), fragment: wire.text() }),
    ({ fragment }) => ({ op: 'remove', fragment }),
  ),
} satisfies Presenters<keyof NavigationViewEventTypes>;

export const navigationViewsSection: RegisterSection = registerSection({
  name: 'navigation_views',
  fields: { navigation_views: wire.listOf(navigationView) },
  forSpectators: { navigation_views: [] },
  load: (snapshot) => snapshot.load(NAVIGATION_VIEW_LIST.load),
  present: (views) => ({ navigation_views: views.map(presentNavigationView) }),
});

const FRAGMENT = { max: 1000 };
const NAME = { max: 200, optional: true };

class CreateNavigationViewDto {
  @TextParam({ ...FRAGMENT, strip: true, notBlank: true }) fragment!: string;
  @BooleanParam() is_pinned!: boolean;
  @TextParam(NAME) name?: string;
}

class ChangeNavigationViewDto {
  @TextParam(FRAGMENT) fragment!: string;
  @BooleanParam({ optional: true }) is_pinned?: boolean;
  @TextParam(NAME) name?: string;
}

class DeleteNavigationViewDto {
  @TextParam(FRAGMENT) fragment!: string;
}

export const navigationViewRoutes: readonly Route[] = [
  route('GET', '/navigation_views', {
    summary: 'List navigation views',
    section: 'users §19',
    withoutPage: 'state',
    auth: 'user',
    scope: 'account',
    dto: NoParameters,
    useCase: ListNavigationViews,
    response: wire.fields({ navigation_views: wire.listOf(navigationView) }),
    present: (views) => ({ navigation_views: views.map(presentNavigationView) }),
  }),
  route('POST', '/navigation_views', {
    summary: 'Add a navigation view',
    section: 'users §19',
    auth: 'user',
    scope: 'account',
    dto: CreateNavigationViewDto,
    useCase: CreateNavigationView,
    toInput: ({ fragment, is_pinned, name = null }) => ({ fragment, isPinned: is_pinned, name }),
  }),
  route('PATCH', '/navigation_views/*fragment', {
    summary: 'Change a navigation view',
    section: 'users §19',
    auth: 'user',
    scope: 'account',
    dto: ChangeNavigationViewDto,
    useCase: ChangeNavigationView,
    toInput: ({ fragment, is_pinned = null, name = null }) => ({ fragment, isPinned: is_pinned, name }),
  }),
  route('DELETE', '/navigation_views/*fragment', {
    summary: 'Remove a navigation view',
    section: 'users §19',
    auth: 'user',
    scope: 'account',
    dto: DeleteNavigationViewDto,
    useCase: DeleteNavigationView,
    toInput: ({ fragment }) => ({ fragment }),
  }),
];

export const NAVIGATION_VIEWS = {
  tag: 'Users',
  routes: () => navigationViewRoutes,
  events: NAVIGATION_VIEW_EVENTS,
  errors: NAVIGATION_VIEW_WIRE_ERRORS,
  registerSections: () => [navigationViewsSection],
} satisfies HttpFeature;
