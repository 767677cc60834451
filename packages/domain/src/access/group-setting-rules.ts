import './permission-errors.js';
import type { GroupId, UserId } from '../kernel/ids.js';
import { all, type Decision, denied, denyIf } from '../kernel/permission.js';
import type { GroupSettingDefinition, GroupSettingValue } from './group-setting.js';
import type { SystemGroupName } from './system-groups.js';

/**
 * The one spelling of a value (channels §2.4): lists ascend without duplicates; a single subgroup and nobody else is that
 * group; nobody at all is the group of nobody. Clients compare values by it, and so do updates.
 */
export function canonicalGroupSetting(value: GroupSettingValue, nobodyId: GroupId): GroupSettingValue {
  if (typeof value === 'number') return value;
  const directMembers = ascending(value.directMembers);
  const directSubgroups = ascending(value.directSubgroups);
  if (directMembers.length === 0 && directSubgroups.length <= 1) return directSubgroups[0] ?? nobodyId;
  return { directMembers, directSubgroups };
}

const ascending = <Id extends number>(ids: readonly Id[]): readonly Id[] => [...new Set(ids)].sort((a, b) => a - b);

/** Of canonical values. */
export function isSameGroupSetting(one: GroupSettingValue, other: GroupSettingValue): boolean {
  if (typeof one === 'number' || typeof other === 'number') return one === other;
  return isSame(one.directMembers, other.directMembers) && isSame(one.directSubgroups, other.directSubgroups);
}

const isSame = (one: readonly number[], other: readonly number[]): boolean =>
  one.length === other.length && one.every((id, index) => id === other[index]);

/** A change by somebody who says what they think the value is, so that they do not undo another's change unseen. */
export interface GroupSettingUpdate {
  readonly new: GroupSettingValue;
  readonly old?: GroupSettingValue;
}

/**
 * The value to store, canonical; null: it has that value already, so nothing changes and no event is sent. Refused where
 * `old` is another value (channels §2.4). `current`: as `GroupReads.settingValues` answers, and so clients see it.
 */
export function groupSettingUpdate(
  current: GroupSettingValue,
  update: GroupSettingUpdate,
  nobodyId: GroupId,
): { readonly decision: Decision; readonly value: GroupSettingValue | null } {
  const before = canonicalGroupSetting(current, nobodyId);
  const value = canonicalGroupSetting(update.new, nobodyId);
  const expected = update.old === undefined ? before : canonicalGroupSetting(update.old, nobodyId);
  return {
    decision: denyIf(
      !isSameGroupSetting(expected, before),
      'STALE_VALUE',
      "'old' value does not match the expected value.",
    ),
    value: isSameGroupSetting(value, before) ? null : value,
  };
}

/** What is asked of a group that a value names. */
export interface NamedGroup {
  /** Null: an anonymous one. */
  readonly name: string | null;
  /** Null: none of the system's. */
  readonly systemName: SystemGroupName | null;
  readonly isDeactivated: boolean;
}

/** What a value names, looked up beforehand: whatever is absent is unknown. */
export interface NamedInSetting {
  /** By id: groups of the realm, anonymous ones too. */
  readonly groups: ReadonlyMap<GroupId, NamedGroup>;
  /** Active users of the realm, without its system bots (contract decision 22). */
  readonly userIds: ReadonlySet<UserId>;
}

/** The groups and users that `checkGroupSetting` asks for. */
export function namedIn(value: GroupSettingValue): {
  readonly groupIds: readonly GroupId[];
  readonly userIds: readonly UserId[];
} {
  return typeof value === 'number'
    ? { groupIds: [value], userIds: [] }
    : { groupIds: value.directSubgroups, userIds: value.directMembers };
}

/**
 * Whether a canonical value may be given to this permission, in the order of channels §2.4. `permission`: its name, for
 * refusals. What a permission excludes counts for a group by itself only: everyone beside somebody
 * else is accepted, and guests are turned away when it is asked (`isGranted`).
 */
export function checkGroupSetting(
  value: GroupSettingValue,
  definition: GroupSettingDefinition,
  permission: string,
  named: NamedInSetting,
): Decision {
  return typeof value === 'number'
    ? checkNamedGroup(named.groups.get(value), definition, permission)
    : all(needsSystemGroup(definition, null, permission), checkAnonymousGroup(value, named));
}

function checkNamedGroup(
  group: NamedGroup | undefined,
  definition: GroupSettingDefinition,
  permission: string,
): Decision {
  if (group === undefined || group.name === null) return denied('UNKNOWN_GROUP', 'Invalid user group');
  const { name, systemName } = group;
  const isShut: Readonly<Partial<Record<SystemGroupName, boolean>>> = {
    internet: !definition.allowInternet,
    nobody: !definition.allowNobody,
    everyone: !definition.allowEveryone,
  };
  const { allowedSystemGroups } = definition;
  return all(
    denyIf(group.isDeactivated, 'GROUP_DEACTIVATED', 'User group is deactivated.'),
    needsSystemGroup(definition, systemName, permission),
    denyIf(
      (systemName !== null && isShut[systemName] === true) ||
        (allowedSystemGroups.length > 0 && (systemName === null || !allowedSystemGroups.includes(systemName))),
      'GROUP_NOT_ALLOWED',
      `'${permission}' cannot be given to the group '${name}'.`,
      { permission, groupName: name },
    ),
  );
}

const needsSystemGroup = (
  definition: GroupSettingDefinition,
  systemName: SystemGroupName | null,
  permission: string,
): Decision =>
  denyIf(
    definition.requireSystemGroup && systemName === null,
    'SYSTEM_GROUP_REQUIRED',
    `'${permission}' must be given to a system group.`,
    { permission },
  );

function checkAnonymousGroup(value: Exclude<GroupSettingValue, GroupId>, named: NamedInSetting): Decision {
  const unknownUser = value.directMembers.find((id) => !named.userIds.has(id));
  if (unknownUser !== undefined) return denied('UNKNOWN_USER', `Invalid user ID: ${unknownUser}`);
  const unknownGroup = value.directSubgroups.find((id) => (named.groups.get(id)?.name ?? null) === null);
  if (unknownGroup !== undefined) return denied('UNKNOWN_GROUP', `Invalid user group ID: ${unknownGroup}`);
  return denyIf(
    value.directSubgroups.some((id) => named.groups.get(id)?.isDeactivated === true),
    'GROUP_DEACTIVATED',
    'User group is deactivated.',
  );
}

/** Whether a permission with this value depends on the group: as its holder, or as one of those spelt out. */
export const namesGroup = (value: GroupSettingValue, id: GroupId): boolean => namedIn(value).groupIds.includes(id);
