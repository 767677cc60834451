import { wholeRealm } from '../kernel/audience.js';
import { DomainError } from '../kernel/errors.js';
import type { UnixSeconds } from '../kernel/ids.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import type { Realm } from '../realms/realm.js';
import { announceExportConsent } from '../users/export-consent.js';
import type { User } from '../users/user.js';
import { isBotNameTaken } from '../users/user-permissions.js';
import { reactivate } from './deactivate.js';
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
  await announceExportConsent(tx, back);
  return back;
}

/**
 * A bot comes back only under a name that no other has, and to an owner who is there: for those who cannot become its owner.
 * @throws DomainError BOT_NAME_TAKEN, NOT_PERMITTED
 */
export async function requireComplete(tx: Transaction, user: User): Promise<void> {
  if (!user.bot) return;
  if (isBotNameTaken(user, await tx.users.listByName(user.realmId, [user.fullName]))) {
    throw new DomainError('BOT_NAME_TAKEN', 'Name is already in use!');
  }
  const { ownerId } = user.bot;
  const owner = ownerId === null ? null : await tx.users.find(user.realmId, ownerId);
  if (!owner?.isActive) {
    throw new DomainError('NOT_PERMITTED', "The bot's owner is deactivated; reactivate them first.");
  }
}
