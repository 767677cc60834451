-- User statuses. Users who never set one have no row.

CREATE TABLE user_status (
  user_id bigint PRIMARY KEY,
  realm_id bigint NOT NULL,
  text text COLLATE "C" NOT NULL,
  -- Null if there is no emoji; set together or not at all.
  emoji_type text COLLATE "C",
  emoji_code text COLLATE "C",
  emoji_name text COLLATE "C"
);
CREATE INDEX user_status_by_realm ON user_status (realm_id, user_id);
