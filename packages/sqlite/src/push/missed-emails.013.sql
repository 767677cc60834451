-- Messages that wait to be emailed, batched by conversation.

CREATE TABLE missed_email (
  user_id INTEGER NOT NULL REFERENCES user (id),
  message_id INTEGER NOT NULL,
  realm_id INTEGER NOT NULL,
  conversation TEXT NOT NULL,
  reason TEXT NOT NULL,
  group_id INTEGER,
  PRIMARY KEY (user_id, message_id)
) STRICT, WITHOUT ROWID;
