import {
  ChangeNavigationView,
  CreateNavigationView,
  DeleteNavigationView,
  ListNavigationViews,
} from '@parley/domain/messages';
import { BooleanParam, NoParameters, TextParam } from '../kernel/params.js';
import { type Route, route } from '../kernel/route.js';
import * as wire from '../kernel/wire-schema.js';
import { navigationView } from './navigation-view.answers.js';
import { presentNavigationView } from './navigation-view.presenters.js';

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
    auth: 'user',
    dto: NoParameters,
    useCase: ListNavigationViews,
    answer: wire.fields({ navigation_views: wire.listOf(navigationView) }),
    present: (views) => ({ navigation_views: views.map(presentNavigationView) }),
  }),
  route('POST', '/navigation_views', {
    auth: 'user',
    dto: CreateNavigationViewDto,
    useCase: CreateNavigationView,
    toInput: ({ fragment, is_pinned, name = null }) => ({ fragment, isPinned: is_pinned, name }),
  }),
  route('PATCH', '/navigation_views/*fragment', {
    auth: 'user',
    dto: ChangeNavigationViewDto,
    useCase: ChangeNavigationView,
    toInput: ({ fragment, is_pinned = null, name = null }) => ({ fragment, isPinned: is_pinned, name }),
  }),
  route('DELETE', '/navigation_views/*fragment', {
    auth: 'user',
    dto: DeleteNavigationViewDto,
    useCase: DeleteNavigationView,
    toInput: ({ fragment }) => ({ fragment }),
  }),
];
