import { loadNavigationViews } from '@parley/domain/navigation-views';
import { type RegisterSection, registerSection } from '../events/register-section.js';
import { presentNavigationView } from './navigation-view.presenters.js';

export const navigationViewsSection: RegisterSection = registerSection({
  name: 'navigation_views',
  forSpectators: { navigation_views: [] },
  load: (snapshot) => snapshot.load(loadNavigationViews),
  present: (views) => ({ navigation_views: views.map(presentNavigationView) }),
});
