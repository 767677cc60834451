-- The log of what happened, and the clients' cursors over it.

-- Events up to that seq are gone. The newest one's seq is the highest in the log, or this where nothing is left there.
CREATE TABLE event_log_start (
  realm_id INTEGER PRIMARY KEY REFERENCES realm (id),
  pruned_up_to INTEGER NOT NULL
) STRICT;

CREATE TABLE event (
  -- Its realm's, followed by 36 bits of its seq (event-ids.ts).
  id INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  -- The message the event quotes.
  message_id INTEGER,
  -- JSON, both.
  audience TEXT NOT NULL,
  payload TEXT NOT NULL,
  -- Which shape of its type the payload has. What was stored before there was a second one is of the first.
  format INTEGER NOT NULL DEFAULT 1,
  -- Not stored.
  realm_id INTEGER NOT NULL GENERATED ALWAYS AS (id >> 36) VIRTUAL,
  seq INTEGER NOT NULL GENERATED ALWAYS AS (id & 68719476735) VIRTUAL
) STRICT;
CREATE INDEX event_by_message ON event (message_id) WHERE message_id IS NOT NULL;

CREATE TABLE event_queue (
  id TEXT PRIMARY KEY,
  realm_id INTEGER NOT NULL REFERENCES realm (id),
  owner_id INTEGER NOT NULL REFERENCES user (id),
  -- JSON, both.
  filter TEXT NOT NULL,
  presentation TEXT NOT NULL,
  start_seq INTEGER NOT NULL,
  acked INTEGER NOT NULL,
  floor_seq INTEGER NOT NULL,
  last_polled_at INTEGER NOT NULL,
  idle_timeout_seconds INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
-- The lowest floor of a realm, up to which its log is not needed any more; who is too far behind.
CREATE INDEX event_queue_by_floor ON event_queue (realm_id, floor_seq);
-- Those that nobody polls, from these columns alone.
CREATE INDEX event_queue_by_deadline ON event_queue (last_polled_at + idle_timeout_seconds, idle_timeout_seconds);
-- A user's, the one that was polled least recently first.
CREATE INDEX event_queue_by_owner ON event_queue (owner_id, last_polled_at);

-- Parts of the host application that work through every event.
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
