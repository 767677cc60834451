import type { Repositories, Transaction } from '../shared/unit-of-work.js';
import type { Actor } from '../users/actor.js';
import { hasMetadataAccess } from './channel-permissions.js';
import type { TopicPolicy } from './topic-policy.js';

/** A choice with what old clients know its channel by. */
export interface NamedTopicPolicy extends TopicPolicy {
  /** Null: the user may not see the channel any more, and so not learn what it is called now (contract decision 20). */
  readonly channelName: string | null;
}

/** The user's own choices, without those for archived channels; in the given order. */
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
    if (channel === undefined) return [];
    const isVisible = hasMetadataAccess(actor, channel, subscribed.has(channel.id));
    return [{ ...policy, channelName: isVisible ? channel.name : null }];
  });
}
