-- expand: an index of ended subscriptions during which no message was sent or moved.

CREATE INDEX span_without_messages ON span (realm_id, to_seq) WHERE to_ordinal <= from_ordinal AND to_move = from_move;
