-- Reactions go with their message, which is why they refer to it: that costs when somebody reacts, not when they send. While a
-- message has any, its property_bits say so (messages.sql).

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
-- With the realm, so that counting needs nothing but the index.
CREATE UNIQUE INDEX reaction_by_emoji ON reaction (message_id, emoji_type, emoji_code, user_id, realm_id);
