import { except, wholeRealm } from '../kernel/audience.js';
import type { UnixSeconds, UserId } from '../kernel/ids.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import type { Realm } from '../realms/realm.js';
import { changeAvatar } from '../users/change-avatar.js';
import { rename } from '../users/change-name.js';
import { removeProfileValue } from '../users/change-profile.js';
import { storeStatusChange } from '../users/store-status-change.js';
import type { User } from '../users/user.js';
import { accessorsOf } from '../users/user-delivery.js';
import { deactivate } from './deactivate.js';
import { type MessagePlace, planMessageDeletion } from './delete-contributions.js';
import { announceValuesNaming, directGroupsOf } from './group-values.js';
import { expireInvitationsOf } from './invitation-changes.js';

/** What goes with an account, of bots as well (users §4.1). */
export interface Deletions {
  readonly byId: UserId;
  /** The name, the avatar, values of profile fields, and the status. */
  readonly ofProfile: boolean;
  /** Where messages are deleted, by a job; empty: nowhere. */
  readonly ofMessages: readonly MessagePlace[];
}

/** What they are called whose profile is deleted. */
const DELETED_USER_NAME = 'Deleted user';

/** Somebody goes, and their bots before them (users §4.1). Asks for no permission. */
export async function deactivateWithBots(
  tx: Transaction,
  realm: Realm,
  user: User,
  now: UnixSeconds,
  deletions?: Deletions,
): Promise<void> {
  const bots = await tx.users.list(realm.id, await tx.bots.listOwnedIds(realm.id, user.id));
  for (const bot of bots) {
    if (bot.isActive) await end(tx, bot, now, deletions);
    await tx.yield();
  }
  await end(tx, user, now, deletions);
  await expireInvitationsOf(tx, realm.id, user.id, now);
  await announceToThoseApart(tx, realm, user.id);
}

async function end(tx: Transaction, user: User, now: UnixSeconds, deletions: Deletions | undefined): Promise<void> {
  // First, while others still get events of them.
  await deactivate(tx, deletions?.ofProfile ? await withoutProfile(tx, user) : user);
  if (!deletions || deletions.ofMessages.length === 0) return;
  const { byId, ofMessages: places } = deletions;
  await planMessageDeletion(tx, user.realmId, { userId: user.id, byId, places }, now);
}

/** Of an avatar that was uploaded the address is gone at once; the bytes go with the next sweep. */
async function withoutProfile(tx: Transaction, user: User): Promise<User> {
  const { realmId, id } = user;
  const values = (await tx.profiles.listValues(realmId, [id])).get(id) ?? [];
  for (const { fieldId } of values) await removeProfileValue(tx, user, fieldId);
  if (await tx.statuses.find(realmId, id)) await storeStatusChange(tx, user, { text: '', emoji: null });
  const renamed = await rename(tx, (await tx.users.find(realmId, id))!, DELETED_USER_NAME);
  const { source, version } = renamed.avatar;
  const shown =
    source === 'generated'
      ? renamed
      : (await changeAvatar(tx, renamed, { source: 'generated', version: version + 1 })).user;
  return { ...shown, isDeleted: true };
}

/**
 * Clients take those who go out of all groups by themselves, but for guests who do not know them, and get no event of
 * their going.
 */
async function announceToThoseApart(tx: Transaction, realm: Realm, userId: UserId): Promise<void> {
  const { everyone } = await tx.groups.systemGroupIds(realm.id);
  if (realm.permissions.canAccessAllUsers === everyone) return;
  const apart = except(wholeRealm, accessorsOf(userId));
  const { named, spelt } = await directGroupsOf(tx, realm, userId);
  for (const groupId of named) {
    await tx.events.append(realm.id, {
      event: { type: 'group.members_changed', op: 'remove', groupId, userIds: [userId] },
      audience: apart,
    });
  }
  await announceValuesNaming(tx, realm, spelt, apart);
}
