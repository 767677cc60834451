import type { Migration } from './migration.js';

/** Anonymous groups are found, so that those that nothing refers to can be removed. */
export const anonymousGroups: Migration = {
  name: '0023-anonymous-groups',
  sql: `
CREATE INDEX user_group_anonymous ON user_group (realm_id, id) WHERE name_key IS NULL;
`,
};
