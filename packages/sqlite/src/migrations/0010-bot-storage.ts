import type { Migration } from './migration.js';

/** What bots store for themselves. */
export const botStorage: Migration = {
  name: '0010-bot-storage',
  sql: `
CREATE TABLE bot_storage_entry (
  id INTEGER PRIMARY KEY,
  bot_id INTEGER NOT NULL,
  realm_id INTEGER NOT NULL,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  size INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX bot_storage_by_key ON bot_storage_entry (bot_id, key);

CREATE TABLE bot_storage_usage (
  bot_id INTEGER PRIMARY KEY,
  realm_id INTEGER NOT NULL,
  size INTEGER NOT NULL,
  keys INTEGER NOT NULL
) STRICT;
`,
};
