import type { Migration } from './migration.js';

/** When people were there last. */
export const presence: Migration = {
  name: '0018-presence',
  sql: `
CREATE TABLE presence (
  user_id INTEGER PRIMARY KEY,
  realm_id INTEGER NOT NULL,
  last_active INTEGER,
  last_connected INTEGER NOT NULL,
  update_id INTEGER NOT NULL
) STRICT;
CREATE INDEX presence_by_update ON presence (realm_id, update_id);

CREATE TABLE presence_counter (
  realm_id INTEGER PRIMARY KEY,
  last_id INTEGER NOT NULL
) STRICT;
`,
};
