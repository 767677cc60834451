import { DomainError } from '../kernel/errors.js';
import type { GroupId, RealmId } from '../kernel/ids.js';
import { enforce } from '../kernel/permission.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import { addAnonymousGroup } from './default-group-settings.js';
import type { GroupSettingDefinition, GroupSettingValue } from './group-setting.js';
import {
  canonicalGroupSetting,
  checkGroupSetting,
  type GroupSettingUpdate,
  groupSettingUpdate,
  namedIn,
} from './group-setting-rules.js';
import { activeUserIds, groupsById } from './named-in-requests.js';

/**
 * A value somebody chose for a permission, in its one spelling (channels §2.4). `permission`: its name, for refusals. @throws DomainError UNKNOWN_GROUP, UNKNOWN_USER, GROUP_DEACTIVATED, GROUP_NOT_ALLOWED, SYSTEM_GROUP_REQUIRED
 */
export async function validateGroupSetting(
  tx: Transaction,
  realmId: RealmId,
  permission: string,
  definition: GroupSettingDefinition,
  chosen: GroupSettingValue,
): Promise<GroupSettingValue> {
  const { nobody } = await tx.groups.systemGroupIds(realmId);
  const value = canonicalGroupSetting(chosen, nobody);
  const { groupIds, userIds } = namedIn(value);
  const named = {
    groups: await groupsById(tx, realmId, groupIds),
    userIds: await activeUserIds(tx, realmId, userIds),
  };
  enforce(checkGroupSetting(value, definition, permission, named));
  return value;
}

/**
 * People and groups in the values of an organization's permissions, those included that were replaced and are not yet removed:
 * every client gets the values of all channels and groups.
 */
export const MAX_PERMISSION_HOLDERS = 250_000;

/**
 * Room for a value that names so many. One can always be named: whoever makes a channel or a group may administer it.
 * @throws DomainError TOO_MANY_PERMISSION_HOLDERS
 */
export function requireRoomForHolders(present: number, named: number): void {
  if (named > 1 && present + named > MAX_PERMISSION_HOLDERS) {
    throw new DomainError(
      'TOO_MANY_PERMISSION_HOLDERS',
      `Too many people in permissions (limit: ${MAX_PERMISSION_HOLDERS}).`,
    );
  }
}

/**
 * The group that stands for an accepted value: the named one itself, or a new anonymous one.
 * @throws DomainError TOO_MANY_PERMISSION_HOLDERS
 */
export async function groupForSetting(tx: Transaction, realmId: RealmId, value: GroupSettingValue): Promise<GroupId> {
  if (typeof value === 'number') return value;
  const { directMembers, directSubgroups } = value;
  requireRoomForHolders(await tx.groups.countPermissionHolders(realmId), directMembers.length + directSubgroups.length);
  return addAnonymousGroup(tx, realmId, directMembers, directSubgroups);
}

/** A permission that changes: `value` as clients see it, `groupId` what it is stored as. */
export interface AcceptedGroupSetting<P extends string> {
  readonly name: P;
  readonly value: GroupSettingValue;
  readonly groupId: GroupId;
}

/**
 * Those of the requested changes that change something, in the order of the registry.
 * @throws DomainError STALE_VALUE, and as `validateGroupSetting` and `groupForSetting` do
 */
export async function acceptGroupSettings<P extends string>(
  tx: Transaction,
  realmId: RealmId,
  registry: Readonly<Record<P, GroupSettingDefinition>>,
  present: Readonly<Record<P, GroupId>>,
  requested: { readonly [K in P]?: GroupSettingUpdate },
): Promise<readonly AcceptedGroupSetting<P>[]> {
  const names = (Object.keys(registry) as P[]).filter((name) => requested[name] !== undefined);
  if (names.length === 0) return [];
  const { nobody } = await tx.groups.systemGroupIds(realmId);
  const current = await tx.groups.settingValues(
    realmId,
    names.map((name) => present[name]),
  );
  const accepted: AcceptedGroupSetting<P>[] = [];
  for (const name of names) {
    const groupId = present[name];
    const { decision, value: wanted } = groupSettingUpdate(current.get(groupId) ?? groupId, requested[name]!, nobody);
    enforce(decision);
    if (wanted === null) continue;
    const value = await validateGroupSetting(tx, realmId, name, registry[name], wanted);
    accepted.push({ name, value, groupId: await groupForSetting(tx, realmId, value) });
  }
  return accepted;
}
