import type { HttpFeature } from '../feature.js';
import { botStorageRoutes } from './bot-storage.routes.js';

export const BOTS = {
  routes: () => botStorageRoutes(),
} satisfies HttpFeature;
