import type { Migration } from './migration.js';

/** Pictures made of what people upload, and what they show: emoji of an organization's own, avatars, icons and logos. */
export const pictures: Migration = {
  name: '0028-pictures',
  sql: `
CREATE TABLE picture (
  realm_id INTEGER NOT NULL REFERENCES realm (id),
  name TEXT NOT NULL,
  blob TEXT NOT NULL,
  size INTEGER NOT NULL,
  format TEXT NOT NULL,
  PRIMARY KEY (realm_id, name)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX picture_by_blob ON picture (blob);

CREATE TABLE custom_emoji (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  realm_id INTEGER NOT NULL REFERENCES realm (id),
  name TEXT NOT NULL,
  author_id INTEGER,
  format TEXT NOT NULL,
  is_animated INTEGER NOT NULL,
  is_deactivated INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX custom_emoji_by_name ON custom_emoji (realm_id, name) WHERE is_deactivated = 0;
CREATE INDEX custom_emoji_by_realm ON custom_emoji (realm_id, id);

ALTER TABLE user ADD COLUMN avatar_key TEXT;
ALTER TABLE realm ADD COLUMN images TEXT NOT NULL DEFAULT '{}';
`,
};
