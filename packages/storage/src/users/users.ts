import { ROLES, type Role } from '@parley/domain/access';
import { DomainError, foldCase, type RealmId, type UnixSeconds, type UserId } from '@parley/domain/kernel';
import type { UserSummary } from '@parley/domain/messages';
import { USER_SETTINGS, type UserSettingName } from '@parley/domain/realms';
import {
  type Avatar,
  type AvatarSource,
  type BotKind,
  foldedName,
  type SpecialPermission,
  type User,
} from '@parley/domain/users';
import type { Quarantine } from '../quarantine.js';
import { type Flag, listColumn, settingsColumn, toFlag } from '../rows.js';

/** Avatar columns of `user`. */
interface AvatarColumns {
  readonly id: UserId;
  readonly avatar_source: AvatarSource;
  readonly avatar_version: number;
  /** Key of an uploaded avatar. */
  readonly avatar_key: string | null;
}

const SOURCES: readonly AvatarSource[] = ['gravatar', 'uploaded', 'generated'];

/** Treats invalid values as a generated avatar. */
function toAvatar(row: AvatarColumns, quarantine: Quarantine): Avatar {
  const { avatar_version: version, avatar_key: key } = row;
  const source = quarantine.word(row.avatar_source, SOURCES, 'generated', 'user', row.id, 'avatar_source');
  if (source !== 'uploaded') return { source, version };
  return key === null ? { source: 'generated', version } : { source, version, key };
}

export const emailTaken = (email: string) => new DomainError('EMAIL_TAKEN', `Email '${email}' already in use`);
const userSettings = settingsColumn(USER_SETTINGS, 'user', 'settings');
const specialPermissions = listColumn<SpecialPermission>(
  'user',
  'special_permissions',
  (value) => value === 'canCreateUsers' || value === 'canChangeUserEmails',
);
const editedSettings = listColumn<UserSettingName>(
  'user',
  'edited_settings',
  (name) => typeof name === 'string' && Object.hasOwn(USER_SETTINGS, name),
);
const BOT_KINDS: readonly BotKind[] = ['generic', 'incomingWebhook', 'outgoingWebhook', 'embedded'];

export interface UserRow extends AvatarColumns {
  readonly realm_id: RealmId;
  readonly version: number;
  readonly role: Role;
  readonly is_active: Flag;
  readonly is_deleted: Flag;
  readonly email: string;
  readonly full_name: string;
  readonly joined_at: UnixSeconds;
  readonly bot_kind: BotKind | null;
  readonly bot_owner_id: UserId | null;
  readonly bot_default_channel_id: number | null;
  readonly system_kind: string | null;
  readonly special_permissions: string;
  readonly settings: string;
  readonly edited_settings: string;
  readonly external_id: string | null;
}

export function toUser(row: UserRow, quarantine: Quarantine): User {
  return {
    id: row.id,
    realmId: row.realm_id,
    email: row.email,
    fullName: row.full_name,
    role: quarantine.word(row.role, ROLES, 'guest', 'user', row.id, 'role'),
    isActive: row.is_active === 1,
    isDeleted: row.is_deleted === 1,
    joinedAt: row.joined_at,
    bot:
      row.bot_kind === null
        ? null
        : {
            kind: quarantine.word(row.bot_kind, BOT_KINDS, 'generic', 'user', row.id, 'bot_kind'),
            ownerId: row.bot_owner_id,
            isSystem: row.system_kind !== null,
            defaultSendingChannelId: row.bot_default_channel_id,
          },
    avatar: toAvatar(row, quarantine),
    specialPermissions: specialPermissions(row.special_permissions, row.id, quarantine),
    settings: userSettings.fromJson(row.settings, row.id, quarantine),
    editedSettings: editedSettings(row.edited_settings, row.id, quarantine),
    ...(row.external_id !== null && { externalId: row.external_id }),
    version: row.version,
  };
}

/** Column values in the order in which they are stored. */
export function fromUser(user: Omit<User, 'id' | 'version'>): readonly (string | number | null)[] {
  return [
    user.role,
    toFlag(user.isActive),
    toFlag(user.isDeleted),
    user.email,
    foldCase(user.email),
    user.fullName,
    foldCase(user.fullName),
    foldedName(user.fullName),
    user.joinedAt,
    user.bot?.kind ?? null,
    user.bot?.ownerId ?? null,
    user.bot?.defaultSendingChannelId ?? null,
    user.avatar.source,
    user.avatar.version,
    user.avatar.source === 'uploaded' ? user.avatar.key : null,
    JSON.stringify(user.specialPermissions),
    userSettings.toJson(user.settings),
    JSON.stringify(user.editedSettings),
  ];
}

export interface UserSummaryRow extends AvatarColumns {
  readonly full_name: string;
  readonly email: string;
  readonly settings: string;
  readonly is_bot: Flag;
  readonly is_system_bot: Flag;
  readonly external_id: string | null;
}

/** Returns what messages show about their senders and recipients. */
export function toUserSummary(row: UserSummaryRow, quarantine: Quarantine): UserSummary {
  return {
    id: row.id,
    fullName: row.full_name,
    email: row.email,
    emailVisibility:
      row.is_bot === 1 ? 'everyone' : userSettings.fromJson(row.settings, row.id, quarantine).emailAddressVisibility,
    avatar: toAvatar(row, quarantine),
    isSystemBot: row.is_system_bot === 1,
    ...(row.external_id !== null && { externalId: row.external_id }),
  };
}
