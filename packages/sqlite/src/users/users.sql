-- People, bots, and the realm's own bots.

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
  name_nfkc_key TEXT NOT NULL,
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
  password_hash TEXT,
  -- JSON list of the settings that the user has ever changed themselves.
  edited_settings TEXT NOT NULL DEFAULT '[]',
  -- Of an uploaded avatar; what its address says.
  avatar_key TEXT,
  -- The profile was deleted with the account.
  is_deleted INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX user_by_email ON user (realm_id, email_key);
CREATE INDEX user_by_name ON user (realm_id, name_key);
CREATE INDEX user_system_bots ON user (realm_id, id) WHERE system_kind IS NOT NULL;
CREATE INDEX user_bots ON user (realm_id, id) WHERE bot_kind IS NOT NULL AND system_kind IS NULL;
CREATE INDEX user_by_nfkc_name ON user (realm_id, name_nfkc_key);
-- The list of everybody is read from this alone.
CREATE INDEX user_list ON user (realm_id, id, version, is_active, system_kind);
-- Those who get every notice of a resolved topic unread.
CREATE INDEX user_reading_all_notices ON user (realm_id, id)
  WHERE CASE WHEN json_valid(settings) THEN settings ->> '$.resolvedTopicNoticeAutoReadPolicy' END = 'never' AND bot_kind IS NULL;
CREATE INDEX user_bots_by_owner ON user (realm_id, bot_owner_id, id) WHERE bot_owner_id IS NOT NULL;

CREATE TABLE profile_field (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  realm_id INTEGER NOT NULL REFERENCES realm (id),
  kind TEXT NOT NULL,
  place INTEGER NOT NULL,
  name TEXT NOT NULL,
  hint TEXT NOT NULL,
  -- JSON: choices by key, or what kind of account it is; '{}' for other kinds.
  data TEXT NOT NULL,
  is_required INTEGER NOT NULL,
  is_editable_by_user INTEGER NOT NULL,
  is_for_matching INTEGER NOT NULL,
  is_in_summary INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX profile_field_by_name ON profile_field (realm_id, name);
CREATE INDEX profile_field_by_place ON profile_field (realm_id, place, id);

CREATE TABLE profile_value (
  user_id INTEGER NOT NULL REFERENCES user (id),
  field_id INTEGER NOT NULL REFERENCES profile_field (id),
  realm_id INTEGER NOT NULL,
  value TEXT NOT NULL,
  -- HTML; null where the kind of field is shown as it is.
  rendered TEXT,
  PRIMARY KEY (user_id, field_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX profile_value_by_field ON profile_value (field_id, value);
