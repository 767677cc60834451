-- Messages that wait to be emailed, batched by conversation.

CREATE TABLE missed_email (
  user_id bigint NOT NULL REFERENCES "user" (id),
  message_id bigint NOT NULL,
  realm_id bigint NOT NULL,
  conversation text COLLATE "C" NOT NULL,
  reason text COLLATE "C" NOT NULL,
  group_id bigint,
  PRIMARY KEY (user_id, message_id)
);
