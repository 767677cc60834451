import type { Migration } from './migration.js';

/** Each change of a choice for a topic asks for those that mute. */
export const mutedTopics: Migration = {
  name: '0026-muted-topics',
  sql: `
CREATE INDEX topic_policy_muted ON topic_policy (user_id, channel_id, topic_key) WHERE visibility = 'muted';
`,
};
