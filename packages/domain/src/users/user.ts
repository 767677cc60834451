import type { Role } from '../access/role.js';
import type { RealmId, UnixSeconds, UserId } from '../kernel/ids.js';
import type { UserSettingName, UserSettings } from '../realms/user-settings.js';

export type BotKind = 'generic' | 'incomingWebhook' | 'outgoingWebhook' | 'embedded';
/** What the operator grants beyond roles. */
export type SpecialPermission = 'canCreateUsers' | 'canChangeUserEmails';
export type AvatarSource = 'gravatar' | 'uploaded' | 'generated';

/** A person or a bot of one realm. */
export interface User {
  readonly id: UserId;
  readonly realmId: RealmId;
  /** The address they sign in with and mail goes to, as they wrote it; unique in the realm whatever the letter case. */
  readonly email: string;
  readonly fullName: string;
  readonly role: Role;
  readonly isActive: boolean;
  /** Their profile was deleted with the account (users §4.1); only of those who are not active. */
  readonly isDeleted: boolean;
  readonly joinedAt: UnixSeconds;
  /** Null for people. */
  readonly bot: Bot | null;
  readonly avatar: Avatar;
  readonly specialPermissions: readonly SpecialPermission[];
  readonly settings: UserSettings;
  /** Those they have ever changed themselves; administrators may leave them alone (users §6.3). */
  readonly editedSettings: readonly UserSettingName[];
  /** Grows with every change of what others can see of them. */
  readonly version: number;
}

export interface Bot {
  readonly kind: BotKind;
  /** Null for bots of the system, which belong to nobody. */
  readonly ownerId: UserId | null;
  /** One of the realm's own bots: notices, welcome, mail gateway. Not a member of the realm. */
  readonly isSystem: boolean;
  readonly defaultSendingChannelId: number | null;
}

/** `version`: starts at 1, and grows with every change. */
export type Avatar = DerivedAvatar | UploadedAvatar;

/** Follows from the address, or from the id. */
export interface DerivedAvatar {
  readonly source: Exclude<AvatarSource, 'uploaded'>;
  readonly version: number;
}

export interface UploadedAvatar {
  readonly source: 'uploaded';
  readonly version: number;
  /** What its pictures are called by: 32 hexadecimal digits that nobody can guess. */
  readonly key: string;
}

/** How the realm's own bots are distinguished by the part of their address before the `@`. */
export const SYSTEM_BOTS = [
  { kind: 'notification', localPart: 'notification-bot', fullName: 'Notification Bot' },
  { kind: 'welcome', localPart: 'welcome-bot', fullName: 'Welcome Bot' },
  { kind: 'mailGateway', localPart: 'emailgateway', fullName: 'Email Gateway' },
] as const;
export type SystemBotKind = (typeof SYSTEM_BOTS)[number]['kind'];
