import { type GroupSettings, type GroupSettingValues, groupSetting } from '../access/group-setting.js';
import type { SystemGroupName } from '../access/system-groups.js';
import { DomainError } from '../kernel/errors.js';
import type { GroupId, RealmId, UnixSeconds, UserId } from '../kernel/ids.js';
import { isLongerThan, trim } from '../kernel/text.js';

/** Who may do what to a group (channels §3.6). */
export const GROUP_PERMISSIONS = {
  canAddMembers: groupSetting('creator', 'n', { defaultOnSystemGroups: 'nobody' }),
  canJoin: groupSetting('nobody', 'n', { defaultOnSystemGroups: 'nobody' }),
  canLeave: groupSetting('everyone', 'ny', { defaultOnSystemGroups: 'nobody' }),
  canManage: groupSetting('creator', 'n', { defaultOnSystemGroups: 'nobody' }),
  canMention: groupSetting('everyone', 'ny', { defaultOnSystemGroups: 'nobody' }),
  canRemoveMembers: groupSetting('nobody', 'n', { defaultOnSystemGroups: 'nobody' }),
} as const;
export type GroupPermission = keyof typeof GROUP_PERMISSIONS;

/** In code points (protocol §14). */
export const MAX_GROUP_NAME_LENGTH = 100;
export const MAX_GROUP_DESCRIPTION_LENGTH = 1024;
/** Of a realm, with those of the system and those that are deactivated: every client gets them all. */
export const MAX_GROUPS = 5000;

/** @throws DomainError TOO_MANY_GROUPS unless there is room for one more. */
export function requireRoomForGroup(present: number): void {
  if (present >= MAX_GROUPS) {
    throw new DomainError('TOO_MANY_GROUPS', `Too many user groups (limit: ${MAX_GROUPS}).`);
  }
}

/** Direct members of a realm's named groups together, without those of the system: every client gets them all. */
export const MAX_MEMBERSHIPS = 250_000;

/** @throws DomainError TOO_MANY_MEMBERSHIPS unless there is room for so many more. */
export function requireRoomForMembers(present: number, added: number): void {
  if (added > 0 && present + added > MAX_MEMBERSHIPS) {
    throw new DomainError('TOO_MANY_MEMBERSHIPS', `Too many members of user groups (limit: ${MAX_MEMBERSHIPS}).`);
  }
}

/** What names that mean something else begin with; those of system groups begin with `role:` (channels §3.2). */
const RESERVED_PREFIXES = ['@', 'role:', 'user:', 'stream:', 'channel:'] as const;

/** Of a named group that is no system one. Returns it trimmed. @throws DomainError INVALID_GROUP_NAME with the texts of users §12.3 */
export function parseGroupName(raw: string): string {
  const name = trim(raw);
  if (name === '') throw new DomainError('INVALID_GROUP_NAME', "User group name can't be empty!");
  if (isLongerThan(name, MAX_GROUP_NAME_LENGTH)) {
    throw new DomainError('INVALID_GROUP_NAME', `User group name cannot exceed ${MAX_GROUP_NAME_LENGTH} characters.`);
  }
  const prefix = RESERVED_PREFIXES.find((one) => name.startsWith(one));
  if (prefix !== undefined)
    throw new DomainError('INVALID_GROUP_NAME', `User group name cannot start with '${prefix}'.`);
  return name;
}

/** Of another group of the organization, deactivated ones included, whatever the letter case (users §12.3). */
export const groupNameTaken = (name: string): DomainError =>
  new DomainError('GROUP_NAME_TAKEN', `User group '${name}' already exists.`);

/** A set of users and other groups. Unnamed ones hold the value of one permission and appear in no listing. */
export interface Group {
  readonly id: GroupId;
  readonly realmId: RealmId;
  /** Null: unnamed. */
  readonly name: string | null;
  readonly description: string;
  readonly systemName: SystemGroupName | null;
  readonly isDeactivated: boolean;
  readonly creatorId: UserId | null;
  readonly createdAt: UnixSeconds | null;
  /** Null for anonymous groups, which nobody manages. */
  readonly permissions: GroupSettings<typeof GROUP_PERMISSIONS> | null;
}

/** A named group as members of the realm see it. Lists ascend; only active users count as members. */
export interface GroupView extends Omit<Group, 'permissions' | 'name'> {
  readonly name: string;
  readonly permissions: GroupSettingValues<typeof GROUP_PERMISSIONS>;
  readonly memberIds: readonly UserId[];
  readonly subgroupIds: readonly GroupId[];
}
