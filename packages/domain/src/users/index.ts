export { accessChanges, accessibleUserIds, type Reach } from './accessible-users.js';
export type { ProfileEntry } from './change-profile.js';
export { isEmailAddress } from './email-address.js';
export {
  canSeeEmail,
  dummyAddress,
  emailVisibilityOf,
  isEmailPublic,
  publicAddress,
  seesEmailOf,
  visibleEmailSettings,
} from './email-visibility.js';

import './profile-errors.js';

export type { DisposableDomains } from './joining-address.js';
export type { UserList } from './present-known-users.js';
export type { ProfileEventTypes } from './profile-events.js';
export {
  DEFAULT_EXTERNAL_ACCOUNTS,
  MAX_PROFILE_CHOICES,
  PROFILE_FIELD_KINDS,
  type ProfileField,
  type ProfileFieldData,
  type ProfileFieldKind,
} from './profile-field.js';
export type { ProfileRepository } from './profile-repository.js';
export { MAX_USERS_IN_VALUE, type ProfileValue } from './profile-value.js';
export * from './use-cases/change-own-profile.js';
export { ChangeSettings, type ChangeSettingsInput, type SettingTargets } from './use-cases/change-settings.js';
export * from './use-cases/get-own-user.js';
export * from './use-cases/get-user.js';
export * from './use-cases/grant-special-permission.js';
export * from './use-cases/list-users.js';
export * from './use-cases/profile-fields.js';
export * from './use-cases/switch-display.js';
export {
  type Avatar,
  type AvatarSource,
  type Bot,
  type BotKind,
  type SpecialPermission,
  SYSTEM_BOTS,
  type SystemBotKind,
  type User,
} from './user.js';
export { isKnownToGuest, isLimitedGuest } from './user-access.js';
export type {} from './user-delivery.js';
export { loadProfileFields } from './user-profiles.js';

import './user-errors.js';

export type { UserEventTypes } from './user-events.js';
export { type LoadedPeople, loadOwnUser, loadPeople, loadViewer } from './user-loaders.js';
export { foldedName } from './user-name.js';
export type { ConversationPartnerQuestion, UserListEntry, UserRepository } from './user-repository.js';
export type { UserSettingsEventTypes } from './user-settings-events.js';
