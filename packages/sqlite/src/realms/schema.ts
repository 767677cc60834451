/** Organizations. What every unit asks for stands first, so that it is found without the JSON. */
export const REALMS_SCHEMA = `
CREATE TABLE realm (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  -- Grows with every change of the row.
  version INTEGER NOT NULL,
  -- Grows with every change of who is in which group of the realm.
  groups_version INTEGER NOT NULL,
  string_id TEXT NOT NULL UNIQUE,
  uuid TEXT NOT NULL,
  name TEXT NOT NULL,
  is_deactivated INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  -- JSON: what differs from the registry's defaults.
  settings TEXT NOT NULL,
  rendered_description TEXT NOT NULL,
  -- JSON: a group id for each permission.
  permissions TEXT NOT NULL,
  -- JSON: what differs from the registry's defaults.
  user_defaults TEXT NOT NULL
) STRICT;
`;
