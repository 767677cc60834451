-- Follows the tables of storage/src/messages/message-tables.ts.

-- Search index: words and mentions of each message. Code that adds, changes or removes a message does the same
-- to its terms.
CREATE TABLE message_search (
  message_id bigint PRIMARY KEY,
  realm_id bigint NOT NULL,
  terms text[] COLLATE "C" NOT NULL
);
-- New messages wait in a list, which searches read as well. Without it, a common word costs a kilobyte of WAL per message.
CREATE INDEX message_search_terms ON message_search USING gin (terms) WITH (fastupdate = on, gin_pending_list_limit = 256);
-- Messages with ids up to this one are not indexed yet; 0 if there are none.
CREATE TABLE search_backlog (
  id bigint PRIMARY KEY CHECK (id = 1),
  unindexed_up_to bigint NOT NULL
);
INSERT INTO search_backlog (id, unindexed_up_to) VALUES (1, 0);
