import type { Migration } from './migration.js';

/** Scheduled messages and reminders; drafts, saved snippets, navigation views and onboarding steps. */
export const schedulingAndDrafts: Migration = {
  name: '0011-scheduling-and-drafts',
  sql: `
-- The last number given to a scheduled message or a reminder: none of one is one of the other. A single row.
CREATE TABLE scheduling_counter (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  last_id INTEGER NOT NULL
) STRICT;
INSERT INTO scheduling_counter (id, last_id) VALUES (1, 0);

CREATE TABLE scheduled_message (
  id INTEGER PRIMARY KEY,
  realm_id INTEGER NOT NULL REFERENCES realm (id),
  user_id INTEGER NOT NULL,
  -- Null: it is for the people of user_ids, which is a JSON list then.
  channel_id INTEGER,
  user_ids TEXT,
  topic TEXT NOT NULL,
  -- Both empty once it was sent.
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
  -- May have been deleted.
  message_id INTEGER NOT NULL,
  note TEXT NOT NULL,
  content TEXT NOT NULL,
  rendered_content TEXT NOT NULL,
  due_at INTEGER NOT NULL,
  failure TEXT
) STRICT;
CREATE INDEX reminder_by_user ON reminder (user_id, due_at, id, realm_id);

CREATE TABLE draft (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  realm_id INTEGER NOT NULL REFERENCES realm (id),
  user_id INTEGER NOT NULL,
  -- Of a channel its id; else of people a JSON list of theirs; else of nobody yet.
  channel_id INTEGER,
  user_ids TEXT,
  topic TEXT NOT NULL,
  content TEXT NOT NULL,
  edited_at REAL NOT NULL
) STRICT;
CREATE INDEX draft_by_user ON draft (user_id, edited_at, id, realm_id);

CREATE TABLE snippet (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  realm_id INTEGER NOT NULL REFERENCES realm (id),
  user_id INTEGER NOT NULL,
  title TEXT NOT NULL,
  content TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX snippet_by_user ON snippet (user_id, id, realm_id);

CREATE TABLE navigation_view (
  id INTEGER PRIMARY KEY,
  realm_id INTEGER NOT NULL REFERENCES realm (id),
  user_id INTEGER NOT NULL,
  fragment TEXT NOT NULL,
  is_pinned INTEGER NOT NULL,
  name TEXT
) STRICT;
CREATE UNIQUE INDEX navigation_view_by_fragment ON navigation_view (user_id, fragment);

CREATE TABLE onboarding_step (
  user_id INTEGER NOT NULL,
  step TEXT NOT NULL,
  realm_id INTEGER NOT NULL REFERENCES realm (id),
  PRIMARY KEY (user_id, step)
) STRICT, WITHOUT ROWID;
`,
};
