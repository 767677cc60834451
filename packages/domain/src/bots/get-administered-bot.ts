import type { Actor } from '../permissions/actor.js';
import type { UserId } from '../shared/ids.js';
import { enforce } from '../shared/permission.js';
import type { Repositories, Transaction } from '../shared/unit-of-work.js';
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
