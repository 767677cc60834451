import { wholeRealm } from '../../kernel/audience.js';
import type { RealmId } from '../../kernel/ids.js';
import type { Transaction } from '../../kernel/unit-of-work.js';
import { requireRoomForLinkifiers } from './linkifier.js';

/** As they are now. @throws DomainError TOO_MANY_LINKIFIERS */
export async function publishLinkifiers(tx: Transaction, realmId: RealmId): Promise<void> {
  const { linkifiers } = await tx.realms.get(realmId);
  requireRoomForLinkifiers(linkifiers);
  await tx.events.append(realmId, {
    event: { type: 'realm.linkifiers_changed', linkifiers },
    audience: wholeRealm,
  });
}
