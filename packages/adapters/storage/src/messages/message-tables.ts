import type { FeatureTables } from '../engine/feature.js';
import { OF_ACCOUNT, PAST, WRITTEN } from '../engine/personal-data.js';

const TABLES = `
-- Messages and their state per user: received, read and flagged (architecture §5).
--
-- Without foreign keys: each would cost a lookup per message, and referenced rows are never deleted.
-- Small columns come first, so lists never read the overflow pages of long contents. Every index on message
-- costs time per message sent, so each one states its purpose.

-- Recipients of messages: a channel, or the members of a direct conversation.
CREATE TABLE recipient (
  id {id},
  realm_id {int} NOT NULL,
  -- Null for direct conversations.
  channel_id {int} UNIQUE,
  -- User ids, ascending, joined by commas; null for channels.
  direct_key {text},
  -- Number of messages ever sent to the recipient.
  last_ordinal {int} NOT NULL DEFAULT 0
) {strict};
CREATE UNIQUE INDEX recipient_by_people ON recipient (realm_id, direct_key);
-- Direct conversations in order, for full scans.
CREATE INDEX recipient_direct ON recipient (realm_id, id) WHERE channel_id IS NULL;

CREATE TABLE direct_participant (
  recipient_id {int} NOT NULL,
  user_id {int} NOT NULL,
  realm_id {int} NOT NULL,
  -- Newest message of the conversation; null if there is none.
  last_message_id {int},
  PRIMARY KEY (recipient_id, user_id)
) {withoutRowId};
CREATE INDEX direct_participant_recent ON direct_participant (user_id, last_message_id);

CREATE TABLE message (
  id {id},
  realm_id {int} NOT NULL,
  sender_id {int} NOT NULL,
  -- Recipient to which the message was sent; never changes. Spans and read sets refer to it.
  sent_recipient_id {int} NOT NULL,
  ordinal {int} NOT NULL,
  -- Current recipient, used for listing and access.
  recipient_id {int} NOT NULL,
  channel_id {int},
  -- Bits, see TRAITS.
  property_bits {int} NOT NULL,
  version {int} NOT NULL,
  sent_at {int} NOT NULL,
  last_edited_at {int},
  last_moved_at {int},
  topic {text} NOT NULL,
  -- Case-folded; null for direct messages.
  topic_key {text},
  client_name {text} NOT NULL,
  -- JSON; null if there are none.
  topic_links {text},
  content {text} NOT NULL,
  rendered_content {text} NOT NULL
) {strict};
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
CREATE INDEX message_moved_in ON message (recipient_id, id) WHERE {property_bits & 64|(property_bits & 64) <> 0};
-- Partial indexes for narrows: has:link, has:image, has:attachment, has:reaction, half of
-- is:mentioned, and is:resolved. Bits are those of TRAITS.
CREATE INDEX message_with_link ON message (recipient_id, id, sender_id, sent_recipient_id, ordinal, property_bits, version)
  WHERE {property_bits & 4|(property_bits & 4) <> 0};
CREATE INDEX message_with_image ON message (recipient_id, id, sender_id, sent_recipient_id, ordinal, property_bits, version)
  WHERE {property_bits & 8|(property_bits & 8) <> 0};
CREATE INDEX message_with_attachment ON message (recipient_id, id, sender_id, sent_recipient_id, ordinal, property_bits, version)
  WHERE {property_bits & 16|(property_bits & 16) <> 0};
CREATE INDEX message_mentioning_channel ON message (recipient_id, id, sender_id, sent_recipient_id, ordinal, property_bits, version)
  WHERE {property_bits & 2|(property_bits & 2) <> 0};
CREATE INDEX message_resolved ON message (recipient_id, id) WHERE topic_key >= '✔ ' AND topic_key < '✔!';
CREATE INDEX message_with_reactions ON message (recipient_id, id, sender_id, sent_recipient_id, ordinal, property_bits, version)
  WHERE {property_bits & 128|(property_bits & 128) <> 0};

-- Submessages, such as polls, to-do lists and their votes.
CREATE TABLE submessage (
  id {id},
  message_id {int} NOT NULL,
  sender_id {int} NOT NULL,
  realm_id {int} NOT NULL,
  kind {text} NOT NULL,
  content {text} NOT NULL
) {strict};
CREATE INDEX submessage_by_message ON submessage (message_id, id);

-- Moves between channels; a later one has a higher id.
CREATE TABLE channel_move (
  id {id},
  realm_id {int} NOT NULL,
  target_recipient_id {int} NOT NULL,
  is_history_protected {flag} NOT NULL
) {strict};
CREATE TABLE moved_message (
  message_id {int} NOT NULL,
  move_id {int} NOT NULL,
  realm_id {int} NOT NULL,
  PRIMARY KEY (message_id, move_id)
) {withoutRowId};

-- Tombstones of deleted messages, which still determine who had received them.
CREATE TABLE removed_message (
  id {rowId},
  realm_id {int} NOT NULL,
  sender_id {int} NOT NULL,
  sent_recipient_id {int} NOT NULL,
  ordinal {int} NOT NULL,
  -- Newest event of the realm at deletion; once later events are pruned, the tombstone is obsolete.
  removed_at_seq {int} NOT NULL
) {strict};
CREATE INDEX removed_message_by_seq ON removed_message (realm_id, removed_at_seq);
-- Users who owned the message through a row in message_flag.
CREATE TABLE removed_message_holder (
  message_id {int} NOT NULL,
  user_id {int} NOT NULL,
  realm_id {int} NOT NULL,
  PRIMARY KEY (message_id, user_id)
) {withoutRowId};

-- Period in which a user received the messages of a recipient. Upper bounds are exclusive, null while it lasts.
CREATE TABLE span (
  user_id {int} NOT NULL,
  recipient_id {int} NOT NULL,
  -- 1, 2, 3 … among the user's spans of this recipient.
  number {int} NOT NULL,
  realm_id {int} NOT NULL,
  from_ordinal {int} NOT NULL,
  to_ordinal {int},
  -- Bounds as ids of channel_move.
  from_move {int} NOT NULL,
  to_move {int},
  -- Bounds as event seqs of the realm, for replayed events.
  from_seq {int} NOT NULL,
  to_seq {int},
  PRIMARY KEY (user_id, recipient_id, number)
) {withoutRowId};
CREATE UNIQUE INDEX span_open ON span (recipient_id, user_id) WHERE to_ordinal IS NULL;

-- Ordinals of a recipient that a user has read: all from first to last, or within a window those whose
-- bit is set. See read-set.ts in the domain.
CREATE TABLE read_segment (
  user_id {int} NOT NULL,
  recipient_id {int} NOT NULL,
  first {int} NOT NULL,
  last {int} NOT NULL,
  bits {blob},
  realm_id {int} NOT NULL,
  PRIMARY KEY (user_id, recipient_id, first)
) {withoutRowId};

-- Exceptions per user to spans, moves and read sets.
CREATE TABLE message_flag (
  user_id {int} NOT NULL,
  message_id {int} NOT NULL,
  realm_id {int} NOT NULL,
  -- Origin of ownership: 0 spans and moves; 1 sent to the user although no span covers it; 2 taken
  -- from channel history.
  source {int} NOT NULL DEFAULT 0,
  -- Null if spans, moves and read sets decide. Never null if source is not 0.
  read {flag},
  starred {flag} NOT NULL DEFAULT 0,
  collapsed {flag} NOT NULL DEFAULT 0,
  mentioned {flag} NOT NULL DEFAULT 0,
  topic_wildcard_mentioned {flag} NOT NULL DEFAULT 0,
  has_alert_word {flag} NOT NULL DEFAULT 0,
  PRIMARY KEY (user_id, message_id)
) {withoutRowId};
CREATE INDEX message_flag_by_message ON message_flag (message_id);
CREATE INDEX message_flag_starred ON message_flag (user_id, message_id) WHERE starred = 1;
CREATE INDEX message_flag_unread ON message_flag (user_id, message_id) WHERE read = 0;
CREATE INDEX message_flag_own ON message_flag (user_id, message_id) WHERE source <> 0;
CREATE INDEX message_flag_mentioned ON message_flag (user_id, message_id) WHERE mentioned = 1;
CREATE INDEX message_flag_topic_mentioned ON message_flag (user_id, message_id) WHERE topic_wildcard_mentioned = 1;
CREATE INDEX message_flag_alerted ON message_flag (user_id, message_id) WHERE has_alert_word = 1;

-- Message id ranges in which messages of this sender reach the user as read. "until" is exclusive, null while it lasts.
CREATE TABLE muted_sender (
  user_id {int} NOT NULL,
  sender_id {int} NOT NULL,
  from_message_id {int} NOT NULL,
  until_message_id {int},
  realm_id {int} NOT NULL,
  muted_at {int} NOT NULL DEFAULT 0,
  PRIMARY KEY (user_id, sender_id, from_message_id)
) {withoutRowId};
-- Edit history: text and location of a message before each change.
CREATE TABLE message_edit (
  id {rowId},
  message_id {int} NOT NULL REFERENCES message (id) ON DELETE CASCADE,
  realm_id {int} NOT NULL,
  user_id {int} NOT NULL,
  edited_at {int} NOT NULL,
  -- Null, like topic, if the topic did not change; the same holds for the channel and the text.
  previous_topic {text},
  topic {text},
  previous_channel_id {int},
  channel_id {int},
  previous_content {text},
  previous_rendered_content {text}
) {strict};
CREATE INDEX message_edit_by_message ON message_edit (message_id, id);

-- Deleted messages that can still be restored.
CREATE TABLE archived_message (
  id {rowId},
  realm_id {int} NOT NULL,
  deleted_at {int} NOT NULL,
  -- Null for messages deleted by the retention policy.
  deleted_by {int},
  channel_id {int},
  topic_key {text},
  -- JSON: rows of the message by table and column.
  rows {text} NOT NULL
) {strict};
CREATE INDEX archived_message_by_age ON archived_message (deleted_at, id);
`;

