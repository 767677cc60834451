import type { HttpFeature } from '../feature.js';
import { BOT_EVENTS } from './bot.events.js';
import { botsSection } from './bot.register.js';
import { botRoutes } from './bot.routes.js';
import { botStorageRoutes } from './bot-storage.routes.js';

export const BOTS = {
  routes: ({ realmUrls }) => [...botRoutes(realmUrls), ...botStorageRoutes()],
  events: BOT_EVENTS,
  registerSections: () => [botsSection],
} satisfies HttpFeature;
