import type { Actor } from '../access/actor.js';
import { DomainError } from '../kernel/errors.js';
import type { UserId } from '../kernel/ids.js';
import type { Repositories, Transaction } from '../kernel/unit-of-work.js';
import { conversationPartnerIds } from '../users/accessible-users.js';
import { mayAccessUser } from '../users/user-access.js';
import type { MutedSender } from './personal-messages.js';

/** Of one user, to whom each change shows all of them. */
export const MAX_MUTED_USERS = 1000;

/** @throws DomainError TOO_MANY_MUTED_USERS */
export function requireRoomForMutedUser(muted: readonly MutedSender[]): void {
  if (muted.length < MAX_MUTED_USERS) return;
  throw new DomainError('TOO_MANY_MUTED_USERS', `Too many muted users (limit: ${MAX_MUTED_USERS}).`);
}

/**
 * Anybody whom the actor may know, the system's bots included (users §10).
 * @throws DomainError UNKNOWN_USER, NOT_PERMITTED
 */
export async function requireMutable(
  reads: Pick<Repositories | Transaction, 'realms' | 'users'>,
  actor: Actor,
  userId: UserId,
): Promise<void> {
  const user =
    (await reads.users.find(actor.realmId, userId)) ??
    (await reads.users.listSystemBots(actor.realmId)).find(({ id }) => id === userId);
  if (!user) throw new DomainError('UNKNOWN_USER', 'No such user');
  const realm = await reads.realms.get(actor.realmId);
  const partners = await conversationPartnerIds(reads, actor, realm);
  if (mayAccessUser(actor, user, { realm, sharesConversation: partners.has(userId) })) return;
  throw new DomainError('NOT_PERMITTED', 'Insufficient permission');
}
