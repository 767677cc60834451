import { except, users } from '../kernel/audience.js';
import type { ChannelId, RealmId, UserId } from '../kernel/ids.js';
import { slicesOf } from '../kernel/slices.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import { type Channel, isPrivate, isWebPublic } from './channel.js';
import { firstAudience, metadataUsers } from './channel-audiences.js';

/** Channels that the same people have come to, or left, and whose other viewers are the same. */
interface PeerGroup {
  readonly channels: Channel[];
  readonly userIds: readonly UserId[];
}

/**
 * Announces to the others who may see the channels who has come or gone, in as few events as channels §6.2 allows: public channels
 * share one while no guest, who sees none but what they follow, is among their subscribers. Those who come see each
 * other in the lists of subscribers they get; those who leave together, by the same event as the others.
 */
export async function publishSubscriberChanges(
  tx: Transaction,
  op: 'add' | 'remove',
  channels: readonly Channel[],
  userIdsOf: ReadonlyMap<ChannelId, readonly UserId[]>,
): Promise<void> {
  const { realmId } = channels[0]!;
  const open = channels.filter((channel) => !isPrivate(channel) && !isWebPublic(channel)).map(({ id }) => id);
  // One alone shares nothing with anybody.
  const withGuests = open.length > 1 ? await followedByGuests(tx, realmId, open) : NO_CHANNELS;
  const groups = new Map<string, PeerGroup>();
  for (const channel of channels) {
    const userIds = userIdsOf.get(channel.id)!;
    const isAlone = isPrivate(channel) || withGuests.has(channel.id);
    const key = isAlone ? String(channel.id) : `${isWebPublic(channel)}:${userIds.join()}`;
    const group = groups.get(key);
    if (group) group.channels.push(channel);
    else groups.set(key, { channels: [channel], userIds });
  }
  for (const { channels: together, userIds } of groups.values()) {
    const [channel] = together;
    const viewers = together.length === 1 ? metadataUsers(channel!) : firstAudience(channel!);
    const leaveTogether = op === 'remove' && userIds.length > 1;
    await tx.events.append(realmId, {
      event: {
        type: 'channel.subscribers_changed',
        op,
        channelIds: together.map(({ id }) => id),
        userIds,
      },
      audience: leaveTogether ? viewers : except(viewers, users(userIds)),
    });
    await tx.yield();
  }
}

const NO_CHANNELS: ReadonlySet<ChannelId> = new Set();
const CHANNELS_AT_A_TIME = 50;

/** Looks through the subscribers of each, until a guest is among them. */
async function followedByGuests(
  tx: Transaction,
  realmId: RealmId,
  ids: readonly ChannelId[],
): Promise<ReadonlySet<ChannelId>> {
  const followed = new Set<ChannelId>();
  for (const some of slicesOf(ids, CHANNELS_AT_A_TIME)) {
    for (const id of await tx.channels.filterWithGuestSubscribers(realmId, some)) followed.add(id);
    await tx.yield();
  }
  return followed;
}
