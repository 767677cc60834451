import { users } from '../events/audience.js';
import type { Transaction } from '../shared/unit-of-work.js';
import type { TopicPolicy } from './topic-policy.js';

/** Stores a person's wish for a topic and tells his clients. */
export async function changeTopicPolicy(tx: Transaction, policy: TopicPolicy): Promise<void> {
  const { realmId, userId, channelId, topic, visibility, changedAt } = policy;
  await tx.topicPolicies.put(policy);
  const muted = (await tx.topicPolicies.list(realmId, userId)).filter((one) => one.visibility === 'muted');
  const channels = new Map(
    (
      await tx.channels.list(
        realmId,
        muted.map((one) => one.channelId),
      )
    ).map((channel) => [channel.id, channel]),
  );
  await tx.events.append(realmId, {
    event: {
      type: 'topic.policy_changed',
      channelId,
      topic,
      visibility,
      changedAt,
      // Old clients know topics by their channel's name, and get all that are muted.
      muted: muted.flatMap((one) => {
        const channel = channels.get(one.channelId);
        return channel && !channel.isArchived
          ? [{ channelName: channel.name, topic: one.topic, changedAt: one.changedAt }]
          : [];
      }),
    },
    audience: users([userId]),
  });
}
