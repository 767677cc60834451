import type { Migration } from './migration.js';

/** How many people and groups the values of permissions name together, which has a maximum. */
export const permissionHolderCount: Migration = {
  name: '0041-permission-holder-count',
  sql: `
ALTER TABLE realm ADD COLUMN permission_holder_count INTEGER NOT NULL DEFAULT 0;
UPDATE realm SET permission_holder_count = (
  SELECT count(*) FROM user_group g CROSS JOIN group_member m ON m.group_id = g.id
  WHERE g.realm_id = realm.id AND g.name_key IS NULL
) + (
  SELECT count(*) FROM user_group g CROSS JOIN group_subgroup s ON s.group_id = g.id
  WHERE g.realm_id = realm.id AND g.name_key IS NULL
);
`,
};
