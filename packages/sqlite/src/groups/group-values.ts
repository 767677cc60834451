import type { GroupSettingValue, GroupSettingValues } from '@parley/domain/access';
import type { GroupId, UserId } from '@parley/domain/kernel';
import { ascending, ColumnReader } from '../engine/rows.js';
import { memoize } from '../engine/text-cache.js';

/** Presentable values of a registry's permissions. Permissions with unknown groups are absent. */
export function groupSettingValues<R extends object>(
  registry: R,
  groupSettings: { readonly [K in keyof R]: GroupId } | null,
  values: ReadonlyMap<GroupId, GroupSettingValue>,
): GroupSettingValues<R> {
  const spelt: Record<string, GroupSettingValue> = {};
  for (const name of Object.keys(registry)) {
    const value = groupSettings && values.get(groupSettings[name as keyof R]);
    if (value !== null && value !== undefined) spelt[name] = value;
  }
  return spelt as GroupSettingValues<R>;
}

interface ValueRow {
  readonly id: GroupId;
  /** Comma-separated in any order; null for named groups. */
  readonly member_ids: string | null;
  readonly subgroup_ids: string | null;
}
const contentOf = (ids: string): string => `CASE WHEN g.name_key IS NULL THEN coalesce((${ids}), '') END`;
export const VALUES = new ColumnReader<ValueRow>(
  ['id', 'member_ids', 'subgroup_ids'],
  `(SELECT g.id,
           ${contentOf(
             `SELECT group_concat(m.user_id) FROM group_member m JOIN user u ON u.id = m.user_id AND u.is_active = 1
              WHERE m.group_id = g.id`,
           )} AS member_ids,
           ${contentOf('SELECT group_concat(s.subgroup_id) FROM group_subgroup s WHERE s.group_id = g.id')} AS subgroup_ids
    FROM user_group g WHERE g.id IN (SELECT value FROM json_each(?)) AND +g.realm_id = ?)`,
);

/** Memoized, because many anonymous groups hold the same content, mostly one user. */
export const anonymousValue = memoize<GroupSettingValue>((content) => {
  const [members, subgroups] = content.split('/');
  return {
    directMembers: idsOf(members!).sort(ascending) as UserId[],
    directSubgroups: idsOf(subgroups!).sort(ascending) as GroupId[],
  };
});
const idsOf = (list: string): number[] => (list === '' ? [] : list.split(',').map(Number));
