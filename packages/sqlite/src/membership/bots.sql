-- What bots have stored for themselves.

CREATE TABLE bot_storage_entry (
  id INTEGER PRIMARY KEY,
  bot_id INTEGER NOT NULL,
  realm_id INTEGER NOT NULL,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  -- Of key and value, in code points.
  size INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX bot_storage_by_key ON bot_storage_entry (bot_id, key);

-- All of it counted together, so that storing something costs the same however much there is.
CREATE TABLE bot_storage_usage (
  bot_id INTEGER PRIMARY KEY,
  realm_id INTEGER NOT NULL,
  size INTEGER NOT NULL,
  keys INTEGER NOT NULL
) STRICT;

-- What bots have beside what users have; bots that never had any of it have no row.
CREATE TABLE bot_option (
  bot_id INTEGER PRIMARY KEY,
  realm_id INTEGER NOT NULL,
  events_channel_id INTEGER,
  all_public_channels INTEGER NOT NULL,
  -- Of an outgoing webhook; all or none.
  webhook_url TEXT,
  webhook_interface TEXT,
  webhook_token TEXT
) STRICT;
