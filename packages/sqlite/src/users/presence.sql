-- Last activity of users. Written in batches, so a crash loses the last second.

CREATE TABLE presence (
  user_id INTEGER PRIMARY KEY,
  realm_id INTEGER NOT NULL,
  -- Null if the user was never active.
  last_active INTEGER,
  last_connected INTEGER NOT NULL,
  update_id INTEGER NOT NULL
) STRICT;
CREATE INDEX presence_by_update ON presence (realm_id, update_id);

CREATE TABLE presence_counter (
  realm_id INTEGER PRIMARY KEY,
  -- Last update id handed out in the realm.
  last_id INTEGER NOT NULL
) STRICT;