/** Nodes of the previous release add messages without the new terms, so this waits for the end of an upgrade. */
const INDEX_AGAIN = `
-- contract: messages get further search terms, such as pairs of letters, in the background.

UPDATE search_backlog SET unindexed_up_to = (SELECT coalesce(max(id), 0) FROM message) WHERE id = 1;
`;

/** PostgreSQL finds beginnings only among the lexemes of a text search vector; the table of SQLite stores nothing. */
const BEGINNINGS = `
-- expand: a list of terms, or an index, that finds beginnings of terms. PostgreSQL sends no messages while it is built.

{CREATE VIRTUAL TABLE message_search_term USING fts5vocab(message_search, instance)|
CREATE INDEX message_search_lexemes ON message_search USING gin (array_to_tsvector(terms)) WITH (fastupdate = on, gin_pending_list_limit = 256)};
`;

const INDEX_WHOLE_WORDS = `
-- contract: messages get terms for the ends of words in the background, and the former index goes.

{|DROP INDEX message_search_terms;}
UPDATE search_backlog SET unindexed_up_to = (SELECT coalesce(max(id), 0) FROM message) WHERE id = 1;
`;

const SEARCH_LANGUAGES = `
-- expand: messages of an organization that changed its search languages get other terms in the background.

-- Messages of the realm with ids up to this one may have terms of its former languages.
CREATE TABLE realm_search_backlog (
  realm_id {int} PRIMARY KEY REFERENCES realm (id),
  unindexed_up_to {int} NOT NULL
) {strict};
{DROP TRIGGER message_search_update;
CREATE TRIGGER message_search_update AFTER UPDATE OF recipient_id, topic, topic_key, rendered_content ON message
WHEN old.recipient_id <> new.recipient_id OR old.topic <> new.topic OR old.rendered_content <> new.rendered_content BEGIN
  DELETE FROM message_search WHERE rowid = old.id;
  INSERT INTO message_search (rowid, terms) VALUES (new.id,
    message_terms((SELECT settings FROM realm WHERE id = new.realm_id),
      new.realm_id, new.sender_id, new.recipient_id, new.topic_key, new.topic, new.rendered_content));
END;|}
`;

