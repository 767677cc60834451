import type { Migration } from './migration.js';

/** Events say in which format they are stored, and housekeeping finds what it looks for without reading every row. */
export const eventFormats: Migration = {
  name: '0003-event-formats',
  sql: `
-- Which shape of its type the payload has. What was stored before there was a second one is of the first.
ALTER TABLE event ADD COLUMN format INTEGER NOT NULL DEFAULT 1;

-- The lowest floor of a realm, up to which its log is not needed any more; who is too far behind.
CREATE INDEX event_queue_by_floor ON event_queue (realm_id, floor_seq);
-- Those that nobody polls, from these columns alone.
CREATE INDEX event_queue_by_deadline ON event_queue (last_polled_at + idle_timeout_seconds, idle_timeout_seconds);
-- A user's, the one that was polled least recently first.
DROP INDEX event_queue_by_owner;
CREATE INDEX event_queue_by_owner ON event_queue (owner_id, last_polled_at);

CREATE INDEX user_group_deactivated ON user_group (realm_id, id) WHERE is_deactivated = 1;
CREATE INDEX user_bots ON user (realm_id, id) WHERE bot_kind IS NOT NULL AND system_kind IS NULL;
`,
};
