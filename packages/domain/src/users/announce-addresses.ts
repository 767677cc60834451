import type { Role } from '../access/role.js';
import { users as usersNamed } from '../kernel/audience.js';
import type { RealmId, UserId } from '../kernel/ids.js';
import { slicesOf } from '../kernel/slices.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import { visibleEmailSettings } from './email-visibility.js';

/** So many users one event names at most: each may become two events for the client. */
const USERS_PER_EVENT = 200;

/**
 * Announces to somebody whose role changed whose addresses they see now, or see no more (users §1.2, §5). Whose these are is found
 * out where the event is delivered, since it is a matter of everybody's settings.
 */
export async function announceAddressesSeen(
  tx: Transaction,
  realmId: RealmId,
  userId: UserId,
  before: Role,
  after: Role,
): Promise<void> {
  if (visibleEmailSettings(before).length === visibleEmailSettings(after).length) return;
  const ids = (await tx.users.listEntries(realmId)).map(({ id }) => id);
  for (const userIds of slicesOf(ids, USERS_PER_EVENT)) {
    await tx.events.append(realmId, {
      event: { type: 'user.addresses_seen', userIds, before },
      audience: usersNamed([userId]),
    });
    await tx.yield();
  }
}
