-- Users by their ids in the host application.

CREATE TABLE external_id (
  user_id INTEGER PRIMARY KEY,
  realm_id INTEGER NOT NULL REFERENCES realm (id),
  external_id TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX external_id_by_value ON external_id (realm_id, external_id);
