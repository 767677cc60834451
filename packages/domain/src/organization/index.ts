export { addRealm, checkNewRealm } from './add-realm.js';
export type { AuthenticationMethodChanges, ChangeRealmInput, ChangeRealmOutput } from './realm-changes.js';
export * from './use-cases/change-realm.js';
export * from './use-cases/change-user-defaults.js';
export * from './use-cases/check-string-id.js';
export * from './use-cases/configure-realm.js';
export * from './use-cases/create-realm.js';
export * from './use-cases/deactivate-realm.js';
export * from './use-cases/get-server-settings.js';

import '../realms/realm-errors.js';
