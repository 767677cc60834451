import type { HttpFeature } from '../feature.js';
import { avatarRoutes } from './avatar.routes.js';

export const AVATARS = { routes: ({ realmUrls }) => avatarRoutes(realmUrls) } satisfies HttpFeature;
