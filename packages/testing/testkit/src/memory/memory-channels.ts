import {
  CHANNEL_PERMISSIONS,
  type Channel,
  type ChannelRepository,
  type ChannelView,
  ROWS_WITH_USED_COLORS,
  type Subscription,
  type UsersOfAll,
  weeklyTraffic,
} from '@parley/domain/channels';
import {
  type ChannelFolderId,
  type ChannelId,
  compareCodePoints,
  DomainError,
  foldCase,
  type RealmId,
  type RecipientId,
  type UnixSeconds,
  type UserId,
} from '@parley/domain/kernel';
import { groupSettingValues } from './memory-groups.js';
import { ascending, type MemoryUnit } from './tables.js';

declare module './tables.js' {
  interface Tables {
    readonly channels: Map<ChannelId, Channel>;
    readonly subscriptions: Map<UserId, ReadonlyMap<ChannelId, Subscription>>;
  }
}

const SECONDS_PER_DAY = 86_400;
const SENDER_GROUPS = ['everyone', 'administrators', 'fullMembers', 'moderators'] as const;

export class MemoryChannels implements ChannelRepository {
  constructor(private readonly unit: MemoryUnit) {}

  async find(realmId: RealmId, id: ChannelId): Promise<Channel | null> {
    return (await this.list(realmId, [id]))[0] ?? null;
  }

  async get(realmId: RealmId, id: ChannelId): Promise<Channel> {
    const channel = await this.find(realmId, id);
    if (!channel) throw new DomainError('UNKNOWN_CHANNEL', 'Invalid channel ID');
    return channel;
  }

  async findByName(realmId: RealmId, name: string): Promise<Channel | null> {
    return (await this.listByName(realmId, [name]))[0] ?? null;
  }

  async listByName(realmId: RealmId, names: readonly string[]): Promise<readonly Channel[]> {
    const wanted = new Set(names.map(foldCase));
    return (await this.listAll(realmId)).filter((channel) => wanted.has(foldCase(channel.name)));
  }

  async list(realmId: RealmId, ids: readonly ChannelId[]): Promise<readonly Channel[]> {
    return (await this.listAll(realmId)).filter((channel) => ids.includes(channel.id));
  }

  async listAll(realmId: RealmId): Promise<readonly Channel[]> {
    const own = [...this.unit.read('channels').values()].filter((channel) => channel.realmId === realmId);
    return own.sort((a, b) => a.id - b.id);
  }

  async listDefaults(realmId: RealmId): Promise<readonly Channel[]> {
    return (await this.listAll(realmId)).filter(({ isDefault, isArchived }) => isDefault && !isArchived);
  }

  listViews(realmId: RealmId, ids: readonly ChannelId[]): Promise<readonly ChannelView[]> {
    return this.listViewsWhere(realmId, ({ id }) => ids.includes(id));
  }

  async listViewsWhere(realmId: RealmId, isWanted: (channel: Channel) => boolean): Promise<readonly ChannelView[]> {
    const channels = (await this.listAll(realmId)).filter(isWanted).sort((a, b) => compareCodePoints(a.name, b.name));
    return channels.map((channel) => ({
      ...channel,
      permissions: groupSettingValues(this.unit, CHANNEL_PERMISSIONS, channel.permissions),
      sendersSystemGroup: this.sendersSystemGroup(channel),
      subscriberCount: this.activeSubscribers(channel.id).length,
      weeklyTraffic: this.weeklyTraffic(channel),
    }));
  }

  async listRecentlyActiveIds(realmId: RealmId, after: ChannelId | null, limit: number): Promise<readonly ChannelId[]> {
    return (await this.listAll(realmId))
      .filter(({ id, isRecentlyActive }) => isRecentlyActive && id > (after ?? 0))
      .map(({ id }) => id)
      .slice(0, limit);
  }

  async hasMoreThan(realmId: RealmId, count: number): Promise<boolean> {
    return (await this.listAll(realmId)).length > count;
  }

  async listIdsNamedLike(realmId: RealmId, text: string, limit: number): Promise<readonly ChannelId[]> {
    return (await this.listAll(realmId))
      .filter(({ name }) => foldCase(name).includes(foldCase(text)))
      .sort((a, b) => compareCodePoints(foldCase(a.name), foldCase(b.name)))
      .map(({ id }) => id)
      .slice(0, limit);
  }

