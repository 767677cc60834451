import type { GroupId } from '@parley/domain/kernel';

export type ValueTuple = readonly [id: GroupId, memberIds: string | null, subgroupIds: string | null];

const contentOf = (ids: string): string => `CASE WHEN g.name_key IS NULL THEN coalesce((${ids}), '') END`;

/** Groups with the comma-separated ids of an anonymous group's members and subgroups; null for named groups. */
export const VALUES = `
  SELECT g.id,
    ${contentOf(
      `SELECT string_agg(m.user_id::text, ',') FROM group_member m JOIN "user" u ON u.id = m.user_id AND u.is_active = 1
       WHERE m.group_id = g.id`,
    )},
    ${contentOf("SELECT string_agg(s.subgroup_id::text, ',') FROM group_subgroup s WHERE s.group_id = g.id")}
  FROM user_group g WHERE g.id = ANY($1) AND g.realm_id = $2`;
