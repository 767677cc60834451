import { SqlTopicPolicyRepository } from '@parley/storage';
import { asStatements } from '../engine/connection.js';
import type { SqliteFeature } from '../engine/feature.js';

export const TOPIC_POLICY_FEATURE = {
  repositories: () => (connection) => ({ topicPolicies: new SqlTopicPolicyRepository(asStatements(connection)) }),
} satisfies SqliteFeature;
