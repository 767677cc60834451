import type { Migration } from './migration.js';

/** Links that are sent by mail: sign-up, another address, another password. */
export const confirmations: Migration = {
  name: '0034-confirmations',
  sql: `
CREATE TABLE confirmation (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  realm_id INTEGER NOT NULL REFERENCES realm (id),
  purpose TEXT NOT NULL,
  subject TEXT NOT NULL,
  email TEXT NOT NULL,
  user_id INTEGER,
  invitation_id INTEGER,
  expires_at INTEGER NOT NULL,
  status TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX confirmation_open ON confirmation (realm_id, purpose, subject) WHERE status = 'open';
CREATE INDEX confirmation_by_purpose ON confirmation (realm_id, purpose);
`,
};
