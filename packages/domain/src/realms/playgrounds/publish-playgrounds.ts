import { wholeRealm } from '../../events/audience.js';
import type { RealmId } from '../../shared/ids.js';
import type { Transaction } from '../../shared/unit-of-work.js';

/** As they are now. */
export async function publishPlaygrounds(tx: Transaction, realmId: RealmId): Promise<void> {
  const playgrounds = await tx.playgrounds.list(realmId);
  await tx.events.append(realmId, {
    event: { type: 'realm.playgrounds_changed', playgrounds },
    audience: wholeRealm,
  });
}
