import type { ChannelId, RealmId, UserId } from '../kernel/ids.js';
import type { Repositories, Transaction } from '../kernel/unit-of-work.js';
import { topicKey } from './topic.js';
import { isTopicMuted } from './topic-policy.js';

/** Of what in the channels they are subscribed to somebody wants to be notified. */
export interface TopicMutes {
  isSubscribed(channelId: ChannelId): boolean;
  /** Neither its channel nor the topic itself is muted, or it is unmuted in a channel that is. */
  isUnmuted(channelId: ChannelId, topic: string): boolean;
}

/** Costs by what they are subscribed to and have chosen. */
export async function loadTopicMutes(
  { channels, topicPolicies }: Pick<Repositories | Transaction, 'channels' | 'topicPolicies'>,
  realmId: RealmId,
  userId: UserId,
): Promise<TopicMutes> {
  const rows = (await channels.listSubscriptions(realmId, userId)).filter((row) => row.isActive);
  const subscribed = new Map(rows.map((row) => [row.channelId, row]));
  const policies = await topicPolicies.list(realmId, userId);
  const choices = new Map(policies.map((policy) => [keyOf(policy.channelId, policy.topic), policy.visibility]));
  return {
    isSubscribed: (channelId) => subscribed.has(channelId),
    isUnmuted: (channelId, topic) =>
      !isTopicMuted(subscribed.get(channelId)?.isMuted ?? false, choices.get(keyOf(channelId, topic))),
  };
}

const keyOf = (channelId: ChannelId, topic: string): string => `${channelId}:${topicKey(topic)}`;
