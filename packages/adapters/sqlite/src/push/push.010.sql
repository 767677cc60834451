-- Last statement of the push service about each organization.

CREATE TABLE push_status (
  realm_id INTEGER PRIMARY KEY REFERENCES realm (id),
  is_enabled INTEGER NOT NULL,
  ends_at INTEGER
) STRICT;
