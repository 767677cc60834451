-- Follows the tables of storage/src/messages/message-tables.ts.

-- Search index: words of each message and terms for its location. Code that adds a message
-- adds its terms; the triggers below maintain them in the same transaction. Only the posting lists
-- of the terms are stored.
CREATE VIRTUAL TABLE message_search USING fts5(terms, content='', contentless_delete=1, detail=none, tokenize='ascii');
-- Messages with ids up to this one are not indexed yet; 0 if there are none.
CREATE TABLE search_backlog (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  unindexed_up_to INTEGER NOT NULL
) STRICT;
INSERT INTO search_backlog (id, unindexed_up_to) VALUES (1, 0);
CREATE TRIGGER message_search_update AFTER UPDATE OF recipient_id, topic, topic_key, rendered_content ON message
WHEN old.recipient_id <> new.recipient_id OR old.topic <> new.topic OR old.rendered_content <> new.rendered_content BEGIN
  DELETE FROM message_search WHERE rowid = old.id;
  INSERT INTO message_search (rowid, terms) VALUES (new.id,
    message_terms(new.realm_id, new.sender_id, new.recipient_id, new.topic_key, new.topic, new.rendered_content));
END;
CREATE TRIGGER message_search_delete AFTER DELETE ON message BEGIN
  DELETE FROM message_search WHERE rowid = old.id;
END;
