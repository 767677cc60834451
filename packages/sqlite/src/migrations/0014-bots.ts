import type { Migration } from './migration.js';

/** What bots have beside what users have, and who owns them. */
export const bots: Migration = {
  name: '0014-bots',
  sql: `
CREATE TABLE bot_option (
  bot_id INTEGER PRIMARY KEY,
  realm_id INTEGER NOT NULL,
  events_channel_id INTEGER,
  all_public_channels INTEGER NOT NULL,
  webhook_url TEXT,
  webhook_interface TEXT,
  webhook_token TEXT
) STRICT;
CREATE INDEX user_bots_by_owner ON user (realm_id, bot_owner_id, id) WHERE bot_owner_id IS NOT NULL;
`,
};
