-- Phones and tablets, and what they registered with for push notifications.

CREATE TABLE device (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  realm_id INTEGER NOT NULL,
  user_id INTEGER NOT NULL,
  -- With which notifications to it are encrypted; both or none.
  push_key_id INTEGER,
  push_key TEXT,
  token_kind TEXT,
  token_id TEXT,
  -- What the push service has yet to take; all or none.
  pending_token_id TEXT,
  pending_public_key TEXT,
  pending_registration TEXT,
  token_updated_at INTEGER,
  registration_error TEXT
) STRICT;
CREATE INDEX device_of_user ON device (user_id, id);

-- Of older apps.
CREATE TABLE push_token (
  -- In the order of adding.
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  realm_id INTEGER NOT NULL,
  user_id INTEGER NOT NULL,
  kind TEXT NOT NULL,
  token TEXT NOT NULL,
  ios_app_id TEXT
) STRICT;
CREATE UNIQUE INDEX push_token_of_user ON push_token (user_id, kind, token);
