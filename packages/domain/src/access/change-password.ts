import { nobody } from '../kernel/audience.js';
import type { RealmId, SessionId, UnixSeconds, UserId } from '../kernel/ids.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import { endConfirmationOf } from './confirmation-changes.js';
import { endSessions } from './end-sessions.js';

/**
 * Gives a user another password, or none: all browsers in which they have logged in are logged out, but for the session `except`,
 * and links for setting one or taking another address end. API keys stay as they are (protocol §8.3).
 */
export async function changePassword(
  tx: Transaction,
  user: { readonly realmId: RealmId; readonly id: UserId },
  passwordHash: string | null,
  { now, except }: { readonly now: UnixSeconds; readonly except?: SessionId | undefined },
): Promise<void> {
  const { realmId, id: userId } = user;
  await tx.users.setPasswordHash(realmId, userId, passwordHash);
  await endSessions(tx, user, except);
  await endConfirmationOf(tx, user, 'passwordReset', now);
  // Whoever had the password before could ask for an address of theirs.
  await endConfirmationOf(tx, user, 'emailChange', now);
  await tx.events.append(realmId, { event: { type: 'user.credentials_changed', userId }, audience: nobody });
}
