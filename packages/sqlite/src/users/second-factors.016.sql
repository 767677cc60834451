-- Second factors of log-ins by password.

CREATE TABLE authenticator_app (
  user_id INTEGER PRIMARY KEY REFERENCES user (id),
  realm_id INTEGER NOT NULL,
  -- Encrypted.
  secret TEXT NOT NULL,
  -- Time step of the last code that was used.
  last_step INTEGER NOT NULL
) STRICT;
CREATE INDEX authenticator_app_by_realm ON authenticator_app (realm_id);

CREATE TABLE passkey (
  -- Ascends in the order of creation.
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  realm_id INTEGER NOT NULL,
  -- Base64url.
  id TEXT NOT NULL,
  user_id INTEGER NOT NULL REFERENCES user (id),
  public_key TEXT NOT NULL,
  counter INTEGER NOT NULL,
  -- JSON.
  transports TEXT NOT NULL,
  name TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX passkey_by_id ON passkey (realm_id, id);
CREATE INDEX passkey_by_user ON passkey (user_id);

CREATE TABLE recovery_code (
  user_id INTEGER NOT NULL REFERENCES user (id),
  fingerprint TEXT NOT NULL,
  realm_id INTEGER NOT NULL,
  PRIMARY KEY (user_id, fingerprint)
) STRICT, WITHOUT ROWID;
CREATE INDEX recovery_code_by_realm ON recovery_code (realm_id);
