import type { Migration } from './migration.js';

/** The index of searches; messages that were there before it wait to be indexed. */
export const search: Migration = {
  name: '0009-search',
  sql: `
CREATE VIRTUAL TABLE message_search USING fts5(terms, content='', contentless_delete=1, detail=none, tokenize='ascii');
CREATE TABLE search_backlog (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  unindexed_up_to INTEGER NOT NULL
) STRICT;
INSERT INTO search_backlog SELECT 1, coalesce(max(id), 0) FROM message;
CREATE TRIGGER message_search_insert AFTER INSERT ON message BEGIN
  INSERT INTO message_search (rowid, terms) VALUES (new.id,
    message_terms(new.realm_id, new.sender_id, new.recipient_id, new.topic_key, new.topic, new.rendered_content));
END;
CREATE TRIGGER message_search_update AFTER UPDATE OF recipient_id, topic, topic_key, rendered_content ON message
WHEN old.recipient_id <> new.recipient_id OR old.topic <> new.topic OR old.rendered_content <> new.rendered_content BEGIN
  DELETE FROM message_search WHERE rowid = old.id;
  INSERT INTO message_search (rowid, terms) VALUES (new.id,
    message_terms(new.realm_id, new.sender_id, new.recipient_id, new.topic_key, new.topic, new.rendered_content));
END;
CREATE TRIGGER message_search_delete AFTER DELETE ON message BEGIN
  DELETE FROM message_search WHERE rowid = old.id;
END;
`,
};
