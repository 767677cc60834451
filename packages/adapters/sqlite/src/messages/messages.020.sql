-- Ended subscriptions during which no message was sent or moved; they go with the events of that time.

CREATE INDEX span_without_messages ON span (realm_id, to_seq) WHERE to_ordinal <= from_ordinal AND to_move = from_move;
