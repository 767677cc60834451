import type { Migration } from './migration.js';

/** When somebody was muted, which clients show. */
export const mutedUsers: Migration = {
  name: '0022-muted-users',
  sql: 'ALTER TABLE muted_sender ADD COLUMN muted_at INTEGER NOT NULL DEFAULT 0;',
};
