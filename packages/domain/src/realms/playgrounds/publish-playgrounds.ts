import { wholeRealm } from '../../kernel/audience.js';
import type { RealmId } from '../../kernel/ids.js';
import type { Transaction } from '../../kernel/unit-of-work.js';

/** As they are now. */
export async function publishPlaygrounds(tx: Transaction, realmId: RealmId): Promise<void> {
  const playgrounds = await tx.playgrounds.list(realmId);
  await tx.events.append(realmId, {
    event: { type: 'realm.playgrounds_changed', playgrounds },
    audience: wholeRealm,
  });
}
