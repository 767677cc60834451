import type { Migration } from './migration.js';

/** What people upload, and which messages refer to it. */
export const files: Migration = {
  name: '0025-files',
  sql: `
CREATE TABLE file (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  realm_id INTEGER NOT NULL REFERENCES realm (id),
  owner_id INTEGER NOT NULL,
  name TEXT NOT NULL,
  path_id TEXT NOT NULL,
  blob TEXT NOT NULL,
  size INTEGER NOT NULL,
  content_type TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  was_attached INTEGER NOT NULL DEFAULT 0,
  unreferenced_since INTEGER
) STRICT;
CREATE UNIQUE INDEX file_by_path ON file (path_id);
CREATE UNIQUE INDEX file_by_blob ON file (blob);
CREATE INDEX file_by_owner ON file (owner_id, id, realm_id);
CREATE INDEX unreferenced_file ON file (was_attached, unreferenced_since, id) WHERE unreferenced_since IS NOT NULL;

CREATE TABLE message_file (
  message_id INTEGER NOT NULL REFERENCES message (id) ON DELETE CASCADE,
  file_id INTEGER NOT NULL,
  PRIMARY KEY (message_id, file_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX message_file_by_file ON message_file (file_id, message_id);

CREATE TABLE file_space (
  realm_id INTEGER PRIMARY KEY,
  bytes INTEGER NOT NULL
) STRICT;
`,
};
