import type { GroupId, RealmId, UserId } from '../shared/ids.js';
import { enforce } from '../shared/permission.js';
import type { Transaction } from '../shared/unit-of-work.js';
import { addAnonymousGroup } from './default-group-settings.js';
import type { Group } from './group.js';
import type { GroupSettingDefinition, GroupSettingValue } from './group-setting.js';
import { canonicalGroupSetting, checkGroupSetting, namedIn } from './group-setting-rules.js';

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
  const groups = new Map<GroupId, Group>();
  for (const id of groupIds) {
    const group = await tx.groups.find(realmId, id);
    if (group) groups.set(id, group);
  }
  // The organization's own bots are members of nothing (contract decision 22).
  const users = (await tx.users.list(realmId, userIds)).filter((user) => user.isActive && !user.bot?.isSystem);
  const known = new Set<UserId>(users.map((user) => user.id));
  enforce(checkGroupSetting(value, definition, permission, { groups, userIds: known }));
  return value;
}

/** The group that stands for an accepted value: the named one itself, or a new anonymous one. */
export async function groupForSetting(tx: Transaction, realmId: RealmId, value: GroupSettingValue): Promise<GroupId> {
  return typeof value === 'number' ? value : addAnonymousGroup(tx, realmId, value.directMembers, value.directSubgroups);
}
