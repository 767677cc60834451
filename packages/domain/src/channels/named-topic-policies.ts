import type { Actor } from '../access/actor.js';
import type { Repositories, Transaction } from '../kernel/unit-of-work.js';
import { hasMetadataAccess } from './channel-access.js';
import type { TopicPolicy } from './topic-policy.js';

/** A choice with what old clients know its channel by. */
export interface NamedTopicPolicy extends TopicPolicy {
  readonly channelName: string;
}

/**
 * The user's own choices, in the given order; without those for archived channels, and for channels that they may not see any
 * more, whose names they must not learn (README decision 20).
 */
export async function nameTopicPolicies(
  { channels }: Pick<Repositories | Transaction, 'channels'>,
  actor: Actor,
  policies: readonly TopicPolicy[],
): Promise<readonly NamedTopicPolicy[]> {
  if (policies.length === 0) return [];
  const { realmId, id } = actor;
  const found = await channels.list(realmId, [...new Set(policies.map(({ channelId }) => channelId))]);
  const inUse = new Map(found.filter((channel) => !channel.isArchived).map((channel) => [channel.id, channel]));
  const subscribed = new Set(await channels.listSubscribedIds(realmId, id));
  return policies.flatMap((policy) => {
    const channel = inUse.get(policy.channelId);
    if (channel === undefined || !hasMetadataAccess(actor, channel, subscribed.has(channel.id))) return [];
    return [{ ...policy, channelName: channel.name }];
  });
}
