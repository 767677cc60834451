import { except, users as usersNamed, wholeRealm } from '../kernel/audience.js';
import type { UserId } from '../kernel/ids.js';
import { enforce } from '../kernel/permission.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import type { User } from '../users/user.js';
import { atLeast } from '../users/user-delivery.js';
import { canOwnBots } from '../users/user-permissions.js';
import { requireRoom } from './bot-names.js';
import { viewBot } from './bot-view.js';

/** @throws DomainError UNKNOWN_USER, NAMED_USER_DEACTIVATED, BOT_CANNOT_OWN_BOTS, TOO_MANY_BOTS */
export async function giveOwner(tx: Transaction, before: User, ownerId: UserId): Promise<User> {
  const { realmId, id: botId } = before;
  if (before.bot!.ownerId === ownerId) return before;
  enforce(canOwnBots(await tx.users.find(realmId, ownerId)));
  await requireRoom(tx, realmId, ownerId);
  const bot = await tx.users.update({ ...before, bot: { ...before.bot!, ownerId } });
  // Administrators have it before and after.
  const alone = (id: UserId) => except(usersNamed([id]), atLeast('administrator'));
  if (before.bot!.ownerId !== null) {
    const audience = alone(before.bot!.ownerId);
    await tx.events.append(realmId, { event: { type: 'bot.taken_away', botId }, audience });
  }
  const added = { type: 'bot.added', bot: await viewBot(tx, bot) } as const;
  await tx.events.append(realmId, { event: added, audience: alone(ownerId) });
  await tx.events.append(realmId, { event: { type: 'bot.owner_changed', botId, ownerId }, audience: wholeRealm });
  return bot;
}
