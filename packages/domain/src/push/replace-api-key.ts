import type { ApiKeyMint } from '../access/api-keys.js';
import { endConfirmationOf } from '../access/confirmation-changes.js';
import { endSessions } from '../access/end-sessions.js';
import { nobody } from '../kernel/audience.js';
import type { RealmId, SessionId, UnixSeconds, UserId } from '../kernel/ids.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import { removePushTokens } from './push-jobs.js';

/**
 * Gives a user another key: the one before is worthless at once, queues that were opened with it end, and so do browser sessions but
 * for `except`, apps of the older kind get nothing any more, and an address that was asked for is not taken. Answers the key.
 */
export async function replaceApiKey(
  tx: Transaction,
  mint: ApiKeyMint,
  user: { readonly realmId: RealmId; readonly id: UserId },
  { now, except }: { readonly now: UnixSeconds; readonly except?: SessionId | undefined },
): Promise<string> {
  const { realmId, id: userId } = user;
  const generation = ((await tx.apiKeys.find(realmId, userId))?.generation ?? 0) + 1;
  const record = { realmId, userId, generation };
  const apiKey = mint.derive(record);
  await tx.apiKeys.put(record, mint.fingerprint(apiKey));
  const queues = await tx.queues.listOf(realmId, userId);
  await tx.queues.remove(
    realmId,
    queues.map(({ id }) => id),
  );
  await endSessions(tx, user, except);
  await removePushTokens(tx, realmId, userId, now);
  // Whoever had the key could ask for an address of theirs with it.
  await endConfirmationOf(tx, user, 'emailChange', now);
  await tx.events.append(realmId, { event: { type: 'user.api_key_replaced', userId }, audience: nobody });
  return apiKey;
}
