import type { Actor } from '../access/actor.js';
import { DomainError } from '../kernel/errors.js';
import { foldCase, trim } from '../kernel/text.js';
import type { Repositories, Transaction } from '../kernel/unit-of-work.js';
import { byFoldedName, type Channel } from './channel.js';
import { canReadActive } from './channel-access.js';

/**
 * A channel that the actor can read and that is in use. @throws DomainError UNKNOWN_CHANNEL, the same for a channel that is
 * hidden as for one that does not exist
 */
export const getReadableChannel = async (reads: Reads, actor: Actor, name: string): Promise<Channel> =>
  (await listReadableChannels(reads, actor, [name]))[0]!;

/** The same of several; each once, in the order in which they are named. @throws DomainError UNKNOWN_CHANNEL for the first */
export async function listReadableChannels(
  { channels }: Reads,
  actor: Actor,
  names: readonly string[],
): Promise<readonly Channel[]> {
  const found = byFoldedName(await channels.listByName(actor.realmId, names.map(trim)));
  const subscribed = new Set(await channels.listSubscribedIds(actor.realmId, actor.id));
  const readable = new Set<Channel>();
  for (const name of names) {
    const channel = found.get(foldCase(trim(name)));
    if (!channel || !canReadActive(actor, channel, subscribed.has(channel.id)).allowed) {
      throw new DomainError('UNKNOWN_CHANNEL', `Invalid channel name '${name}'`);
    }
    readable.add(channel);
  }
  return [...readable];
}

type Reads = Pick<Repositories | Transaction, 'channels'>;
