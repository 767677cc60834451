import type { GroupId } from '@parley/domain/kernel';
import { ColumnReader } from '../engine/rows.js';

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
