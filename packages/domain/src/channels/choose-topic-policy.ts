import type { Actor } from '../access/actor.js';
import { DomainError } from '../kernel/errors.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import { changeTopicPolicy } from './change-topic-policy.js';
import type { Channel } from './channel.js';
import { normalizeTopic, topicKey } from './topic.js';
import { MAX_TOPIC_POLICIES, type TopicPolicy } from './topic-policy.js';

/**
 * What somebody chose for a topic that they named; nothing happens where they have chosen it already.
 * @throws DomainError TOO_MANY_TOPIC_POLICIES
 */
export async function chooseTopicPolicy(
  tx: Transaction,
  { realmId, id: userId }: Actor,
  { id: channelId }: Channel,
  chosen: Pick<TopicPolicy, 'topic' | 'visibility' | 'changedAt'>,
): Promise<void> {
  const topic = normalizeTopic(chosen.topic);
  const current = (await tx.topicPolicies.listOf(realmId, channelId, topicKey(topic), [userId])).get(userId);
  if ((current ?? 'inherit') === chosen.visibility) return;
  const isStored = await changeTopicPolicy(tx, { realmId, userId, channelId, ...chosen, topic });
  if (isStored) return;
  throw new DomainError('TOO_MANY_TOPIC_POLICIES', `Too many topics with a policy (limit: ${MAX_TOPIC_POLICIES}).`);
}
