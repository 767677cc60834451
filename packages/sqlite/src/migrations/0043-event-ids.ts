import type { Migration } from './migration.js';

/** Events are found by one number, and the newest of a realm is known by what there is: two pages less for each commit. */
export const eventIds: Migration = {
  name: '0043-event-ids',
  sql: `
DROP INDEX event_by_message;
ALTER TABLE event RENAME TO event_before;
CREATE TABLE event (
  id INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  message_id INTEGER,
  audience TEXT NOT NULL,
  payload TEXT NOT NULL,
  format INTEGER NOT NULL DEFAULT 1,
  realm_id INTEGER NOT NULL GENERATED ALWAYS AS (id >> 36) VIRTUAL,
  seq INTEGER NOT NULL GENERATED ALWAYS AS (id & 68719476735) VIRTUAL
) STRICT;
INSERT INTO event (id, at, message_id, audience, payload, format)
SELECT realm_id << 36 | seq, at, message_id, audience, payload, format FROM event_before ORDER BY realm_id, seq;
DROP TABLE event_before;
CREATE INDEX event_by_message ON event (message_id) WHERE message_id IS NOT NULL;

CREATE TABLE event_log_start (
  realm_id INTEGER PRIMARY KEY REFERENCES realm (id),
  pruned_up_to INTEGER NOT NULL
) STRICT;
INSERT INTO event_log_start (realm_id, pruned_up_to)
SELECT c.realm_id, iif(EXISTS (SELECT 1 FROM event e WHERE e.id = (c.realm_id << 36 | c.head_seq)), c.pruned_up_to, c.head_seq)
FROM event_counter c;
DROP TABLE event_counter;
`,
};
