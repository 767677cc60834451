-- Messages and their state per user: received, read and flagged (architecture §5).
--
-- Without foreign keys: each would cost a lookup per message, and referenced rows are never deleted.
-- Small columns come first, so lists never read the overflow pages of long contents. Every index on `message`
-- costs time per message sent, so each one states its purpose.

-- Recipients of messages: a channel, or the members of a direct conversation.
CREATE TABLE recipient (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  realm_id INTEGER NOT NULL,
  -- Null for direct conversations.
  channel_id INTEGER UNIQUE,
  -- User ids, ascending, joined by commas; null for channels.
  direct_key TEXT,
  -- Number of messages ever sent to the recipient.
  last_ordinal INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX recipient_by_people ON recipient (realm_id, direct_key);
-- Direct conversations in order, for full scans.
CREATE INDEX recipient_direct ON recipient (realm_id, id) WHERE channel_id IS NULL;

CREATE TABLE direct_participant (
  recipient_id INTEGER NOT NULL,
  user_id INTEGER NOT NULL,
  realm_id INTEGER NOT NULL,
  -- Newest message of the conversation; null if there is none.
  last_message_id INTEGER,
  PRIMARY KEY (recipient_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX direct_participant_recent ON direct_participant (user_id, last_message_id);

CREATE TABLE message (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  realm_id INTEGER NOT NULL,
  sender_id INTEGER NOT NULL,
  -- Recipient to which the message was sent; never changes. Spans and read sets refer to it.
  sent_recipient_id INTEGER NOT NULL,
  ordinal INTEGER NOT NULL,
  -- Current recipient, used for listing and access.
  recipient_id INTEGER NOT NULL,
  channel_id INTEGER,
  -- Bits, see TRAITS.
  property_bits INTEGER NOT NULL,
  version INTEGER NOT NULL,
  sent_at INTEGER NOT NULL,
  last_edited_at INTEGER,
  last_moved_at INTEGER,
  topic TEXT NOT NULL,
  -- Case-folded; null for direct messages.
  topic_key TEXT,
  client_name TEXT NOT NULL,
  -- JSON; null if there are none.
  topic_links TEXT,
  content TEXT NOT NULL,
  rendered_content TEXT NOT NULL
) STRICT;
-- History of a channel or conversation. Covers the heads of a page: messages of one channel are scattered over
-- the table, and fetching each row would cost several times as much as the page.
CREATE INDEX message_by_recipient ON message (recipient_id, id, sender_id, sent_recipient_id, ordinal, property_bits, version);
-- History of a topic, list of topics and senders in a topic; covers the same columns.
CREATE INDEX message_by_topic ON message (recipient_id, topic_key, id, sender_id, sent_recipient_id, ordinal, property_bits, version)
  WHERE topic_key IS NOT NULL;
-- Maps an ordinal in a read set to its message, for unread lists.
CREATE UNIQUE INDEX message_by_ordinal ON message (sent_recipient_id, ordinal);
-- Messages of a sender, in one conversation or merged over all of a reader's conversations.
CREATE INDEX message_by_sender ON message (sender_id, recipient_id, id);
-- Messages moved in from another channel: a reader may own them although no span covers them.
CREATE INDEX message_moved_in ON message (recipient_id, id) WHERE property_bits & 64;
-- Partial indexes for narrows: `has:link`, `has:image`, `has:attachment`, `has:reaction`, half of
-- `is:mentioned`, and `is:resolved`. Bits are those of TRAITS.
CREATE INDEX message_with_link ON message (recipient_id, id, sender_id, sent_recipient_id, ordinal, property_bits, version)
  WHERE property_bits & 4;
CREATE INDEX message_with_image ON message (recipient_id, id, sender_id, sent_recipient_id, ordinal, property_bits, version)
  WHERE property_bits & 8;
CREATE INDEX message_with_attachment ON message (recipient_id, id, sender_id, sent_recipient_id, ordinal, property_bits, version)
  WHERE property_bits & 16;
CREATE INDEX message_mentioning_channel ON message (recipient_id, id, sender_id, sent_recipient_id, ordinal, property_bits, version)
  WHERE property_bits & 2;
CREATE INDEX message_resolved ON message (recipient_id, id) WHERE topic_key >= '✔ ' AND topic_key < '✔!';
CREATE INDEX message_with_reactions ON message (recipient_id, id, sender_id, sent_recipient_id, ordinal, property_bits, version)
  WHERE property_bits & 128;

-- Submessages, such as polls, to-do lists and their votes.
CREATE TABLE submessage (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  message_id INTEGER NOT NULL,
  sender_id INTEGER NOT NULL,
  realm_id INTEGER NOT NULL,
  kind TEXT NOT NULL,
  content TEXT NOT NULL
) STRICT;
CREATE INDEX submessage_by_message ON submessage (message_id, id);

-- Moves between channels; a later one has a higher id.
CREATE TABLE channel_move (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  realm_id INTEGER NOT NULL,
  target_recipient_id INTEGER NOT NULL,
  is_history_protected INTEGER NOT NULL
) STRICT;
CREATE TABLE moved_message (
  message_id INTEGER NOT NULL,
  move_id INTEGER NOT NULL,
  realm_id INTEGER NOT NULL,
  PRIMARY KEY (message_id, move_id)
) STRICT, WITHOUT ROWID;

-- Tombstones of deleted messages, which still determine who had received them.
CREATE TABLE removed_message (
  id INTEGER PRIMARY KEY,
  realm_id INTEGER NOT NULL,
  sender_id INTEGER NOT NULL,
  sent_recipient_id INTEGER NOT NULL,
  ordinal INTEGER NOT NULL,
  -- Newest event of the realm at deletion; once later events are pruned, the tombstone is obsolete.
  removed_at_seq INTEGER NOT NULL
) STRICT;
CREATE INDEX removed_message_by_seq ON removed_message (realm_id, removed_at_seq);
-- Users who owned the message through a row in message_flag.
CREATE TABLE removed_message_holder (
  message_id INTEGER NOT NULL,
  user_id INTEGER NOT NULL,
  realm_id INTEGER NOT NULL,
  PRIMARY KEY (message_id, user_id)
) STRICT, WITHOUT ROWID;

-- Period in which a user received the messages of a recipient. Upper bounds are exclusive, null while it lasts.
CREATE TABLE span (
  user_id INTEGER NOT NULL,
  recipient_id INTEGER NOT NULL,
  -- 1, 2, 3 … among the user's spans of this recipient.
  number INTEGER NOT NULL,
  realm_id INTEGER NOT NULL,
  from_ordinal INTEGER NOT NULL,
  to_ordinal INTEGER,
  -- Bounds as ids of channel_move.
  from_move INTEGER NOT NULL,
  to_move INTEGER,
  -- Bounds as event seqs of the realm, for replayed events.
  from_seq INTEGER NOT NULL,
  to_seq INTEGER,
  PRIMARY KEY (user_id, recipient_id, number)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX span_open ON span (recipient_id, user_id) WHERE to_ordinal IS NULL;

-- Ordinals of a recipient that a user has read: all from first to last, or within a window those whose
-- bit is set. See read-set.ts in the domain.
CREATE TABLE read_segment (
  user_id INTEGER NOT NULL,
  recipient_id INTEGER NOT NULL,
  first INTEGER NOT NULL,
  last INTEGER NOT NULL,
  bits BLOB,
  realm_id INTEGER NOT NULL,
  PRIMARY KEY (user_id, recipient_id, first)
) STRICT, WITHOUT ROWID;

-- Exceptions per user to spans, moves and read sets.
CREATE TABLE message_flag (
  user_id INTEGER NOT NULL,
  message_id INTEGER NOT NULL,
  realm_id INTEGER NOT NULL,
  -- Origin of ownership: 0 spans and moves; 1 sent to the user although no span covers it; 2 taken
  -- from channel history.
  source INTEGER NOT NULL DEFAULT 0,
  -- Null if spans, moves and read sets decide. Never null if source is not 0.
  read INTEGER,
  starred INTEGER NOT NULL DEFAULT 0,
  collapsed INTEGER NOT NULL DEFAULT 0,
  mentioned INTEGER NOT NULL DEFAULT 0,
  topic_wildcard_mentioned INTEGER NOT NULL DEFAULT 0,
  has_alert_word INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (user_id, message_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX message_flag_by_message ON message_flag (message_id);
CREATE INDEX message_flag_starred ON message_flag (user_id, message_id) WHERE starred = 1;
CREATE INDEX message_flag_unread ON message_flag (user_id, message_id) WHERE read = 0;
CREATE INDEX message_flag_own ON message_flag (user_id, message_id) WHERE source <> 0;
CREATE INDEX message_flag_mentioned ON message_flag (user_id, message_id) WHERE mentioned = 1;
CREATE INDEX message_flag_topic_mentioned ON message_flag (user_id, message_id) WHERE topic_wildcard_mentioned = 1;
CREATE INDEX message_flag_alerted ON message_flag (user_id, message_id) WHERE has_alert_word = 1;

-- Message id ranges in which messages of this sender reach the user as read. "until" is exclusive, null while it lasts.
CREATE TABLE muted_sender (
  user_id INTEGER NOT NULL,
  sender_id INTEGER NOT NULL,
  from_message_id INTEGER NOT NULL,
  until_message_id INTEGER,
  realm_id INTEGER NOT NULL,
  muted_at INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (user_id, sender_id, from_message_id)
) STRICT, WITHOUT ROWID;
-- Edit history: text and location of a message before each change.
CREATE TABLE message_edit (
  id INTEGER PRIMARY KEY,
  message_id INTEGER NOT NULL REFERENCES message (id) ON DELETE CASCADE,
  realm_id INTEGER NOT NULL,
  user_id INTEGER NOT NULL,
  edited_at INTEGER NOT NULL,
  -- Null, like topic, if the topic did not change; the same holds for the channel and the text.
  previous_topic TEXT,
  topic TEXT,
  previous_channel_id INTEGER,
  channel_id INTEGER,
  previous_content TEXT,
  previous_rendered_content TEXT
) STRICT;
CREATE INDEX message_edit_by_message ON message_edit (message_id, id);

-- Deleted messages that can still be restored.
CREATE TABLE archived_message (
  id INTEGER PRIMARY KEY,
  realm_id INTEGER NOT NULL,
  deleted_at INTEGER NOT NULL,
  -- Null for messages deleted by the retention policy.
  deleted_by INTEGER,
  channel_id INTEGER,
  topic_key TEXT,
  -- JSON: rows of the message by table and column.
  rows TEXT NOT NULL
) STRICT;
CREATE INDEX archived_message_by_age ON archived_message (deleted_at, id);

-- Search index: words of each message and terms for its location. Code that adds a message
-- adds its terms; the triggers below maintain them in the same transaction. Only the posting lists
-- of the terms are stored.
CREATE VIRTUAL TABLE message_search USING fts5(terms, content='', contentless_delete=1, detail=none, tokenize='ascii');
-- Messages with ids up to this one are not indexed yet; 0 if there are none.
CREATE TABLE search_backlog (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  unindexed_up_to INTEGER NOT NULL
) STRICT;
INSERT INTO search_backlog (id, unindexed_up_to) VALUES (1, 0);
CREATE TRIGGER message_search_update AFTER UPDATE OF recipient_id, topic, topic_key, rendered_content ON message
WHEN old.recipient_id <> new.recipient_id OR old.topic <> new.topic OR old.rendered_content <> new.rendered_content BEGIN
  DELETE FROM message_search WHERE rowid = old.id;
  INSERT INTO message_search (rowid, terms) VALUES (new.id,
    message_terms(new.realm_id, new.sender_id, new.recipient_id, new.topic_key, new.topic, new.rendered_content));
END;
CREATE TRIGGER message_search_delete AFTER DELETE ON message BEGIN
  DELETE FROM message_search WHERE rowid = old.id;
END;
