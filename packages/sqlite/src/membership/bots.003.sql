-- Messages that wait for delivery to the URL of an outgoing webhook.

CREATE TABLE bot_trigger (
  bot_id INTEGER NOT NULL REFERENCES user (id),
  message_id INTEGER NOT NULL,
  realm_id INTEGER NOT NULL,
  trigger TEXT NOT NULL,
  PRIMARY KEY (bot_id, message_id)
) STRICT, WITHOUT ROWID;
