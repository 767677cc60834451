-- Channels and their subscribers.

CREATE TABLE channel (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  realm_id INTEGER NOT NULL REFERENCES realm (id),
  version INTEGER NOT NULL,
  -- Number of active subscribers, maintained by the triggers below because counting is linear.
  subscriber_count INTEGER NOT NULL DEFAULT 0,
  recipient_id INTEGER NOT NULL,
  name TEXT NOT NULL,
  -- Case-folded.
  name_key TEXT NOT NULL,
  description TEXT NOT NULL,
  rendered_description TEXT NOT NULL,
  privacy TEXT NOT NULL,
  is_archived INTEGER NOT NULL,
  creator_id INTEGER,
  created_at INTEGER NOT NULL,
  -- Null for the default of the realm; -1 for no limit.
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

CREATE INDEX channel_by_folder ON channel (folder_id) WHERE folder_id IS NOT NULL;
CREATE INDEX channel_recently_active ON channel (realm_id, id) WHERE is_recently_active = 1;

CREATE TABLE channel_folder (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  realm_id INTEGER NOT NULL REFERENCES realm (id),
  name TEXT NOT NULL,
  -- Case-folded.
  name_key TEXT NOT NULL,
  description TEXT NOT NULL,
  rendered_description TEXT NOT NULL,
  position INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  creator_id INTEGER,
  is_archived INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX channel_folder_by_name ON channel_folder (realm_id, name_key);

CREATE TABLE default_channel_group (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  realm_id INTEGER NOT NULL REFERENCES realm (id),
  name TEXT NOT NULL,
  -- Case-folded.
  name_key TEXT NOT NULL,
  description TEXT NOT NULL,
  -- JSON: ids, ascending.
  channel_ids TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX default_channel_group_by_name ON default_channel_group (realm_id, name_key);

CREATE TABLE channel_address (
  channel_id INTEGER NOT NULL REFERENCES channel (id),
  -- Requesting user and sender of incoming email.
  creator_id INTEGER NOT NULL REFERENCES user (id),
  sender_id INTEGER NOT NULL REFERENCES user (id),
  realm_id INTEGER NOT NULL,
  token TEXT NOT NULL,
  PRIMARY KEY (channel_id, creator_id, sender_id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX channel_address_by_token ON channel_address (token);

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
  -- Case-folded.
  topic_key TEXT NOT NULL,
  realm_id INTEGER NOT NULL,
  topic TEXT NOT NULL,
  visibility TEXT NOT NULL,
  changed_at INTEGER NOT NULL,
  PRIMARY KEY (user_id, channel_id, topic_key)
) STRICT, WITHOUT ROWID;
-- Policies of a topic that is moved or deleted.
CREATE INDEX topic_policy_by_topic ON topic_policy (channel_id, topic_key);
-- Lists all muted topics for the events of older clients.
CREATE INDEX topic_policy_muted ON topic_policy (user_id, channel_id, topic_key) WHERE visibility = 'muted';

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
