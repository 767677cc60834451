import { endSessions } from '../access/end-sessions.js';
import type { Channel } from '../channels/channel.js';
import { subscribersOf } from '../channels/channel-delivery.js';
import { publishSubscriberChanges } from '../channels/publish-subscriber-changes.js';
import type { ChannelId, UnixSeconds, UserId } from '../kernel/ids.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import type { Realm } from '../realms/realm.js';
import { type AccessAnnouncer, accessAnnouncer } from '../users/announce-access.js';
import type { User } from '../users/user.js';
import { accessorsOf } from '../users/user-delivery.js';
import { followRole } from './change-role.js';

/**
 * Somebody who is active cannot sign in any more, has no event queues, counts among nobody's subscribers and receives nothing; what they have
 * stays, and so do their subscriptions, for when they come back (users §4.1). `user`: as they will be but for that. Asks for no permission.
 */
export async function deactivate(tx: Transaction, user: User): Promise<void> {
  const { realmId, id } = user;
  const access = await accessAnnouncer(tx, await tx.realms.get(realmId));
  const channels = await followedBy(tx, user);
  await tx.users.update({ ...user, isActive: false });
  await tx.queues.removeOfUser(realmId, id);
  await endSessions(tx, user);
  for (const { recipientId } of channels) {
    await tx.personal.closeSpans(realmId, recipientId, [id]);
    await tx.yield();
  }
  // Ahead of what says that they are gone (channels §6.2).
  if (channels.length > 0) await publishSubscriberChanges(tx, 'remove', channels, allOf(channels, id));
  await announce(tx, user, false);
  await announceAccess(tx, user, channels, access);
}

/** Back as they were, in the groups of the role that they have by now (users §4.3). Asks for no permission. */
export async function reactivate(tx: Transaction, realm: Realm, user: User, now: UnixSeconds): Promise<User> {
  const access = await accessAnnouncer(tx, realm);
  const channels = await followedBy(tx, user);
  const back = await tx.users.update({ ...user, isActive: true, isDeleted: false });
  for (const { recipientId } of channels) {
    await tx.personal.openSpans(realm.id, recipientId, [user.id]);
    await tx.yield();
  }
  // First, so that those who know them again by a channel know whom later events are about.
  await announceAccess(tx, user, channels, access);
  await announce(tx, user, true);
  await followRole(tx, realm, back, now);
  if (channels.length > 0) await publishSubscriberChanges(tx, 'add', channels, allOf(channels, user.id));
  return back;
}

/** Archived ones too. */
const followedBy = async ({ channels }: Transaction, { realmId, id }: User): Promise<readonly Channel[]> =>
  channels.list(realmId, await channels.listSubscribedIds(realmId, id));

const allOf = (channels: readonly Channel[], userId: UserId): ReadonlyMap<ChannelId, readonly UserId[]> =>
  new Map(channels.map(({ id }) => [id, [userId]]));

function announce(tx: Transaction, { realmId, id: userId }: User, isActive: boolean) {
  return tx.events.append(realmId, {
    event: { type: 'user.activation_changed', userId, isActive },
    audience: accessorsOf(userId),
  });
}

async function announceAccess(
  tx: Transaction,
  { realmId, id }: User,
  channels: readonly Channel[],
  access: AccessAnnouncer | null,
): Promise<void> {
  await access?.announceChannels(
    channels.map((channel) => ({
      subscribers: subscribersOf(channel.id),
      changed: [id],
      others: async () => (await tx.channels.listSubscribers(realmId, [channel.id])).get(channel.id) ?? [],
    })),
  );
}