  async listNotableIds(realmId: RealmId, userId: UserId, limit: number): Promise<readonly ChannelId[]> {
    const open = (await this.listAll(realmId)).filter(({ isArchived }) => !isArchived).reverse();
    const rows = (await this.listSubscriptions(realmId, userId)).filter(({ isActive }) => isActive);
    const among = (ids: readonly ChannelId[]) => open.map(({ id }) => id).filter((id) => ids.includes(id));
    const subscribed = among(rows.map(({ channelId }) => channelId));
    return [
      among(rows.filter(({ isPinned }) => isPinned).map(({ channelId }) => channelId)).slice(0, limit),
      open
        .filter(({ isRecentlyActive }) => isRecentlyActive)
        .map(({ id }) => id)
        .slice(0, limit),
      subscribed.slice(0, limit),
      subscribed.slice(-limit).reverse(),
    ].flat();
  }

  async listMutedIds(realmId: RealmId, userId: UserId): Promise<readonly ChannelId[]> {
    const rows = await this.listSubscriptions(realmId, userId);
    return rows.filter(({ isActive, isMuted }) => isActive && isMuted).map(({ channelId }) => channelId);
  }

  async filterIdle(realmId: RealmId, ids: readonly ChannelId[], since: UnixSeconds): Promise<readonly ChannelId[]> {
    const messages = [...this.unit.read('messages').values()].filter(({ sentAt }) => sentAt >= since);
    const inUse = new Set(messages.map(({ recipientId }) => recipientId));
    return (await this.list(realmId, ids))
      .filter(({ createdAt, recipientId }) => createdAt < since && !inUse.has(recipientId))
      .map(({ id }) => id);
  }

  async isSubscribed(realmId: RealmId, channelId: ChannelId, userId: UserId): Promise<boolean> {
    return (await this.findSubscription(realmId, channelId, userId))?.isActive ?? false;
  }

  async findSubscription(realmId: RealmId, channelId: ChannelId, userId: UserId): Promise<Subscription | null> {
    const subscription = this.unit.read('subscriptions').get(userId)?.get(channelId);
    return subscription?.realmId === realmId ? subscription : null;
  }

  async listSubscribedIds(realmId: RealmId, userId: UserId): Promise<readonly ChannelId[]> {
    const subscriptions = await this.listSubscriptions(realmId, userId);
    return subscriptions.filter(({ isActive }) => isActive).map(({ channelId }) => channelId);
  }

  async listSubscriptions(realmId: RealmId, userId: UserId): Promise<readonly Subscription[]> {
    return [...(this.unit.read('subscriptions').get(userId)?.values() ?? [])]
      .filter((subscription) => subscription.realmId === realmId)
      .sort((a, b) => a.channelId - b.channelId);
  }

  async listSubscriptionsOf(
    realmId: RealmId,
    userIds: readonly UserId[],
    channelIds: readonly ChannelId[],
  ): Promise<ReadonlyMap<UserId, readonly Subscription[]>> {
    const subscriptions = new Map<UserId, readonly Subscription[]>();
    for (const id of [...userIds].sort(ascending)) {
      const rows = await this.listSubscriptions(realmId, id);
      subscriptions.set(
        id,
        rows.filter(({ channelId }) => channelIds.includes(channelId)),
      );
    }
    return subscriptions;
  }

  async listColors(
    realmId: RealmId,
    userIds: readonly UserId[],
    _palette: readonly string[],
  ): Promise<ReadonlyMap<UserId, readonly string[]>> {
    const colors = new Map<UserId, readonly string[]>();
    for (const id of userIds) {
      const rows = (await this.listSubscriptions(realmId, id)).slice(0, ROWS_WITH_USED_COLORS);
      if (rows.length > 0) colors.set(id, [...new Set(rows.map(({ color }) => color))]);
    }
    return colors;
  }

  async hasChannelsInFolder(realmId: RealmId, folderId: ChannelFolderId): Promise<boolean> {
    return (await this.listAll(realmId)).some((channel) => channel.folderId === folderId);
  }

  async listWebPublicIds(realmId: RealmId): Promise<readonly ChannelId[]> {
    return (await this.listAll(realmId)).filter(({ privacy }) => privacy === 'webPublic').map(({ id }) => id);
  }

  async hasWebPublic(realmId: RealmId): Promise<boolean> {
    return (await this.listAll(realmId)).some(({ privacy, isArchived }) => privacy === 'webPublic' && !isArchived);
  }

  async listSubscribers(
    realmId: RealmId,
    channelIds: readonly ChannelId[],
  ): Promise<ReadonlyMap<ChannelId, readonly UserId[]>> {
    const subscribers = new Map<ChannelId, readonly UserId[]>();
    for (const id of channelIds) {
      const isHere = this.unit.read('channels').get(id)?.realmId === realmId;
      subscribers.set(id, isHere ? this.activeSubscribers(id) : []);
    }
    return subscribers;
  }