const INDEX_INFLECTIONS = `
-- contract: messages get terms for emoji, names in file names and further forms of words in the background.

UPDATE search_backlog SET unindexed_up_to = (SELECT coalesce(max(id), 0) FROM message) WHERE id = 1;
`;

const SUBMESSAGES_OF_SENDERS = `
-- expand: finds a person's votes in polls of others.
CREATE INDEX submessage_by_sender ON submessage (sender_id, id);
`;

const SEARCH_POSITION = `
-- expand: SQLite's search index follows the messages.

{-- Messages above this id wait for their terms.
ALTER TABLE search_backlog ADD COLUMN indexed_up_to INTEGER NOT NULL DEFAULT 0;
UPDATE search_backlog SET indexed_up_to = (SELECT coalesce(max(id), 0) FROM message);|}
`;

const HELD_COPIES = `
-- expand: copies that only a hold keeps. The previous release does not know holds.

-- Hold that keeps the copy after its time; null before that time.
ALTER TABLE archived_message ADD COLUMN held_by {int};
CREATE INDEX archived_message_to_purge ON archived_message (deleted_at, id) WHERE held_by IS NULL;
CREATE INDEX archived_message_held ON archived_message (held_by) WHERE held_by IS NOT NULL;
`;

const CLOSED_SPANS = `
-- expand: moves find former subscribers who have a message without reading all spans of the channel.
CREATE INDEX span_closed ON span (recipient_id, to_ordinal) WHERE to_ordinal IS NOT NULL;
`;

