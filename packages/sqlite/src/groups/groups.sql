-- User groups: named groups, and anonymous groups that are the value of one permission.

CREATE TABLE user_group (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  realm_id INTEGER NOT NULL REFERENCES realm (id),
  is_deactivated INTEGER NOT NULL,
  name TEXT,
  -- Case-folded; null for anonymous groups.
  name_key TEXT,
  description TEXT NOT NULL,
  system_name TEXT,
  creator_id INTEGER,
  created_at INTEGER,
  -- JSON: a group id for each permission; null for anonymous groups.
  permissions TEXT
) STRICT;
CREATE UNIQUE INDEX user_group_by_name ON user_group (realm_id, name_key) WHERE name_key IS NOT NULL;
CREATE UNIQUE INDEX user_group_system ON user_group (realm_id, system_name) WHERE system_name IS NOT NULL;
CREATE INDEX user_group_deactivated ON user_group (realm_id, id) WHERE is_deactivated = 1;
CREATE INDEX user_group_anonymous ON user_group (realm_id, id) WHERE name_key IS NULL;

CREATE TABLE group_member (
  group_id INTEGER NOT NULL REFERENCES user_group (id),
  user_id INTEGER NOT NULL REFERENCES user (id),
  realm_id INTEGER NOT NULL,
  PRIMARY KEY (group_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX group_member_by_user ON group_member (user_id, group_id);

CREATE TABLE group_subgroup (
  group_id INTEGER NOT NULL REFERENCES user_group (id),
  subgroup_id INTEGER NOT NULL REFERENCES user_group (id),
  realm_id INTEGER NOT NULL,
  PRIMARY KEY (group_id, subgroup_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX group_subgroup_by_subgroup ON group_subgroup (subgroup_id, group_id);
CREATE INDEX group_subgroup_by_realm ON group_subgroup (realm_id);
