import type { HttpFeature } from '../feature.js';
import { brandingRoutes } from './branding.routes.js';

export const BRANDING = { routes: ({ realmUrls }) => brandingRoutes(realmUrls) } satisfies HttpFeature;
