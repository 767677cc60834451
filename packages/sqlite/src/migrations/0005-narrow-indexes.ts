import type { Migration } from './migration.js';

/** What narrows look for that is few among many messages: each index holds only those. */
export const narrowIndexes: Migration = {
  name: '0005-narrow-indexes',
  sql: `
CREATE INDEX message_with_link ON message (recipient_id, id, sender_id, sent_recipient_id, ordinal, traits, version)
  WHERE traits & 4;
CREATE INDEX message_with_image ON message (recipient_id, id, sender_id, sent_recipient_id, ordinal, traits, version)
  WHERE traits & 8;
CREATE INDEX message_with_attachment ON message (recipient_id, id, sender_id, sent_recipient_id, ordinal, traits, version)
  WHERE traits & 16;
CREATE INDEX message_mentioning_channel ON message (recipient_id, id, sender_id, sent_recipient_id, ordinal, traits, version)
  WHERE traits & 2;
CREATE INDEX message_resolved ON message (recipient_id, id) WHERE topic_key >= '✔ ' AND topic_key < '✔!';
CREATE INDEX message_flag_mentioned ON message_flag (user_id, message_id) WHERE mentioned = 1;
CREATE INDEX message_flag_topic_mentioned ON message_flag (user_id, message_id) WHERE topic_wildcard_mentioned = 1;
CREATE INDEX message_flag_alerted ON message_flag (user_id, message_id) WHERE has_alert_word = 1;
`,
};
