export { addRealm, checkNewRealm } from './add-realm.js';
export { type AuthenticationMethodState, authenticationMethods } from './authentication-methods.js';
export type { Realm } from './realm.js';

import './realm-errors.js';

export type { RealmEventTypes } from './realm-events.js';
export { type LoadedRealmPermissions, loadRealm, loadRealmPermissions } from './realm-loaders.js';
export type { RealmRepository } from './realm-repository.js';
export {
  type AuthenticationMethod,
  MAX_REALM_NAME_LENGTH,
  REALM_PERMISSIONS,
  REALM_SETTINGS,
  type RealmPermission,
  type RealmSettingDefinition,
  type RealmSettingName,
  type RealmSettings,
  STORED_REALM_SETTINGS,
} from './realm-settings.js';
export type { RealmSettingsEventTypes } from './realm-settings-events.js';
export { type ServerAddress, takesServerAddress } from './server-address.js';
export * from './use-cases/change-realm.js';
export * from './use-cases/change-user-defaults.js';
export * from './use-cases/create-realm.js';
export * from './use-cases/get-server-settings.js';
