import { type Audience, anyOf, users } from '../kernel/audience.js';
import type { FeatureParts } from '../kernel/event.js';
import type { ChannelId, UserId } from '../kernel/ids.js';
import type { Repositories, Transaction } from '../kernel/unit-of-work.js';
import type { User } from '../users/user.js';
import { atLeast } from '../users/user-delivery.js';
import type { BotView } from './bot-view.js';

/** What changed of a bot; what is absent did not. */
export type BotChange = Partial<Omit<BotView, 'botId'>>;

/** To owners and administrators (users §15). What anybody may know of a bot is sent as for any user. */
export interface BotEventTypes {
  /** To whom it is new. */
  'bot.added': { readonly bot: BotView };
  'bot.changed': { readonly botId: UserId; readonly change: BotChange };
  /** To who owned it before. */
  'bot.taken_away': { readonly botId: UserId };
  /** To everybody. */
  'bot.owner_changed': { readonly botId: UserId; readonly ownerId: UserId };
}

declare module '../kernel/event.js' {
  interface DomainEventTypes extends BotEventTypes {}
}

export const BOT_FEATURE = {
  eventFormats: {
    'bot.added': 1,
    'bot.changed': 1,
    'bot.taken_away': 1,
    'bot.owner_changed': 1,
  },
} satisfies FeatureParts<BotEventTypes>;

/** The owner and administrators; where it has to do with a private channel, the owner alone (users §15). */
export async function botAudience(
  { channels }: Pick<Repositories | Transaction, 'channels'>,
  { realmId, bot }: User,
  eventsChannelId: ChannelId | null,
): Promise<Audience> {
  const owner = bot!.ownerId === null ? [] : [bot!.ownerId];
  const ids = [bot!.defaultSendingChannelId, eventsChannelId].filter((id) => id !== null) as ChannelId[];
  const found = await channels.list(realmId, ids);
  const isPrivate = found.some(({ privacy }) => privacy !== 'public' && privacy !== 'webPublic');
  return isPrivate ? users(owner) : anyOf(users(owner), atLeast('administrator'));
}
