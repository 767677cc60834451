import { loadNavigationViews } from '@parley/domain/messages';
import { type RegisterSection, registerSection } from '../events/register-section.js';
import * as wire from '../kernel/wire-schema.js';
import { navigationView } from './navigation-view.answers.js';
import { presentNavigationView } from './navigation-view.presenters.js';

export const navigationViewsSection: RegisterSection = registerSection({
  name: 'navigation_views',
  fields: { navigation_views: wire.listOf(navigationView) },
  forSpectators: { navigation_views: [] },
  load: (snapshot) => snapshot.load(loadNavigationViews),
  present: (views) => ({ navigation_views: views.map(presentNavigationView) }),
});
