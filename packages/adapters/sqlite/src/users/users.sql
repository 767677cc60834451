-- People, bots, and the realm's own bots.

CREATE TABLE user (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  realm_id INTEGER NOT NULL REFERENCES realm (id),
  version INTEGER NOT NULL,
  role TEXT NOT NULL,
  is_active INTEGER NOT NULL,
  email TEXT NOT NULL,
  -- Case-folded key; equal keys are equal names. The same holds for all columns of this kind.
  email_key TEXT NOT NULL,
  full_name TEXT NOT NULL,
  name_key TEXT NOT NULL,
  -- Key of the NFKC form, which joins names that look alike.
  name_nfkc_key TEXT NOT NULL,
  joined_at INTEGER NOT NULL,
  -- Null for people, like the other bot columns.
  bot_kind TEXT,
  bot_owner_id INTEGER,
  bot_default_channel_id INTEGER,
  -- Kind of the realm's own bot; '' for one without a special part; null for other users.
  system_kind TEXT,
  avatar_source TEXT NOT NULL,
  avatar_version INTEGER NOT NULL,
  -- JSON list.
  special_permissions TEXT NOT NULL,
  -- JSON of the values that differ from the registry's defaults.
  settings TEXT NOT NULL,
  password_hash TEXT,
  -- JSON list of the settings that the user has ever changed.
  edited_settings TEXT NOT NULL DEFAULT '[]',
  -- Version of an uploaded avatar, part of its URL.
  avatar_key TEXT,
  -- 1 if the profile was deleted with the account.
  is_deleted INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX user_by_email ON user (realm_id, email_key);
CREATE INDEX user_by_name ON user (realm_id, name_key);
CREATE INDEX user_system_bots ON user (realm_id, id) WHERE system_kind IS NOT NULL;
CREATE INDEX user_bots ON user (realm_id, id) WHERE bot_kind IS NOT NULL AND system_kind IS NULL;
CREATE INDEX user_by_nfkc_name ON user (realm_id, name_nfkc_key);
-- Covering index of the list of all users.
CREATE INDEX user_list ON user (realm_id, id, version, is_active, system_kind);
-- Users who get every resolved-topic notice unread.
CREATE INDEX user_reading_all_notices ON user (realm_id, id)
  WHERE CASE WHEN json_valid(settings) THEN settings ->> '$.resolvedTopicNoticeAutoReadPolicy' END = 'never' AND bot_kind IS NULL;
CREATE INDEX user_bots_by_owner ON user (realm_id, bot_owner_id, id) WHERE bot_owner_id IS NOT NULL;
