import type { ChannelId, DefaultChannelGroupId, RealmId } from '../kernel/ids.js';
import { compareCodePoints } from '../kernel/text.js';
import type { Repositories, Transaction } from '../kernel/unit-of-work.js';
import { atLeast } from '../users/user-delivery.js';

/** As clients are shown it. */
export interface DefaultChannelGroupView {
  readonly id: DefaultChannelGroupId;
  readonly name: string;
  readonly description: string;
  /** By name of the channel. */
  readonly channelIds: readonly ChannelId[];
}

/** Of the realm, by name. Costs by the channels in them. */
export async function listDefaultChannelGroups(
  { channels, defaultChannelGroups }: Pick<Repositories | Transaction, 'channels' | 'defaultChannelGroups'>,
  realmId: RealmId,
): Promise<readonly DefaultChannelGroupView[]> {
  const groups = await defaultChannelGroups.list(realmId);
  const ids = new Set(groups.flatMap(({ channelIds }) => channelIds));
  const named = new Map((await channels.list(realmId, [...ids])).map(({ id, name }) => [id, name]));
  const nameOf = (id: ChannelId) => named.get(id) ?? '';
  return groups.map(({ id, name, description, channelIds }) => ({
    id,
    name,
    description,
    channelIds: [...channelIds].sort((a, b) => compareCodePoints(nameOf(a), nameOf(b))),
  }));
}

/** Announces to everybody but guests all groups there are now (channels §6.4). */
export async function publishDefaultChannelGroups(tx: Transaction, realmId: RealmId): Promise<void> {
  const groups = await listDefaultChannelGroups(tx, realmId);
  await tx.events.append(realmId, {
    event: { type: 'default_channel_groups.changed', groups },
    audience: atLeast('member'),
  });
}

/** An archived channel is in no group (channels §4.12). */
export async function removeFromDefaultGroups(tx: Transaction, realmId: RealmId, channelId: ChannelId): Promise<void> {
  const holders = (await tx.defaultChannelGroups.list(realmId)).filter(({ channelIds }) =>
    channelIds.includes(channelId),
  );
  if (holders.length === 0) return;
  for (const group of holders) {
    const channelIds = group.channelIds.filter((id) => id !== channelId);
    await tx.defaultChannelGroups.update({ ...group, channelIds });
  }
  await publishDefaultChannelGroups(tx, realmId);
}
