import type { Actor } from '../access/actor.js';
import type { ChannelId } from '../kernel/ids.js';
import { type Decision, enforce } from '../kernel/permission.js';
import type { Repositories, Transaction } from '../kernel/unit-of-work.js';
import type { Channel } from './channel.js';
import { unknownChannel } from './channel-access.js';

export interface LoadedChannel {
  readonly channel: Channel;
  /** Whether the actor is. */
  readonly isSubscribed: boolean;
}

/**
 * A channel that the actor named, if the rule allows them what they want with it.
 * @throws DomainError UNKNOWN_CHANNEL, and what the rule refuses
 */
export async function loadChannel(
  { channels }: Pick<Repositories | Transaction, 'channels'>,
  actor: Actor,
  id: ChannelId,
  rule: (actor: Actor, channel: Channel, isSubscribed: boolean) => Decision,
): Promise<LoadedChannel> {
  const channel = await channels.find(actor.realmId, id);
  const isSubscribed = channel !== null && (await channels.isSubscribed(actor.realmId, id, actor.id));
  enforce(channel ? rule(actor, channel, isSubscribed) : unknownChannel);
  return { channel: channel!, isSubscribed };
}
