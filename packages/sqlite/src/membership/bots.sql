-- Key-value storage of bots.

CREATE TABLE bot_storage_entry (
  id INTEGER PRIMARY KEY,
  bot_id INTEGER NOT NULL,
  realm_id INTEGER NOT NULL,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  -- Size of key and value in code points.
  size INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX bot_storage_by_key ON bot_storage_entry (bot_id, key);

-- Total size per bot, so that storing an entry has constant cost.
CREATE TABLE bot_storage_usage (
  bot_id INTEGER PRIMARY KEY,
  realm_id INTEGER NOT NULL,
  size INTEGER NOT NULL,
  keys INTEGER NOT NULL
) STRICT;

-- Options that only bots have. Bots that never had any have no row.
CREATE TABLE bot_option (
  bot_id INTEGER PRIMARY KEY,
  realm_id INTEGER NOT NULL,
  events_channel_id INTEGER,
  all_public_channels INTEGER NOT NULL,
  -- Outgoing webhook; set together or not at all.
  webhook_url TEXT,
  webhook_interface TEXT,
  webhook_token TEXT
) STRICT;
