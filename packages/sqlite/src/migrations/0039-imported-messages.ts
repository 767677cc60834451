import type { Migration } from './migration.js';

/** Ids that were given to messages of earlier times. */
export const importedMessages: Migration = {
  name: '0039-imported-messages',
  sql: `
CREATE TABLE imported_messages (
  realm_id INTEGER PRIMARY KEY REFERENCES realm (id),
  first_id INTEGER NOT NULL,
  last_id INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX imported_messages_by_id ON imported_messages (first_id, last_id);
`,
};
