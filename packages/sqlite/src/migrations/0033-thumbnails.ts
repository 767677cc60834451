import type { Migration } from './migration.js';

/** What is known of images goes with their files, however those are removed. */
export const thumbnails: Migration = {
  name: '0033-thumbnails',
  sql: `
ALTER TABLE file_image RENAME TO old_file_image;
CREATE TABLE file_image (
  file_id INTEGER PRIMARY KEY REFERENCES file (id) ON DELETE CASCADE,
  width INTEGER NOT NULL,
  height INTEGER NOT NULL,
  is_animated INTEGER NOT NULL,
  thumbnail TEXT NOT NULL
) STRICT;
INSERT INTO file_image SELECT * FROM old_file_image WHERE file_id IN (SELECT id FROM file);
DROP TABLE old_file_image;

ALTER TABLE thumbnail RENAME TO old_thumbnail;
DROP INDEX thumbnail_by_blob;
CREATE TABLE thumbnail (
  file_id INTEGER NOT NULL REFERENCES file (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  blob TEXT NOT NULL,
  size INTEGER NOT NULL,
  PRIMARY KEY (file_id, name)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX thumbnail_by_blob ON thumbnail (blob);
INSERT INTO thumbnail SELECT * FROM old_thumbnail WHERE file_id IN (SELECT id FROM file);
DROP TABLE old_thumbnail;

ALTER TABLE awaited_thumbnail RENAME TO old_awaited_thumbnail;
DROP INDEX awaited_thumbnail_by_message;
CREATE TABLE awaited_thumbnail (
  file_id INTEGER NOT NULL REFERENCES file (id) ON DELETE CASCADE,
  message_id INTEGER NOT NULL REFERENCES message (id) ON DELETE CASCADE,
  PRIMARY KEY (file_id, message_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX awaited_thumbnail_by_message ON awaited_thumbnail (message_id);
INSERT INTO awaited_thumbnail SELECT * FROM old_awaited_thumbnail WHERE file_id IN (SELECT id FROM file);
DROP TABLE old_awaited_thumbnail;
`,
};
