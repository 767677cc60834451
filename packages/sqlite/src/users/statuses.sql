-- User statuses. Users who never set one have no row.

CREATE TABLE user_status (
  user_id INTEGER PRIMARY KEY,
  realm_id INTEGER NOT NULL,
  text TEXT NOT NULL,
  -- Null if there is no emoji; set together or not at all.
  emoji_type TEXT,
  emoji_code TEXT,
  emoji_name TEXT
) STRICT;
CREATE INDEX user_status_by_realm ON user_status (realm_id, user_id);
