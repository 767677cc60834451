import type { Migration } from './migration.js';

/** Frozen: what is wrong here is mended by a later step. The present schema is in the `schema.sql` of each feature. */
export const initial: Migration = {
  name: '0001-initial',
  sql: `CREATE TABLE realm (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  -- Grows with every change of the row.
  version INTEGER NOT NULL,
  -- Grows with every change of who is in which group of the realm.
  groups_version INTEGER NOT NULL,
  string_id TEXT NOT NULL UNIQUE,
  uuid TEXT NOT NULL,
  name TEXT NOT NULL,
  is_deactivated INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  -- JSON: what differs from the registry's defaults.
  settings TEXT NOT NULL,
  rendered_description TEXT NOT NULL,
  -- JSON: a group id for each permission.
  permissions TEXT NOT NULL,
  -- JSON: what differs from the registry's defaults.
  user_defaults TEXT NOT NULL
) STRICT;

CREATE TABLE user (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  realm_id INTEGER NOT NULL REFERENCES realm (id),
  version INTEGER NOT NULL,
  role TEXT NOT NULL,
  is_active INTEGER NOT NULL,
  email TEXT NOT NULL,
  -- Folded, as all columns named so: what makes two spellings the same.
  email_key TEXT NOT NULL,
  full_name TEXT NOT NULL,
  name_key TEXT NOT NULL,
  -- The same of its NFKC form: names that look alike.
  name_likeness TEXT NOT NULL,
  joined_at INTEGER NOT NULL,
  -- Null for people; so are the other columns of bots.
  bot_kind TEXT,
  bot_owner_id INTEGER,
  bot_default_channel_id INTEGER,
  -- Which of the realm's own bots it is; '' for one without a special part; null for everybody else.
  system_kind TEXT,
  avatar_source TEXT NOT NULL,
  avatar_version INTEGER NOT NULL,
  -- JSON list.
  special_permissions TEXT NOT NULL,
  -- JSON: what differs from the registry's defaults.
  settings TEXT NOT NULL,
  password_hash TEXT
) STRICT;
CREATE UNIQUE INDEX user_by_email ON user (realm_id, email_key);
CREATE INDEX user_by_name ON user (realm_id, name_key);
CREATE INDEX user_by_likeness ON user (realm_id, name_likeness);
-- The list of everybody is read from this alone.
CREATE INDEX user_heads ON user (realm_id, id, version, is_active, system_kind);
CREATE INDEX user_system_bots ON user (realm_id, id) WHERE system_kind IS NOT NULL;

CREATE TABLE user_group (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  realm_id INTEGER NOT NULL REFERENCES realm (id),
  is_deactivated INTEGER NOT NULL,
  name TEXT,
  -- Folded; null for unnamed groups.
  name_key TEXT,
  description TEXT NOT NULL,
  system_name TEXT,
  creator_id INTEGER,
  created_at INTEGER,
  -- JSON: a group id for each permission; null for unnamed groups.
  permissions TEXT
) STRICT;
CREATE UNIQUE INDEX user_group_by_name ON user_group (realm_id, name_key) WHERE name_key IS NOT NULL;
CREATE UNIQUE INDEX user_group_system ON user_group (realm_id, system_name) WHERE system_name IS NOT NULL;

CREATE TABLE group_member (
  group_id INTEGER NOT NULL REFERENCES user_group (id),
  user_id INTEGER NOT NULL REFERENCES user (id),
  realm_id INTEGER NOT NULL,
  PRIMARY KEY (group_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX group_member_by_user ON group_member (user_id, group_id);

CREATE TABLE group_subgroup (
  group_id INTEGER NOT NULL REFERENCES user_group (id),
  subgroup_id INTEGER NOT NULL REFERENCES user_group (id),
  realm_id INTEGER NOT NULL,
  PRIMARY KEY (group_id, subgroup_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX group_subgroup_by_subgroup ON group_subgroup (subgroup_id, group_id);
CREATE INDEX group_subgroup_by_realm ON group_subgroup (realm_id);

CREATE TABLE channel (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  realm_id INTEGER NOT NULL REFERENCES realm (id),
  version INTEGER NOT NULL,
  -- Active users who follow it now; kept by the triggers below, since counting them grows with the channel.
  subscriber_count INTEGER NOT NULL DEFAULT 0,
  recipient_id INTEGER NOT NULL,
  name TEXT NOT NULL,
  -- Folded.
  name_key TEXT NOT NULL,
  description TEXT NOT NULL,
  rendered_description TEXT NOT NULL,
  privacy TEXT NOT NULL,
  is_archived INTEGER NOT NULL,
  creator_id INTEGER,
  created_at INTEGER NOT NULL,
  message_retention_days INTEGER,
  topics_policy TEXT NOT NULL,
  folder_id INTEGER,
  is_default INTEGER NOT NULL,
  is_recently_active INTEGER NOT NULL,
  first_message_id INTEGER,
  -- JSON: a group id for each permission.
  permissions TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX channel_by_name ON channel (realm_id, name_key);

CREATE TABLE subscription (
  user_id INTEGER NOT NULL REFERENCES user (id),
  channel_id INTEGER NOT NULL REFERENCES channel (id),
  realm_id INTEGER NOT NULL,
  is_active INTEGER NOT NULL,
  color TEXT NOT NULL,
  is_muted INTEGER NOT NULL,
  is_pinned INTEGER NOT NULL,
  desktop_notifications INTEGER,
  audible_notifications INTEGER,
  push_notifications INTEGER,
  email_notifications INTEGER,
  wildcard_mentions_notify INTEGER,
  PRIMARY KEY (user_id, channel_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX subscription_by_channel ON subscription (channel_id, user_id) WHERE is_active = 1;

CREATE TABLE topic_policy (
  user_id INTEGER NOT NULL REFERENCES user (id),
  channel_id INTEGER NOT NULL REFERENCES channel (id),
  -- Folded.
  topic_key TEXT NOT NULL,
  realm_id INTEGER NOT NULL,
  topic TEXT NOT NULL,
  visibility TEXT NOT NULL,
  changed_at INTEGER NOT NULL,
  PRIMARY KEY (user_id, channel_id, topic_key)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER subscription_added AFTER INSERT ON subscription WHEN NEW.is_active = 1
BEGIN
  UPDATE channel SET subscriber_count = subscriber_count + (SELECT is_active FROM user WHERE id = NEW.user_id)
  WHERE id = NEW.channel_id;
END;
CREATE TRIGGER subscription_changed AFTER UPDATE OF is_active ON subscription WHEN NEW.is_active <> OLD.is_active
BEGIN
  UPDATE channel
  SET subscriber_count =
    subscriber_count + (NEW.is_active - OLD.is_active) * (SELECT is_active FROM user WHERE id = NEW.user_id)
  WHERE id = NEW.channel_id;
END;
CREATE TRIGGER subscriber_activation_changed AFTER UPDATE OF is_active ON user WHEN NEW.is_active <> OLD.is_active
BEGIN
  UPDATE channel SET subscriber_count = subscriber_count + (NEW.is_active - OLD.is_active)
  WHERE id IN (SELECT channel_id FROM subscription WHERE user_id = NEW.id AND is_active = 1);
END;

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
  traits INTEGER NOT NULL,
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
CREATE INDEX message_by_recipient ON message (recipient_id, id, sender_id, sent_recipient_id, ordinal, traits, version);
-- History of a topic, the list of topics and who wrote in one; covers the same.
CREATE INDEX message_by_topic ON message (recipient_id, topic_key, id, sender_id, sent_recipient_id, ordinal, traits, version)
  WHERE topic_key IS NOT NULL;
-- From a place in a read set to the message: unread lists.
CREATE UNIQUE INDEX message_by_ordinal ON message (sent_recipient_id, ordinal);
-- What somebody wrote, in one conversation or merged over those a reader has.
CREATE INDEX message_by_sender ON message (sender_id, recipient_id, id);
-- What came into a channel by a move from another one: a reader may own it although none of their spans covers it.
CREATE INDEX message_moved_in ON message (recipient_id, id) WHERE traits & 64;

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
  origin INTEGER NOT NULL DEFAULT 0,
  -- Null: as spans, moves and read sets say. Never null where origin is not 0.
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
CREATE INDEX message_flag_own ON message_flag (user_id, message_id) WHERE origin <> 0;

-- What this sender sent within these message ids reached the user read. "until" is exclusive, null while it lasts.
CREATE TABLE muted_sender (
  user_id INTEGER NOT NULL,
  sender_id INTEGER NOT NULL,
  from_message_id INTEGER NOT NULL,
  until_message_id INTEGER,
  realm_id INTEGER NOT NULL,
  PRIMARY KEY (user_id, sender_id, from_message_id)
) STRICT, WITHOUT ROWID;

-- One row a realm, beside the log: numbers are never used again, whatever is pruned.
CREATE TABLE event_counter (
  realm_id INTEGER PRIMARY KEY REFERENCES realm (id),
  head_seq INTEGER NOT NULL,
  pruned_up_to INTEGER NOT NULL
) STRICT;

CREATE TABLE event (
  realm_id INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  at INTEGER NOT NULL,
  -- The message the event quotes.
  message_id INTEGER,
  -- JSON, both.
  audience TEXT NOT NULL,
  payload TEXT NOT NULL,
  PRIMARY KEY (realm_id, seq)
) STRICT;
CREATE INDEX event_by_message ON event (message_id) WHERE message_id IS NOT NULL;

CREATE TABLE event_queue (
  id TEXT PRIMARY KEY,
  realm_id INTEGER NOT NULL REFERENCES realm (id),
  owner_id INTEGER NOT NULL REFERENCES user (id),
  -- JSON, both.
  filter TEXT NOT NULL,
  presentation TEXT NOT NULL,
  start_seq INTEGER NOT NULL,
  acked INTEGER NOT NULL,
  floor_seq INTEGER NOT NULL,
  last_polled_at INTEGER NOT NULL,
  idle_timeout_seconds INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX event_queue_by_owner ON event_queue (owner_id);

CREATE TABLE api_key (
  user_id INTEGER PRIMARY KEY REFERENCES user (id),
  realm_id INTEGER NOT NULL,
  generation INTEGER NOT NULL,
  fingerprint TEXT NOT NULL UNIQUE
) STRICT;

-- Facts about the server as a whole, by name; the secret's fingerprint is one.
CREATE TABLE server_fact (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
`,
};
