-- Event log and the cursors of clients.

-- Events up to this seq are pruned. The newest seq is the highest in the log, or this one if the log is empty.
CREATE TABLE event_log_start (
  realm_id INTEGER PRIMARY KEY REFERENCES realm (id),
  pruned_up_to INTEGER NOT NULL
) STRICT;

CREATE TABLE event (
  -- Realm id followed by 36 bits of the seq, see eventId in events.ts.
  id INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  -- Message quoted by the event.
  message_id INTEGER,
  -- JSON texts.
  audience TEXT NOT NULL,
  payload TEXT NOT NULL,
  -- Format version of the payload; rows stored before the second version have the first.
  format INTEGER NOT NULL DEFAULT 1,
  -- Virtual column.
  realm_id INTEGER NOT NULL GENERATED ALWAYS AS (id >> 36) VIRTUAL,
  seq INTEGER NOT NULL GENERATED ALWAYS AS (id & 68719476735) VIRTUAL
) STRICT;
CREATE INDEX event_by_message ON event (message_id) WHERE message_id IS NOT NULL;

CREATE TABLE event_queue (
  id TEXT PRIMARY KEY,
  realm_id INTEGER NOT NULL REFERENCES realm (id),
  owner_id INTEGER NOT NULL REFERENCES user (id),
  -- JSON texts.
  filter TEXT NOT NULL,
  presentation TEXT NOT NULL,
  start_seq INTEGER NOT NULL,
  acked INTEGER NOT NULL,
  floor_seq INTEGER NOT NULL,
  last_polled_at INTEGER NOT NULL,
  idle_timeout_seconds INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
-- Finds the lowest floor of a realm, which bounds pruning, and queues that are too far behind.
CREATE INDEX event_queue_by_floor ON event_queue (realm_id, floor_seq);
-- Covering index of abandoned queues.
CREATE INDEX event_queue_by_deadline ON event_queue (last_polled_at + idle_timeout_seconds, idle_timeout_seconds);
-- Queues of a user, least recently polled first.
CREATE INDEX event_queue_by_owner ON event_queue (owner_id, last_polled_at);

-- Event consumers of the host application.
CREATE TABLE event_consumer (
  name TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;

-- Last event processed by each consumer; absent if it processed none of the realm.
CREATE TABLE event_consumer_position (
  consumer TEXT NOT NULL REFERENCES event_consumer (name) ON DELETE CASCADE,
  realm_id INTEGER NOT NULL REFERENCES realm (id),
  seq INTEGER NOT NULL,
  PRIMARY KEY (consumer, realm_id)
) STRICT, WITHOUT ROWID;
