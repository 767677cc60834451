export type { NavigationView, NavigationViewRepository } from './navigation-view.js';

import './navigation-view-errors.js';

export type { NavigationViewEventTypes } from './navigation-view-events.js';
export { loadNavigationViews } from './navigation-view-loaders.js';
export * from './use-cases/change-navigation-view.js';
export * from './use-cases/create-navigation-view.js';
export * from './use-cases/delete-navigation-view.js';
export * from './use-cases/list-navigation-views.js';
