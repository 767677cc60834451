-- API keys, as fingerprints only.

CREATE TABLE api_key (
  user_id INTEGER PRIMARY KEY REFERENCES user (id),
  realm_id INTEGER NOT NULL,
  generation INTEGER NOT NULL,
  fingerprint TEXT NOT NULL UNIQUE
) STRICT;

-- Facts about the server as a whole, by name; the secret's fingerprint is one.
CREATE TABLE server_fact (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Browser sessions. The token is stored as a keyed hash; only the browser has the token itself.
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
