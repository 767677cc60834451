import type { Actor } from '../access/actor.js';
import { groupsHolding } from '../access/group-closure.js';
import type { Audience } from '../kernel/audience.js';
import type { ChannelId, GroupId, RealmId, UserId } from '../kernel/ids.js';
import { slicesOf } from '../kernel/slices.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import { type Channel, isPrivate } from './channel.js';
import {
  type ChangedUser,
  type ChannelsWithAudience,
  VISIBILITY_PERMISSIONS,
  VisibilityForChangedUsers,
} from './channel-visibility.js';
import { actorsOf, slicesOfUsers } from './subscribe-to-channels.js';

const CHANNELS_AT_A_TIME = 100;
/** What one row of the log shows of: each channel becomes an event of its own on the wire. */
export const CHANNELS_PER_LIST_OF_SUBSCRIBERS = 500;

/** These channels are news to the audience: what they are, and who follows them (channels §6.3). */
export async function announceNewlyVisible(
  tx: Transaction,
  realmId: RealmId,
  channelIds: readonly ChannelId[],
  audience: Audience,
): Promise<void> {
  const views = [];
  for (const some of slicesOf(channelIds, CHANNELS_AT_A_TIME)) {
    views.push(...(await tx.channels.listViews(realmId, some)));
    await tx.yield();
  }
  await tx.events.append(realmId, { event: { type: 'channel.created', channels: views }, audience });
  for (const some of slicesOf(channelIds, CHANNELS_PER_LIST_OF_SUBSCRIBERS)) {
    await tx.events.append(realmId, { event: { type: 'channel.subscribers_shown', channelIds: some }, audience });
  }
}

/** Announces to people, whose role or groups changed, which channels they see from now on, and which no longer (channels §6.3). */
export async function announceVisibilityOf(
  tx: Transaction,
  realmId: RealmId,
  people: readonly ChangedUser[],
  channels: readonly Channel[],
): Promise<void> {
  const ids = channels.map(({ id }) => id);
  const followers = new Map<ChannelId, Set<UserId>>(ids.map((id) => [id, new Set()]));
  for (const some of slicesOfUsers(
    people.map(({ after }) => after.id),
    Math.max(1, ids.length),
  )) {
    for (const rows of (await tx.channels.listSubscriptionsOf(realmId, some, ids)).values()) {
      for (const row of rows) if (row.isActive) followers.get(row.channelId)!.add(row.userId);
    }
    await tx.yield();
  }
  const visibility = new VisibilityForChangedUsers(people);
  for (const channel of channels) {
    visibility.add(channel, followers.get(channel.id)!);
    await tx.yield();
  }
  const { gained, lost } = visibility.change;
  const idsOf = ({ channels: some }: ChannelsWithAudience) => some.map(({ id }) => id);
  for (const each of gained) await announceNewlyVisible(tx, realmId, idsOf(each), each.audience);
  for (const each of lost) {
    await tx.events.append(realmId, {
      event: { type: 'channel.hidden', channelIds: idsOf(each) },
      audience: each.audience,
    });
    await tx.yield();
  }
}

/**
 * Who is in the groups is about to change for these users; `change` changes it and tells of it. Costs nothing but the
 * change where none of the groups lets anybody see a channel; else by the users.
 */
export async function changeMembership(
  tx: Transaction,
  realmId: RealmId,
  groupId: GroupId,
  userIds: () => Promise<readonly UserId[]>,
  change: () => Promise<void>,
): Promise<void> {
  const channels = await channelsShownTo(tx, realmId, groupsHolding(await tx.groups.listEdges(realmId), groupId));
  if (channels.length === 0) return change();
  const ids = await userIds();
  const before = await actorsOf(tx, realmId, ids);
  await change();
  const after = await actorsOf(tx, realmId, ids);
  const people = [...after.values()].flatMap((actor) => changedUser(before.get(actor.id), actor));
  await announceVisibilityOf(tx, realmId, people, channels);
}

const changedUser = (before: Actor | undefined, after: Actor): ChangedUser[] => (before ? [{ before, after }] : []);

/** Private ones that one of the groups lets its members see. */
async function channelsShownTo(
  tx: Transaction,
  realmId: RealmId,
  groupIds: ReadonlySet<GroupId>,
): Promise<readonly Channel[]> {
  return (await tx.channels.listAll(realmId)).filter(
    (channel) =>
      isPrivate(channel) && VISIBILITY_PERMISSIONS.some((permission) => groupIds.has(channel.permissions[permission])),
  );
}

/** The same for one user, whose role changed. */
export const announceVisibilityAfterRole = async (
  tx: Transaction,
  realmId: RealmId,
  changed: ChangedUser,
): Promise<void> => announceVisibilityOf(tx, realmId, [changed], await tx.channels.listAll(realmId));
