import type { Migration } from './migration.js';

/** What people say of what they are doing. */
export const statuses: Migration = {
  name: '0019-statuses',
  sql: `
CREATE TABLE user_status (
  user_id INTEGER PRIMARY KEY,
  realm_id INTEGER NOT NULL,
  text TEXT NOT NULL,
  emoji_type TEXT,
  emoji_code TEXT,
  emoji_name TEXT
) STRICT;
CREATE INDEX user_status_by_realm ON user_status (realm_id, user_id);
`,
};
