-- Invitations. Their keys are derived and never stored.

CREATE TABLE invitation (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  realm_id INTEGER NOT NULL REFERENCES realm (id),
  kind TEXT NOT NULL,
  inviter_id INTEGER NOT NULL,
  -- 'open', 'used' or 'revoked'.
  status TEXT NOT NULL,
  invited_at INTEGER NOT NULL,
  expires_at INTEGER,
  role TEXT NOT NULL,
  email TEXT,
  notifies_inviter INTEGER NOT NULL,
  offer_id INTEGER NOT NULL REFERENCES invitation_offer (id)
) STRICT;
CREATE INDEX invitation_open ON invitation (realm_id, kind, id) WHERE status = 'open';
CREATE INDEX invitation_of_offer ON invitation (offer_id);

-- Shared offer of invitations created together: everything but the role.
CREATE TABLE invitation_offer (
  id INTEGER PRIMARY KEY,
  realm_id INTEGER NOT NULL REFERENCES realm (id),
  -- JSON lists of ids.
  channel_ids TEXT NOT NULL,
  group_ids TEXT NOT NULL,
  includes_default_channels INTEGER NOT NULL,
  welcome_text TEXT
) STRICT;

-- Number of invitation emails of a realm on its latest day, in days since 1970.
CREATE TABLE invitation_letters (
  realm_id INTEGER PRIMARY KEY REFERENCES realm (id),
  day INTEGER NOT NULL,
  count INTEGER NOT NULL
) STRICT;
