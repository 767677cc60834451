import type { Migration } from './migration.js';

/** Policies of topics were the words of the API. */
export const topicsPolicies: Migration = {
  name: '0031-topics-policies',
  sql: `
CREATE TEMP TABLE topics_policy_word (old TEXT PRIMARY KEY, new TEXT NOT NULL) STRICT;
INSERT INTO topics_policy_word (old, new) VALUES
  ('allow_empty_topic', 'emptyTopicAllowed'),
  ('disable_empty_topic', 'emptyTopicRefused'),
  ('empty_topic_only', 'emptyTopicOnly');
UPDATE channel SET version = version + 1, topics_policy = (SELECT new FROM topics_policy_word WHERE old = topics_policy)
WHERE topics_policy IN (SELECT old FROM topics_policy_word);
UPDATE realm SET version = version + 1, settings = json_set(
  settings,
  '$.topicsPolicy',
  (SELECT new FROM topics_policy_word WHERE old = json_extract(settings, '$.topicsPolicy'))
)
WHERE json_extract(settings, '$.topicsPolicy') IN (SELECT old FROM topics_policy_word);
DROP TABLE topics_policy_word;
`,
};
