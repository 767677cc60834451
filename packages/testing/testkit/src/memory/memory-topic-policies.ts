import { type TopicPolicy, type TopicPolicyRepository, type TopicVisibility, topicKey } from '@parley/domain/channels';
import { type ChannelId, compareCodePoints, type RealmId, type UserId } from '@parley/domain/kernel';
import { keyOf, type MemoryUnit } from './tables.js';

declare module './tables.js' {
  interface Tables {
    /** Policies by `keyOf(user, channel, topic key)`. */
    readonly topicPolicies: Map<string, TopicPolicy>;
  }
}

export class MemoryTopicPolicies implements TopicPolicyRepository {
  constructor(private readonly unit: MemoryUnit) {}

  async listOf(
    realmId: RealmId,
    channelId: ChannelId,
    key: string,
    userIds: readonly UserId[],
  ): Promise<ReadonlyMap<UserId, TopicVisibility>> {
    const chosen = new Map<UserId, TopicVisibility>();
    for (const userId of userIds) {
      const policy = this.unit.read('topicPolicies').get(keyOf(userId, channelId, key));
      if (policy?.realmId === realmId) chosen.set(userId, policy.visibility);
    }
    return chosen;
  }

  async find(realmId: RealmId, userId: UserId, channelId: ChannelId, key: string): Promise<TopicPolicy | null> {
    const policy = this.unit.read('topicPolicies').get(keyOf(userId, channelId, key));
    return policy?.realmId === realmId ? policy : null;
  }

  async count(realmId: RealmId, userId: UserId): Promise<number> {
    return (await this.list(realmId, userId)).length;
  }

  async listMuted(realmId: RealmId, userId: UserId, limit?: number): Promise<readonly TopicPolicy[]> {
    return (await this.list(realmId, userId)).filter(({ visibility }) => visibility === 'muted').slice(0, limit);
  }

  async list(realmId: RealmId, userId: UserId): Promise<readonly TopicPolicy[]> {
    return [...this.unit.read('topicPolicies').values()]
      .filter((policy) => policy.realmId === realmId && policy.userId === userId)
      .sort((a, b) => a.channelId - b.channelId || compareCodePoints(topicKey(a.topic), topicKey(b.topic)));
  }

  async listOfTopic(
    realmId: RealmId,
    channelId: ChannelId,
    key: string,
    after: number,
    limit: number,
  ): Promise<readonly TopicPolicy[]> {
    return [...this.unit.read('topicPolicies').values()]
      .filter((policy) => policy.realmId === realmId && policy.channelId === channelId)
      .filter((policy) => topicKey(policy.topic) === key && policy.userId > after)
      .sort((a, b) => a.userId - b.userId)
      .slice(0, limit);
  }

  async put(policy: TopicPolicy): Promise<void> {
    const key = keyOf(policy.userId, policy.channelId, topicKey(policy.topic));
    const policies = this.unit.change('topicPolicies');
    if (policy.visibility === 'inherit') policies.delete(key);
    else policies.set(key, { ...policy, topic: policies.get(key)?.topic ?? policy.topic });
  }
}
