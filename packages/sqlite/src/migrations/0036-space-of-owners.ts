import type { Migration } from './migration.js';

/** What somebody's files take is counted in the index alone. */
export const spaceOfOwners: Migration = {
  name: '0036-space-of-owners',
  sql: `
DROP INDEX file_by_owner;
CREATE INDEX file_by_owner ON file (owner_id, id, realm_id, size);
`,
};
