import { type Actor, isGuest } from '../access/actor.js';
import type { UserId } from '../kernel/ids.js';
import type { Realm } from '../realms/realm.js';
import { hasRealmPermission } from '../realms/realm-permissions.js';
import type { User } from './user.js';

/** What decides whether a guest may know somebody. */
export interface UserAccess {
  readonly realm: Pick<Realm, 'permissions'>;
  /** They share a channel or a group conversation, or have written to one another. Asked only for limited guests. */
  readonly sharesConversation: boolean;
}

/** A guest who may not know everybody: only such have to be acquainted (users §1.4). */
export const isLimitedGuest = (actor: Pick<Actor, 'role' | 'groups'>, realm: Pick<Realm, 'permissions'>): boolean =>
  isGuest(actor) && !hasRealmPermission(actor, realm, 'canAccessAllUsers');

/** Whom a guest who may not know everybody knows (users §1.4): those they have to do with, and every bot. */
export const isKnownToGuest = (guestId: UserId, user: Pick<User, 'id' | 'bot'>, sharesConversation: boolean): boolean =>
  user.id === guestId || user.bot !== null || sharesConversation;

/** Users §1.4. */
export function mayAccessUser(
  actor: Pick<Actor, 'id' | 'role' | 'groups'>,
  user: Pick<User, 'id' | 'bot'>,
  { realm, sharesConversation }: UserAccess,
): boolean {
  return isKnownToGuest(actor.id, user, sharesConversation) || !isLimitedGuest(actor, realm);
}
