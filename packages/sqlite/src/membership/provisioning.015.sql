-- Directories that manage people and groups.

CREATE TABLE provisioning_token (
  realm_id INTEGER NOT NULL REFERENCES realm (id),
  name TEXT NOT NULL,
  -- SHA-256 of the token.
  fingerprint TEXT NOT NULL UNIQUE,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (realm_id, name)
) STRICT, WITHOUT ROWID;

-- People whom a directory has deleted.
CREATE TABLE removed_user (
  realm_id INTEGER NOT NULL,
  user_id INTEGER NOT NULL REFERENCES user (id),
  PRIMARY KEY (realm_id, user_id)
) STRICT, WITHOUT ROWID;

-- Groups that a directory made.
CREATE TABLE provisioned_group (
  realm_id INTEGER NOT NULL,
  group_id INTEGER NOT NULL REFERENCES user_group (id),
  -- Id in the directory.
  external_id TEXT,
  is_removed INTEGER NOT NULL,
  PRIMARY KEY (realm_id, group_id)
) STRICT, WITHOUT ROWID;
