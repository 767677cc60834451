-- Pending email confirmations. Keys of links are derived and never stored.

CREATE TABLE confirmation (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  realm_id INTEGER NOT NULL REFERENCES realm (id),
  -- 'signUp', 'emailChange' or 'passwordReset'.
  purpose TEXT NOT NULL,
  -- Owner: the id of a user, or the case-folded email of a person without an account.
  subject TEXT NOT NULL,
  email TEXT NOT NULL,
  user_id INTEGER,
  invitation_id INTEGER,
  expires_at INTEGER NOT NULL,
  -- 'open' or 'ended'.
  status TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX confirmation_open ON confirmation (realm_id, purpose, subject) WHERE status = 'open';
CREATE INDEX confirmation_by_purpose ON confirmation (realm_id, purpose);