  async filterSubscribed(
    realmId: RealmId,
    channelId: ChannelId,
    userIds: readonly UserId[],
  ): Promise<readonly UserId[]> {
    const subscribed = new Set<UserId>();
    for (const id of userIds) if (await this.isSubscribed(realmId, channelId, id)) subscribed.add(id);
    return [...subscribed].sort(ascending);
  }

  async filterWithGuestSubscribers(realmId: RealmId, channelIds: readonly ChannelId[]): Promise<readonly ChannelId[]> {
    const subscribed: ChannelId[] = [];
    for (const [id, userIds] of await this.listSubscribers(realmId, channelIds)) {
      if (userIds.some((userId) => this.unit.read('users').get(userId)?.user.role === 'guest')) subscribed.push(id);
    }
    return subscribed.sort(ascending);
  }

  async filterWithAll(
    realmId: RealmId,
    channelIds: readonly ChannelId[],
    users: UsersOfAll,
  ): Promise<readonly ChannelId[]> {
    const subscriptions = [...this.unit.read('subscriptions')];
    const isSubscribed = (userId: UserId, id: ChannelId) =>
      this.unit.read('subscriptions').get(userId)?.get(id)?.isActive === true;
    const userIds =
      'subscribersOf' in users
        ? subscriptions.map(([id]) => id).filter((id) => id !== users.except && isSubscribed(id, users.subscribersOf))
        : users;
    return (await this.list(realmId, channelIds))
      .map(({ id }) => id)
      .filter((id) => userIds.every((userId) => isSubscribed(userId, id)));
  }

  async countSubscribers(realmId: RealmId, channelId: ChannelId): Promise<number> {
    return (await this.listSubscribers(realmId, [channelId])).get(channelId)!.length;
  }

  async add(
    newChannel: Omit<Channel, 'id' | 'recipientId' | 'version'>,
    reserved: ChannelId | null = null,
  ): Promise<Channel> {
    await this.assertNameAvailable(newChannel, null);
    const { realmId } = newChannel;
    const channelId = reserved ?? this.unit.nextNumber<ChannelId>('channel');
    const recipientId = this.unit.nextNumber<RecipientId>('recipient');
    const channel: Channel = { ...newChannel, id: channelId, recipientId, version: 1 };
    this.unit.change('recipients').set(recipientId, { kind: 'channel', id: recipientId, realmId, channelId });
    this.unit.change('channels').set(channelId, channel);
    return channel;
  }

  async update(changed: Channel): Promise<Channel> {
    const stored = await this.find(changed.realmId, changed.id);
    if (!stored) throw new Error(`Realm ${changed.realmId} has no channel ${changed.id}`);
    await this.assertNameAvailable(changed, changed.id);
    const channel: Channel = { ...changed, version: stored.version + 1 };
    this.unit.change('channels').set(channel.id, channel);
    return channel;
  }

  async putSubscriptions(subscriptions: readonly Subscription[]): Promise<void> {
    const table = this.unit.change('subscriptions');
    for (const row of subscriptions) {
      table.set(row.userId, new Map(table.get(row.userId)).set(row.channelId, row));
    }
  }

  private activeSubscribers(channelId: ChannelId): UserId[] {
    const users = this.unit.read('users');
    const subscribers: UserId[] = [];
    for (const [userId, rows] of this.unit.read('subscriptions')) {
      if (rows.get(channelId)?.isActive && users.get(userId)?.user.isActive) subscribers.push(userId);
    }
    return subscribers.sort(ascending);
  }

  private sendersSystemGroup({ permissions }: Channel): ChannelView['sendersSystemGroup'] {
    const systemName = this.unit.read('groups').get(permissions.canSendMessage)?.group.systemName;
    return SENDER_GROUPS.find((name) => name === systemName) ?? null;
  }

  private weeklyTraffic({ recipientId, createdAt }: Channel): number | null {
    const now = this.unit.clock.now();
    const recent = [...this.unit.read('messages').values()].filter(
      (message) => message.recipientId === recipientId && message.sentAt >= now - 28 * SECONDS_PER_DAY,
    );
    return weeklyTraffic(recent.length, Math.floor((now - createdAt) / SECONDS_PER_DAY));
  }

  private async assertNameAvailable(
    { realmId, name }: Pick<Channel, 'realmId' | 'name'>,
    except: ChannelId | null,
  ): Promise<void> {
    const holder = await this.findByName(realmId, name);
    if (holder && holder.id !== except) {
      throw new DomainError('CHANNEL_NAME_TAKEN', `Channel '${name}' already exists`, {
        channelId: holder.id,
        channelName: name,
      });
    }
  }
}
