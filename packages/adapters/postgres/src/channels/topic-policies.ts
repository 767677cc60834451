import type { TopicPolicy } from '@parley/domain/channels';
import { SqlTopicPolicyRepository } from '@parley/storage';
import type { Connection } from '../engine/connection.js';
import type { PostgresFeature } from '../engine/feature.js';

export class PostgresTopicPolicyRepository extends SqlTopicPolicyRepository {
  constructor(private readonly connection: Connection) {
    super(connection);
  }

  /** A shared unit may only change its user's policies. */
  override async put(policy: TopicPolicy): Promise<void> {
    if (policy.userId !== this.connection.sharing?.userId) this.connection.requireAlone();
    await super.put(policy);
  }
}

export const TOPIC_POLICY_FEATURE = {
  repositories: () => (connection) => ({ topicPolicies: new PostgresTopicPolicyRepository(connection) }),
} satisfies PostgresFeature;
