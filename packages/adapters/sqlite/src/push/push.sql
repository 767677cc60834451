-- Mobile devices and their registrations for push notifications.

CREATE TABLE device (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  realm_id INTEGER NOT NULL,
  user_id INTEGER NOT NULL,
  -- Encryption key for its notifications and the key's id; set together or not at all.
  push_key_id INTEGER,
  push_key TEXT,
  token_kind TEXT,
  token_id TEXT,
  -- Registration pending at the push service; set together or not at all.
  pending_token_id TEXT,
  pending_public_key TEXT,
  pending_registration TEXT,
  token_updated_at INTEGER,
  registration_error TEXT
) STRICT;
CREATE INDEX device_of_user ON device (user_id, id);

-- Push tokens of older apps.
CREATE TABLE push_token (
  -- Ascends in insertion order.
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  realm_id INTEGER NOT NULL,
  user_id INTEGER NOT NULL,
  kind TEXT NOT NULL,
  token TEXT NOT NULL,
  ios_app_id TEXT
) STRICT;
CREATE UNIQUE INDEX push_token_of_user ON push_token (user_id, kind, token);
