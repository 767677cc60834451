-- Realms. Columns that every transaction reads come before the JSON columns.

CREATE TABLE realm (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  -- Increases with every change of the row.
  version INTEGER NOT NULL,
  -- Increases with every change of group membership in the realm.
  groups_version INTEGER NOT NULL,
  string_id TEXT NOT NULL UNIQUE,
  uuid TEXT NOT NULL,
  name TEXT NOT NULL,
  is_deactivated INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  -- JSON of the values that differ from the registry's defaults.
  settings TEXT NOT NULL,
  rendered_description TEXT NOT NULL,
  -- JSON: a group id for each permission.
  permissions TEXT NOT NULL,
  -- JSON of the values that differ from the registry's defaults.
  user_defaults TEXT NOT NULL,
  -- 1 for the realm at the server's own address; others have a host name or path of their own.
  is_at_server_address INTEGER NOT NULL DEFAULT 0,
  -- JSON of icon and logos by name; '{}' if they never changed.
  images TEXT NOT NULL DEFAULT '{}',
  -- Total number of direct members of named groups, without system groups.
  membership_count INTEGER NOT NULL DEFAULT 0,
  -- Total number of direct members and subgroups of anonymous groups.
  permission_holder_count INTEGER NOT NULL DEFAULT 0,
  -- Increases with every later change of an anonymous group.
  setting_values_version INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX realm_at_server_address ON realm (is_at_server_address) WHERE is_at_server_address = 1;

CREATE TABLE allowed_domain (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  realm_id INTEGER NOT NULL REFERENCES realm (id),
  domain TEXT NOT NULL,
  allows_subdomains INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX allowed_domain_by_name ON allowed_domain (realm_id, domain);

CREATE TABLE linkifier (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  realm_id INTEGER NOT NULL REFERENCES realm (id),
  -- Ascends in order of application.
  position INTEGER NOT NULL,
  pattern TEXT NOT NULL,
  url_template TEXT NOT NULL,
  example_input TEXT,
  reverse_template TEXT,
  -- JSON list of texts.
  alternative_url_templates TEXT NOT NULL
) STRICT;
CREATE INDEX linkifier_in_order ON linkifier (realm_id, position);

CREATE TABLE playground (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  realm_id INTEGER NOT NULL REFERENCES realm (id),
  name TEXT NOT NULL,
  language TEXT NOT NULL,
  url_template TEXT NOT NULL
) STRICT;
CREATE INDEX playground_by_realm ON playground (realm_id, id);
