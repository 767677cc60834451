export { LANGUAGES } from './languages.js';
export {
  type EmailVisibility,
  NOTIFICATION_SOUNDS,
  SETTINGS_WITH_REALM_DEFAULT,
  USER_SETTINGS,
  type UserSettingDefinition,
  type UserSettingName,
  type UserSettings,
} from './user-settings.js';
