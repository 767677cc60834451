-- Sends that are remembered for a day, so that a retry returns the first message.

CREATE TABLE sent_once (
  realm_id bigint NOT NULL REFERENCES realm (id),
  user_id bigint NOT NULL,
  queue_id text COLLATE "C" NOT NULL,
  local_id text COLLATE "C" NOT NULL,
  message_id bigint NOT NULL,
  digest text COLLATE "C" NOT NULL,
  sent_at bigint NOT NULL,
  PRIMARY KEY (user_id, queue_id, local_id, realm_id)
);
CREATE INDEX sent_once_of_queue ON sent_once (user_id, queue_id, message_id, realm_id);
CREATE INDEX sent_once_by_time ON sent_once (realm_id, sent_at);
