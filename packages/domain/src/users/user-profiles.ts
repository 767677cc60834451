import type { RealmId } from '../kernel/ids.js';
import type { Snapshot } from '../kernel/snapshot.js';
import type { Repositories, Transaction } from '../kernel/unit-of-work.js';
import type { ProfileField } from './profile-field.js';
import type { UserWithProfile } from './profile-value.js';
import type { User } from './user.js';

/** In the order of `users`. */
export async function withProfiles(
  { profiles }: Pick<Repositories | Transaction, 'profiles'>,
  realmId: RealmId,
  users: readonly User[],
): Promise<readonly UserWithProfile[]> {
  if (users.length === 0) return [];
  const values = await profiles.listValues(
    realmId,
    users.map(({ id }) => id),
  );
  return users.map((user) => ({ ...user, profile: values.get(user.id) ?? [] }));
}

/** By order. */
export const loadProfileFields = ({ caller, repositories }: Snapshot): Promise<readonly ProfileField[]> =>
  repositories.profiles.listFields(caller.realmId);
