import type { HttpFeature } from '../feature.js';
import { PROFILE_EVENTS } from './profile.events.js';
import { profileRoutes } from './profile.routes.js';
import { profileFieldsSection } from './profile-field.register.js';
import { USER_WIRE_ERRORS } from './user.errors.js';
import { USER_EVENTS } from './user.events.js';
import { ownUserSection, peopleSection } from './user.register.js';
import { userRoutes } from './user.routes.js';
import { userPagesOf } from './user-page.js';
import { USER_SETTINGS_EVENTS } from './user-settings.events.js';
import { userDefaultsSection, userSettingsSection } from './user-settings.register.js';
import { userSettingRoutes } from './user-settings.routes.js';
import { zcommandRoutes } from './zcommand.routes.js';

export const USERS = {
  routes: ({ realmUrls, once }) => [
    ...userRoutes(realmUrls, once(userPagesOf)),
    ...userSettingRoutes,
    ...profileRoutes,
    ...zcommandRoutes,
  ],
  events: { ...USER_EVENTS, ...USER_SETTINGS_EVENTS, ...PROFILE_EVENTS },
  errors: USER_WIRE_ERRORS,
  registerSections: (parts) => [
    profileFieldsSection,
    userDefaultsSection,
    userSettingsSection,
    ownUserSection(parts),
    peopleSection(parts),
  ],
} satisfies HttpFeature;
