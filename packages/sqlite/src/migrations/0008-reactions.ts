import type { Migration } from './migration.js';

/** Reactions, and the messages that have any. */
export const reactions: Migration = {
  name: '0008-reactions',
  sql: `
CREATE TABLE reaction (
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
CREATE INDEX message_with_reactions ON message (recipient_id, id, sender_id, sent_recipient_id, ordinal, property_bits, version)
  WHERE property_bits & 128;
`,
};
