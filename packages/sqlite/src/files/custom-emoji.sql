CREATE TABLE custom_emoji (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  realm_id INTEGER NOT NULL REFERENCES realm (id),
  name TEXT NOT NULL,
  author_id INTEGER,
  -- Picture of the emoji.
  format TEXT NOT NULL,
  is_animated INTEGER NOT NULL,
  is_deactivated INTEGER NOT NULL DEFAULT 0
) STRICT;
-- Names of deactivated emoji can be reused.
CREATE UNIQUE INDEX custom_emoji_by_name ON custom_emoji (realm_id, name) WHERE is_deactivated = 0;
CREATE INDEX custom_emoji_by_realm ON custom_emoji (realm_id, id);
