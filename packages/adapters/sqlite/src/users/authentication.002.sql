-- Networks from which users logged in with a password, as keyed hashes. Their attempts are counted apart.

CREATE TABLE login_network (
  realm_id INTEGER NOT NULL,
  user_id INTEGER NOT NULL REFERENCES user (id),
  network TEXT NOT NULL,
  last_used_at INTEGER NOT NULL,
  PRIMARY KEY (user_id, network)
) STRICT, WITHOUT ROWID;
CREATE INDEX login_network_by_realm ON login_network (realm_id);
