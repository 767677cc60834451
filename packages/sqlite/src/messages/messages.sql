-- Messages, and who has received, read and marked them (architecture §5).
--
-- No foreign keys here: each would cost a look-up per message sent, and nothing that these rows refer to is ever deleted.
-- Small columns come first, so that lists never touch the pages that long contents spill into. Indexes of `message` are
-- paid for with every message sent; each says what it is for.

-- Whom messages are addressed to: a channel, or the people of one direct conversation.
CREATE TABLE recipient (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  realm_id INTEGER NOT NULL,
  -- Null for direct conversations.
  channel_id INTEGER UNIQUE,
  -- The people's ids, ascending, joined by commas; null for channels.
  direct_key TEXT,
  -- How many messages were ever sent to it.
  last_ordinal INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX recipient_by_people ON recipient (realm_id, direct_key);
-- Direct conversations in order, for those that look at all of them.
CREATE INDEX recipient_direct ON recipient (realm_id, id) WHERE channel_id IS NULL;

CREATE TABLE direct_participant (
  recipient_id INTEGER NOT NULL,
  user_id INTEGER NOT NULL,
  realm_id INTEGER NOT NULL,
  -- The newest message of the conversation; null while there is none.
  last_message_id INTEGER,
  PRIMARY KEY (recipient_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX direct_participant_recent ON direct_participant (user_id, last_message_id);

CREATE TABLE message (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  realm_id INTEGER NOT NULL,
  sender_id INTEGER NOT NULL,
  -- Where it was sent, for ever: what received and read hang on.
  sent_recipient_id INTEGER NOT NULL,
  ordinal INTEGER NOT NULL,
  -- Where it is now: what listing and access hang on.
  recipient_id INTEGER NOT NULL,
  channel_id INTEGER,
  -- Bits, see TRAITS.
  property_bits INTEGER NOT NULL,
  version INTEGER NOT NULL,
  sent_at INTEGER NOT NULL,
  last_edited_at INTEGER,
  last_moved_at INTEGER,
  topic TEXT NOT NULL,
  -- Folded; null for direct messages.
  topic_key TEXT,
  client_name TEXT NOT NULL,
  -- JSON; null when there are none.
  topic_links TEXT,
  content TEXT NOT NULL,
  rendered_content TEXT NOT NULL
) STRICT;
-- History of a channel or conversation. Covers what a page's heads need: the messages of one channel are scattered over
-- the whole table, and fetching each would cost several times what the page does.
CREATE INDEX message_by_recipient ON message (recipient_id, id, sender_id, sent_recipient_id, ordinal, property_bits, version);
-- History of a topic, the list of topics and who wrote in one; covers the same.
CREATE INDEX message_by_topic ON message (recipient_id, topic_key, id, sender_id, sent_recipient_id, ordinal, property_bits, version)
  WHERE topic_key IS NOT NULL;
-- From a place in a read set to the message: unread lists.
CREATE UNIQUE INDEX message_by_ordinal ON message (sent_recipient_id, ordinal);
-- What somebody wrote, in one conversation or merged over those a reader has.
CREATE INDEX message_by_sender ON message (sender_id, recipient_id, id);
-- What came into a channel by a move from another one: a reader may own it although none of their spans covers it.
CREATE INDEX message_moved_in ON message (recipient_id, id) WHERE property_bits & 64;
-- What narrows look for, each holding few of the messages: `has:link`, `has:image`, `has:attachment`, `has:reaction`; half of
-- `is:mentioned`; `is:resolved`. Bits are those of TRAITS, as below.
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

-- What clients draw with a message: polls, tasks, and every vote in them.
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

-- What is left of a deleted message: enough to tell who had it.
CREATE TABLE removed_message (
  id INTEGER PRIMARY KEY,
  realm_id INTEGER NOT NULL,
  sender_id INTEGER NOT NULL,
  sent_recipient_id INTEGER NOT NULL,
  ordinal INTEGER NOT NULL,
  -- The realm's newest event at that time: once events after it are pruned, nobody asks any more.
  removed_at_seq INTEGER NOT NULL
) STRICT;
CREATE INDEX removed_message_by_seq ON removed_message (realm_id, removed_at_seq);
-- Those whose own it was by a row in message_flag.
CREATE TABLE removed_message_holder (
  message_id INTEGER NOT NULL,
  user_id INTEGER NOT NULL,
  realm_id INTEGER NOT NULL,
  PRIMARY KEY (message_id, user_id)
) STRICT, WITHOUT ROWID;

-- A time in which a user received what was sent to a recipient. Bounds "to" are exclusive, null while it lasts.
CREATE TABLE span (
  user_id INTEGER NOT NULL,
  recipient_id INTEGER NOT NULL,
  -- 1, 2, 3 … among the user's spans of this recipient.
  number INTEGER NOT NULL,
  realm_id INTEGER NOT NULL,
  from_ordinal INTEGER NOT NULL,
  to_ordinal INTEGER,
  -- Among channel_move ids.
  from_move INTEGER NOT NULL,
  to_move INTEGER,
  -- Among the realm's event seqs, for judging events that are replayed.
  from_seq INTEGER NOT NULL,
  to_seq INTEGER,
  PRIMARY KEY (user_id, recipient_id, number)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX span_open ON span (recipient_id, user_id) WHERE to_ordinal IS NULL;

-- The ordinals a user has read of what was sent to a recipient: all from first to last, or, within a window, those whose
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

-- Only where a message is something else to a user than spans, moves and read sets say.
CREATE TABLE message_flag (
  user_id INTEGER NOT NULL,
  message_id INTEGER NOT NULL,
  realm_id INTEGER NOT NULL,
  -- Why it is the user's own: 0 spans and moves say so; 1 it was sent to them although no span covers it; 2 they took it
  -- from channel history.
  source INTEGER NOT NULL DEFAULT 0,
  -- Null: as spans, moves and read sets say. Never null where source is not 0.
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

-- What this sender sent within these message ids reached the user read. "until" is exclusive, null while it lasts.
CREATE TABLE muted_sender (
  user_id INTEGER NOT NULL,
  sender_id INTEGER NOT NULL,
  from_message_id INTEGER NOT NULL,
  until_message_id INTEGER,
  realm_id INTEGER NOT NULL,
  muted_at INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (user_id, sender_id, from_message_id)
) STRICT, WITHOUT ROWID;
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

-- What searches read: of each message the words it is found by, and terms that say where it is (search-terms.ts). Whoever adds
-- a message adds its terms; the triggers below keep them, in the unit that changes the message. Nothing but the lists of its
-- terms is stored.
CREATE VIRTUAL TABLE message_search USING fts5(terms, content='', contentless_delete=1, detail=none, tokenize='ascii');
-- Messages with ids up to this wait to be indexed; 0: none.
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
