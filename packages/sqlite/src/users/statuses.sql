-- What people say of what they are doing; those who have never said anything have no row.

CREATE TABLE user_status (
  user_id INTEGER PRIMARY KEY,
  realm_id INTEGER NOT NULL,
  text TEXT NOT NULL,
  -- Null where there is none; all or none.
  emoji_type TEXT,
  emoji_code TEXT,
  emoji_name TEXT
) STRICT;
CREATE INDEX user_status_by_realm ON user_status (realm_id, user_id);
