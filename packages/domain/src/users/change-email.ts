import { nobody } from '../kernel/audience.js';
import { DomainError } from '../kernel/errors.js';
import { foldCase } from '../kernel/text.js';
import type { Repositories, Transaction } from '../kernel/unit-of-work.js';
import type { Realm } from '../realms/realm.js';
import { isEmailAddress } from './email-address.js';
import { addressFault, addressFaultText, type DisposableDomains, loadAddressPolicy } from './joining-address.js';
import type { User } from './user.js';
import { accessorsOf } from './user-delivery.js';

/** What keeps a user from having another address; null: nothing (users §6.2). */
export async function newEmailProblem(
  repositories: Pick<Repositories | Transaction, 'users' | 'allowedDomains'>,
  user: User,
  realm: Realm,
  email: string,
  disposable: DisposableDomains,
): Promise<DomainError | null> {
  if (!isEmailAddress(email)) return new DomainError('INVALID_EMAIL', 'Invalid address.');
  const fault = addressFault(email, await loadAddressPolicy(repositories, realm, disposable));
  if (fault !== null) return new DomainError('EMAIL_NOT_ALLOWED', addressFaultText('emailChange', email, fault));
  // Another spelling of one's own is nobody else's.
  if (foldCase(email) === foldCase(user.email)) return null;
  const [owner] = await repositories.users.listByEmail(realm.id, [email]);
  if (owner?.bot?.isSystem) return new DomainError('EMAIL_RESERVED', 'Reserved for system bots.');
  if (owner?.isActive) return new DomainError('EMAIL_TAKEN', 'Already has an account.');
  return owner ? new DomainError('EMAIL_OF_DEACTIVATED_USER', 'Account has been deactivated.') : null;
}

/** Gives somebody another address, and tells those who see it (users §3.2). @throws DomainError EMAIL_TAKEN */
export async function changeEmail(tx: Transaction, user: User, email: string): Promise<User> {
  const changed = await tx.users.update({ ...user, email });
  // Keys are asked for with the address.
  await tx.events.append(user.realmId, {
    event: { type: 'user.credentials_changed', userId: user.id },
    audience: nobody,
  });
  await tx.events.append(user.realmId, {
    event: { type: 'user.email_changed', user: changed },
    audience: accessorsOf(user.id),
  });
  return changed;
}
