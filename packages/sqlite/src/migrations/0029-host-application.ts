import type { Migration } from './migration.js';

/** What belongs to the application that embeds the engine: its own ids of users, and its consumers of events. */
export const hostApplication: Migration = {
  name: '0029-host-application',
  sql: `
CREATE TABLE external_id (
  user_id INTEGER PRIMARY KEY,
  realm_id INTEGER NOT NULL REFERENCES realm (id),
  external_id TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX external_id_by_value ON external_id (realm_id, external_id);

CREATE TABLE event_consumer (
  name TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;

-- The last event that each is done with; absent: none of the realm.
CREATE TABLE event_consumer_position (
  consumer TEXT NOT NULL REFERENCES event_consumer (name) ON DELETE CASCADE,
  realm_id INTEGER NOT NULL REFERENCES realm (id),
  seq INTEGER NOT NULL,
  PRIMARY KEY (consumer, realm_id)
) STRICT, WITHOUT ROWID;
`,
};
