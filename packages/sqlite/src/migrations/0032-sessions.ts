import type { Migration } from './migration.js';

/** Where people are logged in with a browser. */
export const sessions: Migration = {
  name: '0032-sessions',
  sql: `
CREATE TABLE session (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  realm_id INTEGER NOT NULL,
  user_id INTEGER NOT NULL REFERENCES user (id),
  fingerprint TEXT NOT NULL UNIQUE,
  user_agent TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  last_used_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX session_by_user ON session (user_id, realm_id, last_used_at, id);
CREATE INDEX session_by_realm ON session (realm_id);
CREATE INDEX session_by_expiry ON session (expires_at);
`,
};
