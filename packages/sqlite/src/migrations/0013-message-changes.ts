import type { Migration } from './migration.js';

/** Edits of messages, the archive of deleted ones, and who has chosen something for a topic that is moved or deleted. */
export const messageChanges: Migration = {
  name: '0013-message-changes',
  sql: `
-- What was changed of a message's text and place, as it was before.
CREATE TABLE message_edit (
  id INTEGER PRIMARY KEY,
  message_id INTEGER NOT NULL REFERENCES message (id) ON DELETE CASCADE,
  realm_id INTEGER NOT NULL,
  user_id INTEGER NOT NULL,
  edited_at INTEGER NOT NULL,
  -- Null, both: it stayed in its topic; so are those of the channel, and of the text.
  previous_topic TEXT,
  topic TEXT,
  previous_channel_id INTEGER,
  channel_id INTEGER,
  previous_content TEXT,
  previous_rendered_content TEXT
) STRICT;
CREATE INDEX message_edit_by_message ON message_edit (message_id, id);

-- Deleted messages that can still be put back.
CREATE TABLE archived_message (
  id INTEGER PRIMARY KEY,
  realm_id INTEGER NOT NULL,
  deleted_at INTEGER NOT NULL,
  -- Null: nobody; their time was over.
  deleted_by INTEGER,
  channel_id INTEGER,
  topic_key TEXT,
  -- JSON: by table, the rows that belong to the message, by column.
  rows TEXT NOT NULL
) STRICT;
CREATE INDEX archived_message_by_age ON archived_message (deleted_at, id);
CREATE INDEX recipient_direct ON recipient (realm_id, id) WHERE channel_id IS NULL;
CREATE INDEX topic_policy_by_topic ON topic_policy (channel_id, topic_key);
CREATE INDEX user_reading_all_notices ON user (realm_id, id)
  WHERE CASE WHEN json_valid(settings) THEN settings ->> '$.resolvedTopicNoticeAutoReadPolicy' END = 'never' AND bot_kind IS NULL;
`,
};
