import type { Migration } from './migration.js';

/** Folders of channels, groups of default channels, addresses for mail to channels, and channels in which something is said. */
export const channelLists: Migration = {
  name: '0015-channel-lists',
  sql: `
CREATE TABLE channel_folder (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  realm_id INTEGER NOT NULL REFERENCES realm (id),
  name TEXT NOT NULL,
  -- Folded.
  name_key TEXT NOT NULL,
  description TEXT NOT NULL,
  rendered_description TEXT NOT NULL,
  position INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  creator_id INTEGER,
  is_archived INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX channel_folder_by_name ON channel_folder (realm_id, name_key);
CREATE INDEX channel_by_folder ON channel (folder_id) WHERE folder_id IS NOT NULL;

CREATE TABLE default_channel_group (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  realm_id INTEGER NOT NULL REFERENCES realm (id),
  name TEXT NOT NULL,
  -- Folded.
  name_key TEXT NOT NULL,
  description TEXT NOT NULL,
  -- JSON: ids, ascending.
  channel_ids TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX default_channel_group_by_name ON default_channel_group (realm_id, name_key);

CREATE TABLE channel_address (
  channel_id INTEGER NOT NULL REFERENCES channel (id),
  -- Who asked for it, and who the mail will be from.
  creator_id INTEGER NOT NULL REFERENCES user (id),
  sender_id INTEGER NOT NULL REFERENCES user (id),
  realm_id INTEGER NOT NULL,
  token TEXT NOT NULL,
  PRIMARY KEY (channel_id, creator_id, sender_id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX channel_address_by_token ON channel_address (token);

CREATE INDEX channel_recently_active ON channel (realm_id, id) WHERE is_recently_active = 1;
`,
};
