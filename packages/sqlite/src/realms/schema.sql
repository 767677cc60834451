-- Organizations. What every unit asks for stands first, so that it is found without the JSON.

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
  user_defaults TEXT NOT NULL,
  -- At the address of the server itself; every other one has a name of its own below that.
  is_at_server_address INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX realm_at_server_address ON realm (is_at_server_address) WHERE is_at_server_address = 1;
