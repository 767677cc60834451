import type { Migration } from './migration.js';

/** Drafts, saved snippets, navigation views and onboarding steps. */
export const personalLists: Migration = {
  name: '0016-personal-lists',
  sql: `
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
