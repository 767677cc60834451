import { users } from '../events/audience.js';
import type { Transaction } from '../shared/unit-of-work.js';
import { nameTopicPolicies } from './named-topic-policies.js';
import type { TopicPolicy } from './topic-policy.js';

/** Stores a user's choice for a topic and tells their clients. */
export async function changeTopicPolicy(tx: Transaction, policy: TopicPolicy): Promise<void> {
  const { realmId, userId, channelId, topic, visibility, changedAt } = policy;
  await tx.topicPolicies.put(policy);
  const muted = (await tx.topicPolicies.list(realmId, userId)).filter((one) => one.visibility === 'muted');
  const actor = await tx.actors.get(policy);
  const named = await nameTopicPolicies(tx, actor, muted);
  await tx.events.append(realmId, {
    event: {
      type: 'topic.policy_changed',
      channelId,
      topic,
      visibility,
      changedAt,
      // Old clients know topics by their channel's name, and get all that are muted.
      muted: named.flatMap(({ channelName, topic, changedAt }) =>
        channelName === null ? [] : [{ channelName, topic, changedAt }],
      ),
    },
    audience: users([userId]),
  });
}
