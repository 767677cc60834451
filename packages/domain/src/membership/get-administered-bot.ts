import type { Actor } from '../access/actor.js';
import type { UserId } from '../kernel/ids.js';
import { enforce } from '../kernel/permission.js';
import type { Repositories, Transaction } from '../kernel/unit-of-work.js';
import type { User } from '../users/user.js';
import { canAdministerBot } from '../users/user-permissions.js';

/** Deactivated ones too. @throws DomainError UNKNOWN_BOT, NOT_PERMITTED, MUST_BE_OWNER */
export async function getAdministeredBot(
  { users }: Pick<Repositories | Transaction, 'users'>,
  actor: Actor,
  botId: UserId,
): Promise<User> {
  const bot = await users.find(actor.realmId, botId);
  enforce(canAdministerBot(actor, bot));
  return bot!;
}
