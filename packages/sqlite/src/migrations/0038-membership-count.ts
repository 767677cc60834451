import type { Migration } from './migration.js';

/** How many members groups have together, which has a maximum: counting them anew took longer with each. */
export const membershipCount: Migration = {
  name: '0038-membership-count',
  sql: `
ALTER TABLE realm ADD COLUMN membership_count INTEGER NOT NULL DEFAULT 0;
UPDATE realm SET membership_count = (
  SELECT count(*) FROM user_group g CROSS JOIN group_member m ON m.group_id = g.id
  WHERE g.realm_id = realm.id AND g.name_key IS NOT NULL AND g.system_name IS NULL
);
`,
};
