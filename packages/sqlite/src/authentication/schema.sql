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
