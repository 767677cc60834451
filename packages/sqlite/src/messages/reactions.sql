-- Reactions are deleted with their message through a foreign key, which costs time per reaction, not per message. While a
-- message has reactions, its property_bits say so (messages.sql).

CREATE TABLE reaction (
  -- Ascends in the order of reacting.
  id INTEGER PRIMARY KEY,
  message_id INTEGER NOT NULL REFERENCES message (id) ON DELETE CASCADE,
  user_id INTEGER NOT NULL,
  realm_id INTEGER NOT NULL,
  emoji_type TEXT NOT NULL,
  emoji_code TEXT NOT NULL,
  emoji_name TEXT NOT NULL
) STRICT;
-- Includes the realm, so that the index alone answers counts.
CREATE UNIQUE INDEX reaction_by_emoji ON reaction (message_id, emoji_type, emoji_code, user_id, realm_id);
