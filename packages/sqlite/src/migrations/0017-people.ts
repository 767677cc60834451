import type { Migration } from './migration.js';

/** Custom profile fields with what users say in them. */
export const people: Migration = {
  name: '0017-people',
  sql: `
CREATE TABLE profile_field (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  realm_id INTEGER NOT NULL REFERENCES realm (id),
  kind TEXT NOT NULL,
  place INTEGER NOT NULL,
  name TEXT NOT NULL,
  hint TEXT NOT NULL,
  -- JSON: choices by key, or what kind of account it is; '{}' for other kinds.
  data TEXT NOT NULL,
  is_required INTEGER NOT NULL,
  is_editable_by_user INTEGER NOT NULL,
  is_for_matching INTEGER NOT NULL,
  is_in_summary INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX profile_field_by_name ON profile_field (realm_id, name);
CREATE INDEX profile_field_by_place ON profile_field (realm_id, place, id);

CREATE TABLE profile_value (
  user_id INTEGER NOT NULL REFERENCES user (id),
  field_id INTEGER NOT NULL REFERENCES profile_field (id),
  realm_id INTEGER NOT NULL,
  value TEXT NOT NULL,
  -- HTML; null where the kind of field is shown as it is.
  rendered TEXT,
  PRIMARY KEY (user_id, field_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX profile_value_by_field ON profile_value (field_id, value);
`,
};
