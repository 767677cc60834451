-- Scheduled messages and reminders.

-- Last id given to a scheduled message or reminder, which share one sequence. A single row.
CREATE TABLE scheduling_counter (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  last_id INTEGER NOT NULL
) STRICT;
INSERT INTO scheduling_counter (id, last_id) VALUES (1, 0);

CREATE TABLE scheduled_message (
  id INTEGER PRIMARY KEY,
  realm_id INTEGER NOT NULL REFERENCES realm (id),
  user_id INTEGER NOT NULL,
  -- Null for direct messages to user_ids, a JSON list.
  channel_id INTEGER,
  user_ids TEXT,
  topic TEXT NOT NULL,
  -- Empty, like rendered_content, once the message was sent.
  content TEXT NOT NULL,
  rendered_content TEXT NOT NULL,
  due_at INTEGER NOT NULL,
  client_name TEXT NOT NULL,
  is_read_by_sender INTEGER NOT NULL,
  status TEXT NOT NULL,
  failure TEXT
) STRICT;
CREATE INDEX unsent_scheduled_message ON scheduled_message (user_id, due_at, id, realm_id) WHERE status <> 'sent';
CREATE INDEX sent_scheduled_message ON scheduled_message (user_id, due_at, realm_id) WHERE status = 'sent';

CREATE TABLE reminder (
  id INTEGER PRIMARY KEY,
  realm_id INTEGER NOT NULL REFERENCES realm (id),
  user_id INTEGER NOT NULL,
  -- The message may be deleted.
  message_id INTEGER NOT NULL,
  note TEXT NOT NULL,
  content TEXT NOT NULL,
  rendered_content TEXT NOT NULL,
  due_at INTEGER NOT NULL,
  failure TEXT
) STRICT;
CREATE INDEX reminder_by_user ON reminder (user_id, due_at, id, realm_id);
