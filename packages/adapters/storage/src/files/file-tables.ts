/** Tables that list blobs; unfinished uploads are stored elsewhere. */
export const BLOB_TABLES: readonly string[] = ['file', 'thumbnail', 'picture', 'realm_export', 'person_export'];

/** Query of a page of blobs, with the placeholders of the last name before it and of the limit. */
export const blobsSql = (after: string, limit: string, tables = BLOB_TABLES): string =>
  `${tables.map((name) => `SELECT blob, size FROM ${name} WHERE blob > ${after}`).join(' UNION ALL ')} ORDER BY blob LIMIT ${limit}`;

export const TABLES = `
-- Uploaded files. Their bytes are in the blob store under the key blob.

CREATE TABLE file (
  id {id},
  realm_id {int} NOT NULL REFERENCES realm (id),
  owner_id {int} NOT NULL,
  name {text} NOT NULL,
  path_id {text} NOT NULL,
  blob {text} NOT NULL,
  size {int} NOT NULL,
  content_type {text} NOT NULL,
  created_at {int} NOT NULL,
  was_attached {flag} NOT NULL DEFAULT 0,
  unreferenced_since {int}
) {strict};
CREATE UNIQUE INDEX file_by_path ON file (path_id);
CREATE UNIQUE INDEX file_by_blob ON file (blob);
CREATE INDEX unreferenced_file ON file (was_attached, unreferenced_since, id) WHERE unreferenced_since IS NOT NULL;
-- Includes the size, so that the index alone answers quota queries.
CREATE INDEX file_by_owner ON file (owner_id, id, realm_id, size);

-- References from messages to files. Archived messages keep them, although the file may be gone on restore.
CREATE TABLE message_file (
  message_id {int} NOT NULL REFERENCES message (id) ON DELETE CASCADE,
  file_id {int} NOT NULL,
  PRIMARY KEY (message_id, file_id)
) {withoutRowId};
CREATE INDEX message_file_by_file ON message_file (file_id, message_id);

-- Total size of a realm's files in bytes.
CREATE TABLE file_space (
  realm_id {int} PRIMARY KEY,
  bytes {int} NOT NULL
) {strict};

-- Files that are images. thumbnail: pending, ready or failed.
CREATE TABLE file_image (
  file_id {int} PRIMARY KEY REFERENCES file (id) ON DELETE CASCADE,
  width {int} NOT NULL,
  height {int} NOT NULL,
  is_animated {flag} NOT NULL,
  thumbnail {text} NOT NULL
) {strict};

-- Thumbnails of images.
CREATE TABLE thumbnail (
  file_id {int} NOT NULL REFERENCES file (id) ON DELETE CASCADE,
  name {text} NOT NULL,
  blob {text} NOT NULL,
  size {int} NOT NULL,
  PRIMARY KEY (file_id, name)
) {withoutRowId};
CREATE UNIQUE INDEX thumbnail_by_blob ON thumbnail (blob);

-- Messages that show a placeholder until the thumbnails are ready.
CREATE TABLE awaited_thumbnail (
  file_id {int} NOT NULL REFERENCES file (id) ON DELETE CASCADE,
  message_id {int} NOT NULL REFERENCES message (id) ON DELETE CASCADE,
  PRIMARY KEY (file_id, message_id)
) {withoutRowId};
CREATE INDEX awaited_thumbnail_by_message ON awaited_thumbnail (message_id);

-- Resumable uploads. Received bytes are in the blob store under the key blob.
CREATE TABLE unfinished_upload (
  path_id {text} PRIMARY KEY,
  realm_id {int} NOT NULL REFERENCES realm (id),
  owner_id {int} NOT NULL,
  name {text} NOT NULL,
  claimed_type {text} NOT NULL,
  metadata {text} NOT NULL,
  size {int} NOT NULL,
  blob {text} NOT NULL,
  expires_at {int} NOT NULL
) {withoutRowId};
CREATE UNIQUE INDEX unfinished_upload_by_blob ON unfinished_upload (blob);
CREATE INDEX unfinished_upload_by_owner ON unfinished_upload (realm_id, owner_id, size);
CREATE INDEX unfinished_upload_by_end ON unfinished_upload (expires_at);
`;

export const FORMER_REFERENCES = `
-- expand: files that messages linked to before a deletion or an edit. Holds keep such files.

CREATE TABLE former_message_file (
  file_id {int} NOT NULL REFERENCES file (id) ON DELETE CASCADE,
  message_id {int} NOT NULL,
  PRIMARY KEY (file_id, message_id)
) {withoutRowId};
CREATE INDEX former_message_file_by_message ON former_message_file (message_id);
INSERT INTO former_message_file (file_id, message_id)
SELECT DISTINCT f.id, a.id FROM archived_message a
CROSS JOIN {json_each(a.rows, '$.message_file')|json_array_elements(a.rows::json -> 'message_file')} r
JOIN file f ON f.id = CAST(r.value ->> 'file_id' AS bigint);
`;

export const SEEDS = `
-- expand: temporary addresses of lost files after a restore do not open later ones.
ALTER TABLE file ADD COLUMN seed {text};
`;
