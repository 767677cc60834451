import { DomainError } from '../shared/errors.js';
import { trim } from '../shared/text.js';
import type { Repositories, Transaction } from '../shared/unit-of-work.js';
import type { Actor } from '../users/actor.js';
import type { Channel } from './channel.js';
import { canReadActive } from './channel-permissions.js';

/**
 * A channel that the actor can read and that is in use. @throws DomainError UNKNOWN_CHANNEL, the same for a channel that is
 * hidden as for one that does not exist
 */
export async function getReadableChannel(
  { channels }: Pick<Repositories | Transaction, 'channels'>,
  actor: Actor,
  name: string,
): Promise<Channel> {
  const channel = await channels.findByName(actor.realmId, trim(name));
  const isSubscribed = channel !== null && (await channels.isSubscribed(actor.realmId, channel.id, actor.id));
  if (!channel || !canReadActive(actor, channel, isSubscribed).allowed) {
    throw new DomainError('UNKNOWN_CHANNEL', `Invalid channel name '${name}'`);
  }
  return channel;
}
