-- Event log and the cursors of clients.

-- Last seq of each log, and the last pruned one. A unit updates the row when it appends and holds it until the commit, so
-- the order of seqs is the order of commits.
CREATE TABLE event_log_head (
  realm_id bigint PRIMARY KEY REFERENCES realm (id),
  last_seq bigint NOT NULL,
  pruned_up_to bigint NOT NULL,
  -- Value of `event.total` for the newest event.
  total bigint NOT NULL
) WITH (fillfactor = 20);

CREATE TABLE event (
  realm_id bigint NOT NULL,
  seq bigint NOT NULL,
  at bigint NOT NULL,
  -- Message quoted by the event.
  message_id bigint,
  -- JSON texts.
  audience text COLLATE "C" NOT NULL,
  payload text COLLATE "C" NOT NULL,
  -- Format version of the payload.
  format bigint NOT NULL,
  -- Bytes of audiences and payloads that the organization has appended up to this event, so that sizes need no scan.
  total bigint NOT NULL,
  PRIMARY KEY (realm_id, seq)
);
CREATE INDEX event_by_message ON event (message_id) WHERE message_id IS NOT NULL;

CREATE TABLE event_queue (
  id text COLLATE "C" PRIMARY KEY,
  realm_id bigint NOT NULL REFERENCES realm (id),
  owner_id bigint NOT NULL REFERENCES "user" (id),
  -- JSON texts.
  filter text COLLATE "C" NOT NULL,
  presentation text COLLATE "C" NOT NULL,
  start_seq bigint NOT NULL,
  acked bigint NOT NULL,
  floor_seq bigint NOT NULL,
  last_polled_at bigint NOT NULL,
  idle_timeout_seconds bigint NOT NULL
);
-- Finds the lowest floor of a realm, which bounds pruning, and queues that are too far behind.
CREATE INDEX event_queue_by_floor ON event_queue (realm_id, floor_seq);
-- Covering index of abandoned queues.
CREATE INDEX event_queue_by_deadline ON event_queue ((last_polled_at + idle_timeout_seconds), idle_timeout_seconds);
-- Queues of a user, least recently polled first.
CREATE INDEX event_queue_by_owner ON event_queue (owner_id, last_polled_at);

-- Event consumers of the host application.
CREATE TABLE event_consumer (
  name text COLLATE "C" PRIMARY KEY
);

-- Last event processed by each consumer; absent if it processed none of the realm.
CREATE TABLE event_consumer_position (
  consumer text COLLATE "C" NOT NULL REFERENCES event_consumer (name) ON DELETE CASCADE,
  realm_id bigint NOT NULL REFERENCES realm (id),
  seq bigint NOT NULL,
  PRIMARY KEY (consumer, realm_id)
);
