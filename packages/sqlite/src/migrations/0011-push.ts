import type { Migration } from './migration.js';

/** Devices and tokens for push notifications. */
export const push: Migration = {
  name: '0011-push',
  sql: `
CREATE TABLE device (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  realm_id INTEGER NOT NULL,
  user_id INTEGER NOT NULL,
  push_key_id INTEGER,
  push_key TEXT,
  token_kind TEXT,
  token_id TEXT,
  pending_token_id TEXT,
  pending_public_key TEXT,
  pending_registration TEXT,
  token_updated_at INTEGER,
  registration_error TEXT
) STRICT;
CREATE INDEX device_of_user ON device (user_id, id);

CREATE TABLE push_token (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  realm_id INTEGER NOT NULL,
  user_id INTEGER NOT NULL,
  kind TEXT NOT NULL,
  token TEXT NOT NULL,
  ios_app_id TEXT
) STRICT;
CREATE UNIQUE INDEX push_token_of_user ON push_token (user_id, kind, token);
`,
};
