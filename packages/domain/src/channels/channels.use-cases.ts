import { type Actor, mustBeAdministrator } from '../access/actor.js';
import type { Caller, ChannelId, UserId } from '../kernel/ids.js';
import { enforce } from '../kernel/permission.js';
import type { Randomness } from '../kernel/ports.js';
import type { Snapshot } from '../kernel/register-queue.js';
import type { Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { slicesOf } from '../kernel/work.js';
import { canAdministerBot } from '../users/user-permissions.js';
import { loadViewer } from '../users/users.use-cases.js';
import { type Channel, type ChannelView, channelAddress, isPrivate, isWebPublic } from './channel.js';
import {
  canListSubscribers,
  canReadActive,
  canSeeMetadata,
  getReadableChannel,
  hasContentAccess,
  hasMetadataAccess,
  loadChannel,
} from './channel-access.js';
import type { ChannelFolder } from './channel-folders.js';
import type { ServerChannelConfig } from './create-channels.use-cases.js';
import { type DefaultChannelGroupView, listDefaultChannelGroups } from './default-channels.js';
import { canPostSomewhere, loadPosting } from './post-permissions.js';
import type { Subscription } from './subscriptions.js';
import { type NamedTopicPolicy, nameTopicPolicies } from './topic-policies.js';

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

export interface ListChannelsInput {
  readonly includePublic: boolean;
  readonly includeWebPublic: boolean;
  readonly includeSubscribed: boolean;
  readonly includeOwnerSubscribed: boolean;
  readonly includeReadable: boolean;
  /** Everything they may know of; the other choices do not matter then. */
  readonly includeAll: boolean;
  /** The same, for administrators only. */
  readonly includeAllActive: boolean;
  readonly excludeArchived: boolean;
  readonly includeDefault: boolean;
}

export interface ListChannelsOutput {
  /** By name, in code-point order. */
  readonly channels: readonly ChannelView[];
}

/** The channels of the realm, as far as the caller may know of them (channels §4.1). */
export class ListChannels {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError MUST_BE_ADMINISTRATOR */
  execute(caller: Caller, input: ListChannelsInput): Promise<ListChannelsOutput> {
    return this.uow.read(async (repositories) => {
      const actor = await repositories.actors.get(caller);
      if (input.includeAllActive) enforce(mustBeAdministrator(actor));
      const { realmId } = actor;
      const own = new Set(await repositories.channels.listSubscribedIds(realmId, actor.id));
      const ofOwner =
        input.includeOwnerSubscribed && actor.botOwnerId !== null
          ? new Set(await repositories.channels.listSubscribedIds(realmId, actor.botOwnerId))
          : new Set<ChannelId>();

      const isKnown = (channel: Channel) => hasMetadataAccess(actor, channel, own.has(channel.id));
      const isWanted = (channel: Channel): boolean => {
        if (input.includeAll || input.includeAllActive) return isKnown(channel);
        if (ofOwner.has(channel.id)) return true;
        if (input.includeDefault && channel.isDefault && isKnown(channel)) return true;
        if (input.includeReadable) return hasContentAccess(actor, channel, own.has(channel.id));
        return (
          (input.includePublic && actor.role !== 'guest' && !isPrivate(channel)) ||
          (input.includeWebPublic && isWebPublic(channel)) ||
          (input.includeSubscribed && own.has(channel.id))
        );
      };
      const isListed = (channel: Channel) => !(input.excludeArchived && channel.isArchived) && isWanted(channel);
      return { channels: await repositories.channels.listViewsWhere(realmId, isListed) };
    });
  }
}

/** One channel, archived or not (channels §4.2). */
export class GetChannel {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError UNKNOWN_CHANNEL */
  execute(caller: Caller, { channelId }: { readonly channelId: ChannelId }): Promise<ChannelView> {
    return this.uow.read(async (repositories) => {
      const actor = await repositories.actors.get(caller);
      await loadChannel(repositories, actor, channelId, canSeeMetadata);
      const [view] = await repositories.channels.listViews(actor.realmId, [channelId]);
      return view!;
    });
  }
}

/** The number of a channel that the caller can read and that is in use (channels §4.3). */
export class FindChannelId {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError UNKNOWN_CHANNEL */
  execute(caller: Caller, { name }: { readonly name: string }): Promise<ChannelId> {
    return this.uow.read(async (repositories) => {
      const actor = await repositories.actors.get(caller);
      return (await getReadableChannel(repositories, actor, name)).id;
    });
  }
}

export interface GetChannelAddressInput {
  readonly channelId: ChannelId;
  /** Whom what comes by mail is from: the caller, the bot of the mail gateway, or a bot of the caller's. Null: that of the gateway. */
  readonly senderId: UserId | null;
}

/** The address to which mail for a channel is sent, the same each time (channels §4.16). */
export class GetChannelAddress {
  static readonly inject = ['unitOfWork', 'randomness', 'serverChannelConfig'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly randomness: Randomness,
    private readonly options: Pick<ServerChannelConfig, 'mailGatewayPattern'>,
  ) {}

  /**
   * Null: the server has no mail gateway.
   * @throws DomainError UNKNOWN_CHANNEL, CANNOT_POST_IN_CHANNEL, UNKNOWN_BOT, NOT_PERMITTED, MUST_BE_OWNER
   */
  execute(caller: Caller, { channelId, senderId }: GetChannelAddressInput): Promise<string | null> {
    const { mailGatewayPattern } = this.options;
    return this.uow.write(async (tx) => {
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
      const known = await tx.channelAddresses.findToken(key);
      const token = known ?? this.randomness.uuid().replaceAll('-', '');
      if (known === null) await tx.channelAddresses.add(key, token);
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
