-- Addresses for replies to emails about missed messages, and addresses that no email reaches.

CREATE TABLE reply_address (
  -- The address contains it in masked form.
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  realm_id INTEGER NOT NULL,
  user_id INTEGER NOT NULL REFERENCES user (id),
  conversation TEXT NOT NULL,
  message_id INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX reply_address_of_user ON reply_address (user_id, conversation);
CREATE INDEX reply_address_by_expiry ON reply_address (expires_at);
CREATE INDEX reply_address_by_realm ON reply_address (realm_id);

-- Belongs to no organization: a mail server refused the address.
CREATE TABLE bounced_address (
  email_key TEXT PRIMARY KEY,
  email TEXT NOT NULL,
  bounced_at INTEGER NOT NULL,
  reason TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX bounced_address_by_time ON bounced_address (bounced_at);
