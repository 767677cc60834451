import type { ChannelId, UserId } from '../kernel/ids.js';
import { slicesOf } from '../kernel/slices.js';
import type { Snapshot } from '../kernel/snapshot.js';
import { loadViewer } from '../users/user-loaders.js';
import type { Channel, ChannelView } from './channel.js';
import { canListSubscribers, hasMetadataAccess } from './channel-access.js';
import type { ChannelFolder } from './channel-folder.js';
import { type DefaultChannelGroupView, listDefaultChannelGroups } from './default-channel-group-views.js';
import { type NamedTopicPolicy, nameTopicPolicies } from './named-topic-policies.js';
import type { Subscription } from './subscription.js';

/** Read at once; the event loop may turn before the next ones. */
const CHANNELS_AT_A_TIME = 200;

/** The viewer's rows, of channels they have left too; ascending channel. */
export const loadOwnSubscriptions = ({ caller, repositories }: Snapshot): Promise<readonly Subscription[]> =>
  repositories.channels.listSubscriptions(caller.realmId, caller.userId);

/** All the viewer may know of, archived ones included; by name in code-point order. */
export async function loadChannels(snapshot: Snapshot): Promise<readonly ChannelView[]> {
  const { caller, repositories } = snapshot;
  const known = new Set((await snapshot.load(loadKnownChannels)).map(({ id }) => id));
  return repositories.channels.listViewsWhere(caller.realmId, ({ id }) => known.has(id));
}

/** Those newcomers follow, archived ones not; ascending. Empty for guests. */
export async function loadDefaultChannelIds(snapshot: Snapshot): Promise<readonly ChannelId[]> {
  if ((await snapshot.load(loadViewer)).role === 'guest') return [];
  const known = await snapshot.load(loadKnownChannels);
  return known.filter((channel) => channel.isDefault && !channel.isArchived).map((channel) => channel.id);
}

/** Empty for guests. */
export async function loadDefaultChannelGroups(snapshot: Snapshot): Promise<readonly DefaultChannelGroupView[]> {
  if ((await snapshot.load(loadViewer)).role === 'guest') return [];
  return listDefaultChannelGroups(snapshot.repositories, snapshot.caller.realmId);
}

/** Archived ones too; by order. */
export const loadChannelFolders = ({ caller, repositories }: Snapshot): Promise<readonly ChannelFolder[]> =>
  repositories.channelFolders.list(caller.realmId);

/** Of the channels whose subscribers the viewer may know. */
export async function loadSubscriberIds(snapshot: Snapshot): Promise<ReadonlyMap<ChannelId, readonly UserId[]>> {
  const { caller, repositories } = snapshot;
  const viewer = await snapshot.load(loadViewer);
  const followed = await snapshot.load(loadFollowedIds);
  const known = await snapshot.load(loadKnownChannels);
  const listed = known.filter((channel) => canListSubscribers(viewer, channel, followed.has(channel.id)).allowed);
  const subscriberIds = new Map<ChannelId, readonly UserId[]>();
  for (const slice of slicesOf(listed, CHANNELS_AT_A_TIME)) {
    const ids = slice.map((channel) => channel.id);
    for (const [id, userIds] of await repositories.channels.listSubscribers(caller.realmId, ids)) {
      subscriberIds.set(id, userIds);
    }
    await repositories.yield();
  }
  return subscriberIds;
}

/** The viewer's, of channels in use that they may see; ascending channel, then topic. */
export async function loadTopicPolicies(snapshot: Snapshot): Promise<readonly NamedTopicPolicy[]> {
  const { caller, repositories } = snapshot;
  const policies = await repositories.topicPolicies.list(caller.realmId, caller.userId);
  return nameTopicPolicies(repositories, await snapshot.load(loadViewer), policies);
}

async function loadFollowedIds(snapshot: Snapshot): Promise<ReadonlySet<ChannelId>> {
  const rows = await snapshot.load(loadOwnSubscriptions);
  return new Set(rows.filter((row) => row.isActive).map((row) => row.channelId));
}

/** All the viewer may know of, archived ones included. */
export async function loadKnownChannels(snapshot: Snapshot): Promise<readonly Channel[]> {
  const { caller, repositories } = snapshot;
  const viewer = await snapshot.load(loadViewer);
  const followed = await snapshot.load(loadFollowedIds);
  const channels = await repositories.channels.listAll(caller.realmId);
  return channels.filter((channel) => hasMetadataAccess(viewer, channel, followed.has(channel.id)));
}
