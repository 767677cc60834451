import type { Migration } from './migration.js';

/** What invitations offer may be long, and those that are made together offer the same: it is stored once. */
export const invitationOffers: Migration = {
  name: '0040-invitation-offers',
  sql: `
CREATE TABLE invitation_offer (
  id INTEGER PRIMARY KEY,
  realm_id INTEGER NOT NULL REFERENCES realm (id),
  channel_ids TEXT NOT NULL,
  group_ids TEXT NOT NULL,
  includes_default_channels INTEGER NOT NULL,
  welcome_text TEXT
) STRICT;
INSERT INTO invitation_offer
  SELECT id, realm_id, channel_ids, group_ids, includes_default_channels, welcome_text FROM invitation;

ALTER TABLE invitation RENAME TO old_invitation;
DROP INDEX invitation_open;
CREATE TABLE invitation (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  realm_id INTEGER NOT NULL REFERENCES realm (id),
  kind TEXT NOT NULL,
  inviter_id INTEGER NOT NULL,
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
INSERT INTO invitation
  SELECT id, realm_id, kind, inviter_id, status, invited_at, expires_at, role, email, notifies_inviter, id
  FROM old_invitation;
DELETE FROM sqlite_sequence WHERE name = 'invitation';
UPDATE sqlite_sequence SET name = 'invitation' WHERE name = 'old_invitation';
DROP TABLE old_invitation;
`,
};
