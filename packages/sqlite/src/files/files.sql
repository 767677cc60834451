-- Uploaded files. Their bytes are in the blob store under the key `blob`.

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
CREATE INDEX unreferenced_file ON file (was_attached, unreferenced_since, id) WHERE unreferenced_since IS NOT NULL;
-- Includes the size, so that the index alone answers quota queries.
CREATE INDEX file_by_owner ON file (owner_id, id, realm_id, size);

-- References from messages to files. Archived messages keep them, although the file may be gone on restore.
CREATE TABLE message_file (
  message_id INTEGER NOT NULL REFERENCES message (id) ON DELETE CASCADE,
  file_id INTEGER NOT NULL,
  PRIMARY KEY (message_id, file_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX message_file_by_file ON message_file (file_id, message_id);

-- Total size of a realm's files in bytes.
CREATE TABLE file_space (
  realm_id INTEGER PRIMARY KEY,
  bytes INTEGER NOT NULL
) STRICT;

-- Files that are images. `thumbnail`: pending, ready or failed.
CREATE TABLE file_image (
  file_id INTEGER PRIMARY KEY REFERENCES file (id) ON DELETE CASCADE,
  width INTEGER NOT NULL,
  height INTEGER NOT NULL,
  is_animated INTEGER NOT NULL,
  thumbnail TEXT NOT NULL
) STRICT;

-- Thumbnails of images.
CREATE TABLE thumbnail (
  file_id INTEGER NOT NULL REFERENCES file (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  blob TEXT NOT NULL,
  size INTEGER NOT NULL,
  PRIMARY KEY (file_id, name)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX thumbnail_by_blob ON thumbnail (blob);

-- Messages that show a placeholder until the thumbnails are ready.
CREATE TABLE awaited_thumbnail (
  file_id INTEGER NOT NULL REFERENCES file (id) ON DELETE CASCADE,
  message_id INTEGER NOT NULL REFERENCES message (id) ON DELETE CASCADE,
  PRIMARY KEY (file_id, message_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX awaited_thumbnail_by_message ON awaited_thumbnail (message_id);

-- Resumable uploads. Received bytes are in the blob store under the key `blob`.
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
