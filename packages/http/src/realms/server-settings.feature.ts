import type { HttpFeature } from '../feature.js';
import { serverSettingsRoutes } from './server-settings.routes.js';

export const SERVER_SETTINGS = {
  routes: ({ realmUrls }) => serverSettingsRoutes(realmUrls),
} satisfies HttpFeature;
