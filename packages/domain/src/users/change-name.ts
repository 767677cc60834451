import { DomainError } from '../kernel/errors.js';
import type { Repositories, Transaction } from '../kernel/unit-of-work.js';
import type { Realm } from '../realms/realm.js';
import type { User } from './user.js';
import { accessorsOf } from './user-delivery.js';
import { parseFullName } from './user-name.js';

/** A name that somebody is to have, trimmed (users §3.3). @throws DomainError INVALID_USER_NAME, USER_NAME_TAKEN */
export async function acceptedName(
  { users }: Pick<Repositories | Transaction, 'users'>,
  realm: Realm,
  user: Pick<User, 'id'>,
  raw: string,
  shortest?: number,
): Promise<string> {
  const fullName = parseFullName(raw, shortest);
  if (realm.settings.requireUniqueNames && (await users.isNameTaken(realm.id, fullName, user.id))) {
    throw new DomainError('USER_NAME_TAKEN', 'Unique names required in this organization.');
  }
  return fullName;
}

/** `fullName`: as `acceptedName` answers. Nothing happens where it is theirs already. */
export async function rename(tx: Transaction, user: User, fullName: string): Promise<User> {
  if (fullName === user.fullName) return user;
  const changed = await tx.users.update({ ...user, fullName });
  const event = { type: 'user.name_changed', userId: user.id, fullName } as const;
  await tx.events.append(user.realmId, { event, audience: accessorsOf(user.id) });
  return changed;
}
