import type { Actor } from '../access/actor.js';
import type { Repositories, Transaction } from '../kernel/unit-of-work.js';
import type { Channel } from './channel.js';
import type { Posting } from './post-permissions.js';

/** What the rules of posting ask of somebody who writes to a channel. `typedName`: null, they named it by its id. */
export async function loadPosting(
  { actors, channels }: Pick<Repositories | Transaction, 'actors' | 'channels'>,
  actor: Actor,
  channel: Channel,
  typedName: string | null,
): Promise<Posting> {
  const { realmId, botOwnerId } = actor;
  const botOwner = botOwnerId === null ? null : ((await actors.list(realmId, [botOwnerId])).get(botOwnerId) ?? null);
  return {
    sender: actor,
    botOwner,
    channel,
    typedName,
    isSubscribed: await channels.isSubscribed(realmId, channel.id, actor.id),
    isOwnerSubscribed: botOwner !== null && (await channels.isSubscribed(realmId, channel.id, botOwner.id)),
    isSystemBot: false,
  };
}
