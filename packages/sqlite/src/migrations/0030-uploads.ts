import type { Migration } from './migration.js';

/** Images among files, what is shown in their place, and uploads that go on after an interruption. */
export const uploads: Migration = {
  name: '0030-uploads',
  sql: `
CREATE TABLE file_image (
  file_id INTEGER PRIMARY KEY,
  width INTEGER NOT NULL,
  height INTEGER NOT NULL,
  is_animated INTEGER NOT NULL,
  thumbnail TEXT NOT NULL
) STRICT;

CREATE TABLE thumbnail (
  file_id INTEGER NOT NULL,
  name TEXT NOT NULL,
  blob TEXT NOT NULL,
  size INTEGER NOT NULL,
  PRIMARY KEY (file_id, name)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX thumbnail_by_blob ON thumbnail (blob);

CREATE TABLE awaited_thumbnail (
  file_id INTEGER NOT NULL,
  message_id INTEGER NOT NULL REFERENCES message (id) ON DELETE CASCADE,
  PRIMARY KEY (file_id, message_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX awaited_thumbnail_by_message ON awaited_thumbnail (message_id);

CREATE TABLE unfinished_upload (
  path_id TEXT PRIMARY KEY,
  realm_id INTEGER NOT NULL REFERENCES realm (id),
  owner_id INTEGER NOT NULL,
  name TEXT NOT NULL,
  claimed_type TEXT NOT NULL,
  metadata TEXT NOT NULL,
  size INTEGER NOT NULL,
  blob TEXT NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX unfinished_upload_by_blob ON unfinished_upload (blob);
CREATE INDEX unfinished_upload_by_owner ON unfinished_upload (realm_id, owner_id, size);
CREATE INDEX unfinished_upload_by_end ON unfinished_upload (expires_at);

INSERT INTO job (realm_id, kind, key, due_at, attempts, format, payload)
SELECT realm_id, 'files.make_thumbnails', CAST(id AS TEXT), 0, 0, 1, json_object('fileId', id) FROM file
WHERE content_type IN ('image/avif', 'image/gif', 'image/jpeg', 'image/png', 'image/tiff', 'image/webp');
`,
};
