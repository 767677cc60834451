import { DomainError } from '../kernel/errors.js';
import type { RealmId, UserId } from '../kernel/ids.js';
import type { Repositories, Transaction } from '../kernel/unit-of-work.js';
import type { User } from '../users/user.js';

/** Whom the host application means: by its own id, or by ours. */
export type HostUserReference = { readonly externalId: string } | { readonly userId: UserId };

type Reads = Pick<Repositories | Transaction, 'externalIds' | 'users'>;

/** Null: there is no such user; the system's own bots are nobody's. */
export async function findHostUser(reads: Reads, realmId: RealmId, by: HostUserReference): Promise<User | null> {
  const id = 'userId' in by ? by.userId : await reads.externalIds.find(realmId, by.externalId);
  return id === null ? null : reads.users.find(realmId, id);
}

/** @throws DomainError UNKNOWN_USER */
export async function getHostUser(reads: Reads, realmId: RealmId, by: HostUserReference): Promise<User> {
  const user = await findHostUser(reads, realmId, by);
  if (user) return user;
  const named = 'userId' in by ? `the id ${by.userId}` : `the external id '${by.externalId}'`;
  throw new DomainError('UNKNOWN_USER', `There is no user with ${named}.`);
}
