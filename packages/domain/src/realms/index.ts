export type {
  AllowedDomain,
  AllowedDomainEventTypes,
  AllowedDomainRepository,
  ListedDomain,
} from './allowed-domains/allowed-domain.js';
export * from './allowed-domains/use-cases/add-allowed-domain.js';
export * from './allowed-domains/use-cases/change-allowed-domain.js';
export * from './allowed-domains/use-cases/list-allowed-domains.js';
export * from './allowed-domains/use-cases/remove-allowed-domain.js';
export { type AuthenticationMethodState, authenticationMethods } from './authentication-methods.js';
export {
  MAX_MEETING_NAME_LENGTH,
  type Meeting,
  type MeetingLinks,
  type MeetingServer,
  type Participant,
} from './calls/meeting.js';
export { DELETE_REALM_DATA, DeleteRealmData } from './delete-realm-data.js';
export type { LinkifierSyntax } from './linkifiers/check-linkifier.js';
export type {
  Linkifier,
  LinkifierEventTypes,
  LinkifierFields,
  LinkifierRepository,
} from './linkifiers/linkifier.js';
export * from './linkifiers/use-cases/add-linkifier.js';
export * from './linkifiers/use-cases/change-linkifier.js';
export * from './linkifiers/use-cases/list-linkifiers.js';
export * from './linkifiers/use-cases/remove-linkifier.js';
export * from './linkifiers/use-cases/reorder-linkifiers.js';
export { loadAllowedDomains, loadPlaygrounds } from './organization-loaders.js';
export type {
  Playground,
  PlaygroundEventTypes,
  PlaygroundFields,
  PlaygroundRepository,
} from './playgrounds/playground.js';
export * from './playgrounds/use-cases/add-playground.js';
export * from './playgrounds/use-cases/remove-playground.js';
export type { Realm } from './realm.js';

export type { RealmDataRepository, RemovalPlace } from './realm-data.js';

import './realm-errors.js';

export type { RealmEventTypes } from './realm-events.js';
export {
  REALM_IMAGE_NAMES,
  type RealmImage,
  type RealmImageName,
  type RealmImages,
  USUAL_REALM_IMAGES,
} from './realm-images.js';
export { type LoadedRealmPermissions, loadRealm, loadRealmPermissions } from './realm-loaders.js';
export type { NewRealmRow, RealmRepository } from './realm-repository.js';
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
export * from './use-cases/create-call.js';
export * from './use-cases/create-meeting-link.js';
export * from './use-cases/forget-limits.js';
export * from './use-cases/join-meeting.js';
