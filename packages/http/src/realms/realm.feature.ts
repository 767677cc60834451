import type { HttpFeature } from '../feature.js';
import { REALM_WIRE_ERRORS } from './realm.errors.js';
import { REALM_EVENTS } from './realm.events.js';
import { realmSection } from './realm.register.js';
import { realmRoutes } from './realm.routes.js';
import { REALM_SETTINGS_EVENTS } from './realm-settings.events.js';
import { realmSettingRoutes } from './realm-settings.routes.js';

export const REALMS = {
  routes: () => [...realmSettingRoutes, ...realmRoutes],
  events: { ...REALM_EVENTS, ...REALM_SETTINGS_EVENTS },
  errors: REALM_WIRE_ERRORS,
  registerSections: (parts) => [realmSection(parts)],
} satisfies HttpFeature;
