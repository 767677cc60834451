-- Drafts.

CREATE TABLE draft (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  realm_id INTEGER NOT NULL REFERENCES realm (id),
  user_id INTEGER NOT NULL,
  -- Channel id, or a JSON list of user ids, or neither if the draft has no recipient yet.
  channel_id INTEGER,
  user_ids TEXT,
  topic TEXT NOT NULL,
  content TEXT NOT NULL,
  edited_at REAL NOT NULL
) STRICT;
CREATE INDEX draft_by_user ON draft (user_id, edited_at, id, realm_id);
