-- Last activity of users. Written in batches, so a crash loses the last second.

CREATE TABLE presence (
  user_id bigint PRIMARY KEY,
  realm_id bigint NOT NULL,
  -- Null if the user was never active.
  last_active bigint,
  last_connected bigint NOT NULL,
  update_id bigint NOT NULL
);
CREATE INDEX presence_by_update ON presence (realm_id, update_id);

CREATE TABLE presence_counter (
  realm_id bigint PRIMARY KEY,
  -- Last update id handed out in the realm.
  last_id bigint NOT NULL
);
