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
  is_at_server_address INTEGER NOT NULL DEFAULT 0,
  -- JSON: what is known of its icon and logos, by name; '{}': they never changed.
  images TEXT NOT NULL DEFAULT '{}',
  -- Direct members of its groups together, without those of the system and anonymous ones.
  membership_count INTEGER NOT NULL DEFAULT 0,
  -- Direct members and subgroups of its anonymous groups together.
  permission_holder_count INTEGER NOT NULL DEFAULT 0,
  -- Grows with every change of what anonymous groups hold, once they are there.
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
  -- Ascending in the order in which they are applied.
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
