import { DomainError } from '../shared/errors.js';
import type { ChannelId } from '../shared/ids.js';
import { type Decision, enforce } from '../shared/permission.js';
import { foldCase, trim } from '../shared/text.js';
import type { Repositories, Transaction } from '../shared/unit-of-work.js';
import type { Actor } from '../users/actor.js';
import { byFoldedName, type Channel } from './channel.js';
import { canReadActive, unknownChannel } from './channel-permissions.js';

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

/**
 * Channels in use that the actor can read, by their names; each once, in the order in which they were named.
 * @throws DomainError UNKNOWN_CHANNEL, the same for one that is hidden as for one that does not exist
 */
export async function loadReadableByName(
  { channels }: Pick<Repositories | Transaction, 'channels'>,
  actor: Actor,
  names: readonly string[],
): Promise<readonly Channel[]> {
  const found = byFoldedName(await channels.listByName(actor.realmId, names.map(trim)));
  const subscribed = new Set(await channels.listSubscribedIds(actor.realmId, actor.id));
  const loaded = new Set<Channel>();
  for (const name of names) {
    const channel = found.get(foldCase(trim(name)));
    if (!channel || !canReadActive(actor, channel, subscribed.has(channel.id)).allowed) {
      throw new DomainError('UNKNOWN_CHANNEL', `Invalid channel name '${name}'`);
    }
    loaded.add(channel);
  }
  return [...loaded];
}
