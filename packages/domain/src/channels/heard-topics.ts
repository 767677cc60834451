import { topicKey } from '../messages/topic.js';
import type { ChannelId, RealmId, UserId } from '../shared/ids.js';
import type { Repositories, Transaction } from '../shared/unit-of-work.js';
import { isTopicMuted } from './topic-policy.js';

/** What of the channels he follows somebody wants to hear of. */
export interface HeardTopics {
  isFollowed(channelId: ChannelId): boolean;
  /** Neither its channel nor the topic itself is muted, or it is unmuted in a channel that is. */
  isHeard(channelId: ChannelId, topic: string): boolean;
}

/** Costs by what he follows and has chosen. */
export async function heardTopics(
  { channels, topicPolicies }: Pick<Repositories | Transaction, 'channels' | 'topicPolicies'>,
  realmId: RealmId,
  userId: UserId,
): Promise<HeardTopics> {
  const rows = (await channels.listSubscriptions(realmId, userId)).filter((row) => row.isActive);
  const followed = new Map(rows.map((row) => [row.channelId, row]));
  const policies = await topicPolicies.list(realmId, userId);
  const choices = new Map(policies.map((policy) => [keyOf(policy.channelId, policy.topic), policy.visibility]));
  return {
    isFollowed: (channelId) => followed.has(channelId),
    isHeard: (channelId, topic) =>
      !isTopicMuted(followed.get(channelId)?.isMuted ?? false, choices.get(keyOf(channelId, topic))),
  };
}

const keyOf = (channelId: ChannelId, topic: string): string => `${channelId}:${topicKey(topic)}`;