const LEFT_RECIPIENTS = `
-- expand: finds the channels that a user has left without reading all the user's spans.
CREATE INDEX span_left ON span (user_id, recipient_id) WHERE to_ordinal IS NOT NULL;
`;

/** Message tables in both databases. */
export const MESSAGE_TABLES = {
  schema: 'messages',
  steps: {
    1: TABLES,
    23: INDEX_AGAIN,
    24: BEGINNINGS,
    25: INDEX_WHOLE_WORDS,
    28: SEARCH_LANGUAGES,
    35: INDEX_INFLECTIONS,
    37: SEARCH_POSITION,
    45: SUBMESSAGES_OF_SENDERS,
    55: HELD_COPIES,
    59: CLOSED_SPANS,
    63: LEFT_RECIPIENTS,
  },
  messageTables: ['message_flag', 'submessage', 'message_edit', 'moved_message'],
  realmTables: [
    'message_flag',
    'moved_message',
    'channel_move',
    'read_segment',
    'span',
    'removed_message_holder',
    'removed_message',
    'archived_message',
    'submessage',
    'message_edit',
    'message',
    'realm_search_backlog',
    'direct_participant',
    'recipient',
    'muted_sender',
  ],
  persons: {
    message_flag: {
      data: 'Flags of messages',
      fate: { ...OF_ACCOUNT, follows: ['inherit'] },
      keep: { 'Ids without text.': ['user_id'] },
    },
    moved_message: {},
    channel_move: {},
    read_segment: { data: 'Read positions', fate: OF_ACCOUNT, keep: { 'Ids without text.': ['user_id', 'bits'] } },
    span: {
      data: 'Periods of receiving messages',
      fate: WRITTEN,
      keep: { 'Ids without text.': ['user_id'] },
    },
    removed_message_holder: {
      data: 'Receivers of deleted messages',
      fate: PAST,
      keep: { 'Ids without text.': ['user_id'] },
    },
    removed_message: {
      data: 'Senders of deleted messages',
      fate: PAST,
      keep: { 'Ids without text.': ['sender_id'] },
    },
    archived_message: {
      data: 'Deleted messages that can be restored',
      fate: PAST,
      mentions: ['rows'],
      keep: { 'Ids without text.': ['deleted_by'] },
      other: ['topic_key'],
    },
    submessage: {
      data: 'Polls and to-do lists',
      fate: OF_ACCOUNT,
      keep: { 'Deleted only with everything written.': ['sender_id', 'content'] },
      other: ['kind'],
    },
    message_edit: {
      data: 'Edit history',
      fate: PAST,
      mentions: ['previous_content', 'previous_rendered_content'],
      keep: {
        'Ids without text.': ['user_id'],
        'Topics belong to everybody who wrote in them.': ['previous_topic', 'topic'],
      },
    },
    message: {
      data: 'Messages',
      fate: WRITTEN,
      mentions: ['content', 'rendered_content'],
      keep: {
        'The author is shown as “Deleted user”.': ['sender_id'],
        'Topics belong to everybody who wrote in them.': ['topic', 'topic_key', 'topic_links'],
      },
      other: ['client_name'],
    },
    realm_search_backlog: {},
    direct_participant: {
      data: 'Participants of direct conversations',
      fate: WRITTEN,
      keep: { 'Ids without text.': ['user_id'] },
    },
    recipient: { other: ['direct_key'] },
    muted_sender: { data: 'People whom a person muted', fate: OF_ACCOUNT, erase: 'user_id = {id}' },
    message_file: {},
    search_backlog: {},
    message_search: { other: ['terms'] },
  },
  notExported: {
    archived_message: 'Deleted messages stay deleted.',
    removed_message: 'Deleted messages stay deleted.',
    removed_message_holder: 'Deleted messages stay deleted.',
    channel_move: 'Exports contain the result of moves.',
    moved_message: 'Exports contain the result of moves.',
    realm_search_backlog: 'It follows from messages.',
  },
} satisfies FeatureTables;
