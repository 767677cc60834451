import { endSessions } from '../access/credentials.js';
import type { Channel } from '../channels/channel.js';
import { subscribersOf } from '../channels/channel-delivery.js';
import { publishSubscriberChanges } from '../channels/channel-events.js';
import type { ChannelId, UnixSeconds, UserId } from '../kernel/ids.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import type { Realm } from '../realms/realm.js';
import type { User } from '../users/user.js';
import { accessorsOf } from '../users/user-delivery.js';
import { type AccessAnnouncer, accessAnnouncer } from '../users/user-events.js';
import { moveToRoleGroups } from './roles.js';

/**
 * Deactivates an active user: blocks log-in, closes event queues, and stops delivery and subscriber counting. Keeps
 * data and subscriptions for reactivation (users §4.1), and sessions to report the deactivation. `user` contains all
 * other changes to store. Checks no permissions.
 */
export async function deactivate(tx: Transaction, user: User): Promise<void> {
  const { realmId, id } = user;
  const access = await accessAnnouncer(tx, await tx.realms.get(realmId));
  const channels = await subscribedChannels(tx, user);
  await tx.users.update({ ...user, isActive: false });
  await tx.queues.removeOfUser(realmId, id);
  await tx.readContexts.removeAll(realmId, id);
  await tx.personal.closeSpans(realmId, recipientsOf(channels), [id]);
  // Published before the deactivation (channels §6.2).
  if (channels.length > 0) await publishSubscriberChanges(tx, 'remove', channels, allOf(channels, id));
  await announce(tx, user, false);
  await announceAccess(tx, user, channels, access);
}

/** Reactivates a user in the groups of their current role (users §4.3). Checks no permissions. */
export async function reactivate(tx: Transaction, realm: Realm, user: User, now: UnixSeconds): Promise<User> {
  const access = await accessAnnouncer(tx, realm);
  const channels = await subscribedChannels(tx, user);
  await endSessions(tx, user);
  const back = await tx.users.update({ ...user, isActive: true, isDeleted: false });
  // A later deactivation by others must not count as one by the directory.
  await tx.provisioning.setUserRemoved(realm.id, user.id, false);
  await tx.personal.openSpans(realm.id, recipientsOf(channels), [user.id]);
  // Published first, so that users who regain access through a channel know the subject of later events.
  await announceAccess(tx, user, channels, access);
  await announce(tx, user, true);
  await moveToRoleGroups(tx, realm, back, now);
  if (channels.length > 0) await publishSubscriberChanges(tx, 'add', channels, allOf(channels, user.id));
  return back;
}

const recipientsOf = (channels: readonly Channel[]) => channels.map(({ recipientId }) => recipientId);

/** Includes archived channels. */
const subscribedChannels = async ({ channels }: Transaction, { realmId, id }: User): Promise<readonly Channel[]> =>
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
