import { endConfirmationOf } from '../confirmations/confirmation-changes.js';
import { nobody } from '../events/audience.js';
import type { RealmId, UnixSeconds, UserId } from '../shared/ids.js';
import type { Transaction } from '../shared/unit-of-work.js';

/**
 * Gives a user another password: what the one before let them do ends, and so do links for setting one. API keys stay as they
 * are (protocol §8.3).
 */
export async function changePassword(
  tx: Transaction,
  user: { readonly realmId: RealmId; readonly id: UserId },
  passwordHash: string,
  now: UnixSeconds,
): Promise<void> {
  const { realmId, id: userId } = user;
  await tx.users.setPasswordHash(realmId, userId, passwordHash);
  await endConfirmationOf(tx, user, 'passwordReset', now);
  await tx.events.append(realmId, { event: { type: 'user.credentials_changed', userId }, audience: nobody });
}
