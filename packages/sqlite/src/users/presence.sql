-- When people were there last. Written in batches, so that a crash loses the last second.

CREATE TABLE presence (
  user_id INTEGER PRIMARY KEY,
  realm_id INTEGER NOT NULL,
  -- Null: never.
  last_active INTEGER,
  last_connected INTEGER NOT NULL,
  update_id INTEGER NOT NULL
) STRICT;
CREATE INDEX presence_by_update ON presence (realm_id, update_id);

CREATE TABLE presence_counter (
  realm_id INTEGER PRIMARY KEY,
  -- The last update id that was given to anybody.
  last_id INTEGER NOT NULL
) STRICT;
