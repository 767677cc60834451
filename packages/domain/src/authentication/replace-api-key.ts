import { nobody } from '../events/audience.js';
import type { RealmId, SessionId, UserId } from '../shared/ids.js';
import type { Transaction } from '../shared/unit-of-work.js';
import type { ApiKeyMint } from './api-keys.js';
import { endSessions } from './end-sessions.js';

/**
 * Gives a user another key: the one before is worthless at once, queues that were opened with it end, and so do browser sessions but
 * for `except`. Answers the key.
 */
export async function replaceApiKey(
  tx: Transaction,
  mint: ApiKeyMint,
  user: { readonly realmId: RealmId; readonly id: UserId },
  except?: SessionId,
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
  await tx.events.append(realmId, { event: { type: 'user.api_key_replaced', userId }, audience: nobody });
  return apiKey;
}
