import { wholeRealm } from '../events/audience.js';
import type { Realm } from '../realms/realm.js';
import type { UnixSeconds } from '../shared/ids.js';
import type { Transaction } from '../shared/unit-of-work.js';
import { reactivate } from '../users/deactivate.js';
import type { User } from '../users/user.js';
import { announceValuesNaming, directGroupsOf } from './group-values.js';

/** Somebody comes back, into the groups that they were in (users §4.3). Asks for no permission. */
export async function reactivateWithGroups(tx: Transaction, realm: Realm, user: User, now: UnixSeconds): Promise<User> {
  const back = await reactivate(tx, realm, user, now);
  const { named, spelt } = await directGroupsOf(tx, realm, user.id);
  for (const groupId of named) {
    await tx.events.append(realm.id, {
      event: { type: 'group.members_changed', op: 'add', groupId, userIds: [user.id] },
      audience: wholeRealm,
    });
  }
  await announceValuesNaming(tx, realm, spelt, wholeRealm);
  return back;
}
