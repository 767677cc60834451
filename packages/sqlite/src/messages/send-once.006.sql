-- Sends that are remembered for a day, so that a retry returns the first message.

CREATE TABLE sent_once (
  realm_id INTEGER NOT NULL REFERENCES realm (id),
  user_id INTEGER NOT NULL,
  queue_id TEXT NOT NULL,
  local_id TEXT NOT NULL,
  message_id INTEGER NOT NULL,
  digest TEXT NOT NULL,
  sent_at INTEGER NOT NULL,
  PRIMARY KEY (user_id, queue_id, local_id, realm_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX sent_once_of_queue ON sent_once (user_id, queue_id, message_id, realm_id);
CREATE INDEX sent_once_by_time ON sent_once (realm_id, sent_at);
