import { users } from '../kernel/audience.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import { nameTopicPolicies } from './named-topic-policies.js';
import { topicKey } from './topic.js';
import { MAX_TOPIC_POLICIES, type TopicPolicy } from './topic-policy.js';

/**
 * Stores a user's choice for a topic and tells their clients. Answers false, and does nothing, where they have chosen
 * something for as many topics as anybody may.
 */
export async function changeTopicPolicy(tx: Transaction, policy: TopicPolicy): Promise<boolean> {
  const { realmId, userId, channelId, topic, visibility, changedAt } = policy;
  const stored = await tx.topicPolicies.find(realmId, userId, channelId, topicKey(topic));
  const isNew = stored === null && visibility !== 'inherit';
  if (isNew && (await tx.topicPolicies.count(realmId, userId)) >= MAX_TOPIC_POLICIES) return false;
  // A choice keeps the spelling that it was first made in.
  const changed = { ...policy, topic: stored?.topic ?? topic };
  await tx.topicPolicies.put(changed);
  const muted = await tx.topicPolicies.listMuted(realmId, userId);
  // Thousands of people may be mentioned at once, of whom few mute anything.
  const named = muted.length === 0 ? [] : await nameTopicPolicies(tx, await tx.actors.get(policy), muted);
  await tx.events.append(realmId, {
    event: {
      type: 'topic.policy_changed',
      channelId,
      topic: changed.topic,
      visibility,
      changedAt,
      // Old clients know topics by their channel's name, and get all that are muted.
      muted: named.map(({ channelName, topic, changedAt }) => ({ channelName, topic, changedAt })),
    },
    audience: users([userId]),
  });
  return true;
}
