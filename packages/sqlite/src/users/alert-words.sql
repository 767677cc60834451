-- Alert words of users.

CREATE TABLE alert_word (
  id INTEGER PRIMARY KEY,
  realm_id INTEGER NOT NULL REFERENCES realm (id),
  user_id INTEGER NOT NULL,
  word TEXT NOT NULL,
  -- The word in lower case.
  word_key TEXT NOT NULL,
  -- Lookup key used by messages, see alertSegments in the domain.
  segment TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX alert_word_by_user ON alert_word (user_id, word_key);
CREATE INDEX alert_word_by_segment ON alert_word (realm_id, segment, word_key, user_id);
