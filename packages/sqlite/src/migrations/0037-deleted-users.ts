import type { Migration } from './migration.js';

/** Whose profile was deleted with the account. */
export const deletedUsers: Migration = {
  name: '0037-deleted-users',
  sql: `
ALTER TABLE user ADD COLUMN is_deleted INTEGER NOT NULL DEFAULT 0;
`,
};
