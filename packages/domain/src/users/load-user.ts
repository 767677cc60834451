import type { Actor } from '../access/actor.js';
import { DomainError } from '../kernel/errors.js';
import type { UserId } from '../kernel/ids.js';
import { enforce } from '../kernel/permission.js';
import type { Repositories, Transaction } from '../kernel/unit-of-work.js';
import { conversationPartnerIds } from './accessible-users.js';
import type { User } from './user.js';
import { canAccessUser, type TargetKinds } from './user-permissions.js';

/**
 * Somebody whom the actor named, if they may know them (users §0).
 * @throws DomainError UNKNOWN_USER, NAMED_USER_DEACTIVATED, NOT_PERMITTED
 */
export async function loadUser(
  reads: Pick<Repositories | Transaction, 'realms' | 'users'>,
  actor: Actor,
  id: UserId,
  kinds: TargetKinds,
): Promise<User> {
  const realm = await reads.realms.get(actor.realmId);
  const user = await reads.users.find(realm.id, id);
  const partners = await conversationPartnerIds(reads, actor, realm);
  enforce(canAccessUser(actor, user, { realm, sharesConversation: partners.has(id), ...kinds }));
  if (!user) throw new DomainError('UNKNOWN_USER', 'No such user');
  return user;
}
