import { SYSTEM_GROUPS, systemGroupTitle } from '@parley/domain/access';
import { GROUP_PERMISSIONS } from '@parley/domain/groups';
import type { GroupCopy, UserCopy } from '@parley/transfer/exports';
import { flag, orElse, orNull, text, time } from '../parley-shapes.js';
import { group, grouped, NAME, type TableReader, user } from './table-reader.js';

export function readGroups(tables: TableReader, users: readonly UserCopy[]): readonly GroupCopy[] {
  const userIds = new Set(users.map(({ user: { id: own } }) => own));
  const members = grouped(
    tables.table('zerver_usergroupmembership', { user_group: group, user_profile: user }),
    (it) => it.user_group,
  );
  const subgroups = grouped(
    tables.table('zerver_groupgroupmembership', { supergroup: group, subgroup: group }),
    (it) => it.supergroup,
  );
  const named = new Map(
    tables
      .rows('zerver_namedusergroup')
      .map((row, index) => [group(row.usergroup_ptr ?? row.id, `zerver_namedusergroup[${index}].usergroup_ptr`), row]),
  );
  const ids = new Set([...tables.table('zerver_usergroup', { id: group }).map((it) => it.id), ...named.keys()]);
  const systemNames = new Map(SYSTEM_GROUPS.map(({ name }) => [systemGroupTitle(name), name]));
  return [...ids].map((own) => {
    const row = named.get(own);
    const name = row ? NAME(row.name, 'zerver_namedusergroup.name') : null;
    const isSystem = row?.is_system_group === true;
    return {
      id: own,
      realmId: tables.realmId,
      name,
      description: orElse(text(10_000), '')(row?.description, 'zerver_namedusergroup.description'),
      systemName: isSystem ? (systemNames.get(name!) ?? null) : null,
      isDeactivated: orElse(flag, false)(row?.deactivated, 'zerver_namedusergroup.deactivated'),
      creatorId: orNull(user)(row?.creator, 'zerver_namedusergroup.creator'),
      createdAt: orNull(time)(row?.date_created, 'zerver_namedusergroup.date_created'),
      permissions: row ? tables.permissionsOf(GROUP_PERMISSIONS, row) : null,
      memberIds: (members.get(own) ?? []).map((it) => it.user_profile).filter((userId) => userIds.has(userId)),
      subgroupIds: (subgroups.get(own) ?? []).map((it) => it.subgroup),
    };
  });
}
