import { type Actor, isGuest, mustBeAdministrator } from '../access/actor.js';
import { byId } from '../kernel/export-parts.js';
import type { Caller, ChannelId, RealmId, UserId } from '../kernel/ids.js';
import { enforce } from '../kernel/permission.js';
import type { Randomness } from '../kernel/ports.js';
import type { Snapshot, SnapshotLoader } from '../kernel/register-queue.js';
import type { Repositories, Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { canAdministerBot } from '../users/user-permissions.js';
import { loadViewer } from '../users/users.use-cases.js';
import { type Channel, type ChannelView, channelAddress, isPrivate, isWebPublic } from './channel.js';
import {
  canListSubscribers,
  canReadActive,
  canReadContent,
  canSeeMetadata,
  getReadableChannel,
  hasContentAccess,
  hasMetadataAccess,
  loadChannel,
  visibleChannels,
} from './channel-access.js';
import type { ChannelFolder } from './channel-folders.js';
import type { ServerChannelConfig } from './create-channels.use-cases.js';
import { type DefaultChannelGroupView, listDefaultChannelGroups } from './default-channels.js';
import { canPostSomewhere, loadPosting } from './post-permissions.js';
import { reading } from './read-contexts.js';
import { sharedViewOf } from './shared-view.js';
import type { Subscription } from './subscriptions.js';
import { type NamedTopicPolicy, nameTopicPolicies } from './topic-policies.js';

/** Loads the ids of the channels in the client's state; null for all. Substituted for partial states. */
export const loadHeldChannelIds: SnapshotLoader<readonly ChannelId[] | null> = async () => null;

/** Loads the viewer's subscriptions to held channels, including former ones, by ascending channel. */
export async function loadOwnSubscriptions(snapshot: Snapshot): Promise<readonly Subscription[]> {
  const { realmId, userId } = snapshot.caller;
  const { channels } = snapshot.repositories;
  const held = await snapshot.load(loadHeldChannelIds);
  if (!held) return channels.listSubscriptions(realmId, userId);
  return (await channels.listSubscriptionsOf(realmId, [userId], held)).get(userId) ?? [];
}

/** Loads the held channels visible to the viewer, including archived ones, by name in code-point order. */
export async function loadChannels(snapshot: Snapshot): Promise<readonly ChannelView[]> {
  const { caller, repositories } = snapshot;
  const visible = (await snapshot.load(loadVisibleChannels)).map(({ id }) => id);
  const isShort = isGuest(await snapshot.load(loadViewer)) || (await snapshot.load(loadHeldChannelIds)) !== null;
  if (isShort) return repositories.channels.listViews(caller.realmId, visible);
  const ids = new Set(visible);
  return repositories.channels.listViewsWhere(caller.realmId, ({ id }) => ids.has(id));
}

/** Loads the active default channels, ascending; empty for guests. */
export async function loadDefaultChannelIds(snapshot: Snapshot): Promise<readonly ChannelId[]> {
  if ((await snapshot.load(loadViewer)).role === 'guest') return [];
  const visible = await snapshot.load(loadVisibleChannels);
  return visible.filter((channel) => channel.isDefault && !channel.isArchived).map((channel) => channel.id);
}

/** Returns an empty list for guests. */
export async function loadDefaultChannelGroups(snapshot: Snapshot): Promise<readonly DefaultChannelGroupView[]> {
  if ((await snapshot.load(loadViewer)).role === 'guest') return [];
  return listDefaultChannelGroups(snapshot.repositories, snapshot.caller.realmId);
}

/** Loads folders by order, including archived ones. */
export const loadChannelFolders = ({ caller, repositories }: Snapshot): Promise<readonly ChannelFolder[]> =>
  repositories.channelFolders.list(caller.realmId);

/** Loads the subscribers of channels with a subscriber list visible to the viewer. */
export async function loadSubscriberIds(snapshot: Snapshot): Promise<ReadonlyMap<ChannelId, readonly UserId[]>> {
  const { caller, repositories } = snapshot;
  const viewer = await snapshot.load(loadViewer);
  const subscribed = await snapshot.load(loadSubscribedIds);
  const visible = await snapshot.load(loadVisibleChannels);
  const listed = visible.filter((channel) => canListSubscribers(viewer, channel, subscribed.has(channel.id)).allowed);
  return repositories.channels.listSubscribers(
    caller.realmId,
    listed.map(({ id }) => id),
  );
}

/** Loads the viewer's policies for held channels that are active and visible, by ascending channel, then topic. */
export async function loadTopicPolicies(snapshot: Snapshot): Promise<readonly NamedTopicPolicy[]> {
  const { caller, repositories } = snapshot;
  const held = await snapshot.load(loadHeldChannelIds);
  const heldIds = held && new Set(held);
  const all = await repositories.topicPolicies.list(caller.realmId, caller.userId);
  const policies = heldIds ? all.filter(({ channelId }) => heldIds.has(channelId)) : all;
  return nameTopicPolicies(repositories, await snapshot.load(loadViewer), policies);
}

async function loadSubscribedIds(snapshot: Snapshot): Promise<ReadonlySet<ChannelId>> {
  const rows = await snapshot.load(loadOwnSubscriptions);
  return new Set(rows.filter((row) => row.isActive).map((row) => row.channelId));
}

/** Loads the held channels visible to the viewer, including archived ones. */
export async function loadVisibleChannels(snapshot: Snapshot): Promise<readonly Channel[]> {
  const { caller, repositories } = snapshot;
  const viewer = await snapshot.load(loadViewer);
  const subscribed = await snapshot.load(loadSubscribedIds);
  const held = await snapshot.load(loadHeldChannelIds);
  const list = (): Promise<readonly Channel[]> => {
    if (held) return repositories.channels.list(caller.realmId, held);
    if (isGuest(viewer)) return listOpenToGuest(repositories, caller.realmId, subscribed);
    return repositories.channels.listAll(caller.realmId);
  };
  const channels = await list();
  return channels.filter((channel) => hasMetadataAccess(viewer, channel, subscribed.has(channel.id)));
}

/** Returns the channels that a guest may see, without reading the others. */
async function listOpenToGuest(
  { channels }: Pick<Repositories, 'channels'>,
  realmId: RealmId,
  subscribedIds: ReadonlySet<ChannelId>,
): Promise<readonly Channel[]> {
  const webPublicIds = await channels.listWebPublicIds(realmId);
  return channels.list(realmId, [...new Set([...subscribedIds, ...webPublicIds])]);
}

export interface ListChannelsInput {
  readonly includePublic: boolean;
  readonly includeWebPublic: boolean;
  readonly includeSubscribed: boolean;
  readonly includeOwnerSubscribed: boolean;
  readonly includeReadable: boolean;
  /** True to include every channel the caller can see; other options are then ignored. */
  readonly includeAll: boolean;
  /** Legacy equivalent of `includeAll`, for administrators only. */
  readonly includeAllActive: boolean;
  readonly excludeArchived: boolean;
  readonly includeDefault: boolean;
}

export interface ListChannelsOutput {
  /** Channels by name in code-point order. */
  readonly channels: readonly ChannelView[];
}

/** Lists the realm's channels that are visible to the caller (channels §4.1). */
export class ListChannels {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError MUST_BE_ADMINISTRATOR */
  execute(caller: Caller, input: ListChannelsInput): Promise<ListChannelsOutput> {
    const listed: ChannelId[] = [];
    const read = async (repositories: Repositories): Promise<ListChannelsOutput> => {
      const shared = await sharedViewOf(repositories, caller);
      if (shared) {
        const isShared = ({ id, isArchived }: Channel) =>
          shared.channels.has(id) && !(input.excludeArchived && isArchived);
        const channels = (await repositories.channels.listViewsWhere(caller.realmId, isShared)).map(withoutCounts);
        listed.push(...channels.map(({ id }) => id));
        return { channels };
      }
      const actor = await repositories.actors.get(caller);
      if (input.includeAllActive) enforce(mustBeAdministrator(actor));
      const { realmId } = actor;
      const own = new Set(await repositories.channels.listSubscribedIds(realmId, actor.id));
      const ofOwner =
        input.includeOwnerSubscribed && actor.botOwnerId !== null
          ? new Set(await repositories.channels.listSubscribedIds(realmId, actor.botOwnerId))
          : new Set<ChannelId>();

      const isVisible = (channel: Channel) => hasMetadataAccess(actor, channel, own.has(channel.id));
      const isWanted = (channel: Channel): boolean => {
        if (input.includeAll || input.includeAllActive) return isVisible(channel);
        if (ofOwner.has(channel.id)) return true;
        if (input.includeDefault && channel.isDefault && isVisible(channel)) return true;
        if (input.includeReadable) return hasContentAccess(actor, channel, own.has(channel.id));
        return (
          (input.includePublic && actor.role !== 'guest' && !isPrivate(channel)) ||
          (input.includeWebPublic && isWebPublic(channel)) ||
          (input.includeSubscribed && own.has(channel.id))
        );
      };
      const isListed = (channel: Channel) => !(input.excludeArchived && channel.isArchived) && isWanted(channel);
      return { channels: await repositories.channels.listViewsWhere(realmId, isListed) };
    };
    return reading(this.uow, caller, () => this.uow.read(caller.realmId, read), { channelIds: listed });
  }
}

/** Counts include people and messages that readers of a shared view may not see. */
const withoutCounts = (view: ChannelView): ChannelView => ({ ...view, subscriberCount: 0, weeklyTraffic: null });

/** Lists unarchived channels of a set that are visible to the caller. */
export class ListChannelsById {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** Returns channels by ascending id; unknown and hidden ones are absent. */
  execute(caller: Caller, wanted: readonly ChannelId[]): Promise<readonly ChannelView[]> {
    return this.uow.read(caller.realmId, async (repositories) => {
      const actor = await repositories.actors.get(caller);
      const visible = await visibleChannels(repositories, actor, wanted);
      const active = visible.filter(({ isArchived }) => !isArchived);
      const ids = active.map(({ id }) => id);
      return byId(await repositories.channels.listViews(actor.realmId, ids));
    });
  }
}

/** Returns one channel, archived or not (channels §4.2). */
export class GetChannel {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError UNKNOWN_CHANNEL */
  execute(caller: Caller, { channelId }: { readonly channelId: ChannelId }): Promise<ChannelView> {
    return this.uow.read(caller.realmId, async (repositories) => {
      const actor = await repositories.actors.get(caller);
      await loadChannel(repositories, actor, channelId, canSeeMetadata);
      const [view] = await repositories.channels.listViews(actor.realmId, [channelId]);
      return view!;
    });
  }
}

/** Returns the id of a channel that the caller can read (channels §4.3). */
export class FindChannelId {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError UNKNOWN_CHANNEL */
  execute(
    caller: Caller,
    { name, includesArchived = false }: { readonly name: string; readonly includesArchived?: boolean },
  ): Promise<ChannelId> {
    return this.uow.read(caller.realmId, async (repositories) => {
      const actor = await repositories.actors.get(caller);
      return (await getReadableChannel(repositories, actor, name, includesArchived ? canReadContent : canReadActive))
        .id;
    });
  }
}

export interface GetChannelAddressInput {
  readonly channelId: ChannelId;
  /**
   * Sender of messages that arrive by email: the caller, the mail gateway's bot or a bot owned by the caller. Null
   * selects the gateway's bot.
   */
  readonly senderId: UserId | null;
}

/** Returns the stable email address of a channel (channels §4.16). */
export class GetChannelAddress {
  static readonly inject = ['unitOfWork', 'randomness', 'serverChannelConfig'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly randomness: Randomness,
    private readonly options: Pick<ServerChannelConfig, 'mailGatewayPattern'>,
  ) {}

  /**
   * Returns null if the server has no mail gateway.
   * @throws DomainError UNKNOWN_CHANNEL, CANNOT_POST_IN_CHANNEL, UNKNOWN_BOT, NOT_PERMITTED, MUST_BE_OWNER
   */
  execute(caller: Caller, { channelId, senderId }: GetChannelAddressInput): Promise<string | null> {
    const { mailGatewayPattern } = this.options;
    return this.uow.write(caller.realmId, async (tx) => {
      const actor = await tx.actors.get(caller);
      const { channel } = await loadChannel(tx, actor, channelId, canReadActive);
      enforce(canPostSomewhere(await loadPosting(tx, actor, channel, null)));
      const key = {
        realmId: actor.realmId,
        channelId,
        creatorId: actor.id,
        senderId: await checkedSender(tx, actor, senderId),
      };
      if (mailGatewayPattern === null) return null;
      const existing = await tx.channelAddresses.findToken(key);
      const token = existing ?? this.randomness.uuid().replaceAll('-', '');
      if (existing === null) await tx.channelAddresses.add(key, token);
      return channelAddress(mailGatewayPattern, channel, token);
    });
  }
}

async function checkedSender(tx: Transaction, actor: Actor, senderId: UserId | null): Promise<UserId> {
  const gateway = await tx.users.findSystemBot(actor.realmId, 'mailGateway');
  if (senderId === null || senderId === gateway.id) return gateway.id;
  if (senderId === actor.id) return actor.id;
  enforce(canAdministerBot(actor, await tx.users.find(actor.realmId, senderId)));
  return senderId;
}
