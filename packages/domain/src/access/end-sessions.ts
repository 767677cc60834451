import { nobody } from '../kernel/audience.js';
import type { RealmId, SessionId, UserId } from '../kernel/ids.js';
import type { Transaction } from '../kernel/unit-of-work.js';

interface SessionOwner {
  readonly realmId: RealmId;
  readonly id: UserId;
}

/** Logs somebody out of every browser, but for the session `except`. Answers how many sessions ended. */
export async function endSessions(tx: Transaction, user: SessionOwner, except?: SessionId): Promise<number> {
  const sessions = await tx.sessions.listOf(user.realmId, user.id);
  return removeSessions(
    tx,
    user,
    sessions.map(({ id }) => id).filter((id) => id !== except),
  );
}

/** Ends these sessions of the user; others of the list are left alone. Answers how many there were. */
export async function removeSessions(
  tx: Transaction,
  { realmId, id: userId }: SessionOwner,
  ids: readonly SessionId[],
): Promise<number> {
  const count = ids.length > 0 ? await tx.sessions.remove(realmId, userId, ids) : 0;
  if (count > 0) await tx.events.append(realmId, { event: { type: 'user.sessions_ended', userId }, audience: nobody });
  return count;
}
