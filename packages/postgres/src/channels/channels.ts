import {
  type Channel,
  type ChannelRepository,
  type ChannelView,
  hasWeeklyTraffic,
  type Subscription,
  weeklyTraffic,
} from '@parley/domain/channels';
import {
  type ChannelFolderId,
  type ChannelId,
  type Clock,
  DomainError,
  foldCase,
  type GroupId,
  type RealmId,
  type RecipientId,
  slicesOf,
  type UnixSeconds,
  type UserId,
} from '@parley/domain/kernel';
import type { TopicReads } from '@parley/domain/messages';
import {
  ascending,
  ChannelCache,
  type ChannelRow,
  fromChannel,
  type GroupDependents,
  GroupValues,
  PERMISSION_NAMES,
  type Quarantine,
  type SubscriptionRow,
  toChannels,
  toSubscription,
} from '@parley/storage';
import type { Connection } from '../engine/connection.js';
import type { PostgresFeature } from '../engine/feature.js';
import { KnownVersions } from '../engine/known-versions.js';
import type { PostgresGroupRepository } from '../groups/groups.js';
import { SentSince } from './sent-since.js';
import { SubscriptionWrites } from './subscription-writes.js';

const SECONDS_PER_DAY = 86_400;
const NONE_COUNTED: ReadonlyMap<RecipientId, number> = new Map();
const TRAFFIC_DAYS = 28;
/** Rows read per statement. */
const READ_AT_A_TIME = 500;
const VIEWED_AT_A_TIME = 1000;

/** Channel with what tells whether cached data about it is still valid. */
type Head = readonly [id: ChannelId, version: number, subscriberCount: number];

interface KnownChannels {
  readonly versions: KnownVersions<number>;
  readonly idsByName: KnownVersions<ChannelId, string>;
  readonly subscriptions: KnownVersions<SubscriptionRow, string>;
}

export class PostgresChannelRepository implements ChannelRepository {
  private readonly sentSince: SentSince;
  private readonly headOf;
  private readonly heads;
  private readonly allHeads;
  private readonly viewHeads;
  private readonly allViewHeads;
  private readonly idByName;
  private readonly rowsByName;
  private readonly rows;
  private lastSubscription: {
    readonly unit: Connection['record'];
    readonly key: string;
    readonly row: Promise<SubscriptionRow | undefined>;
  } | null = null;
  private readonly subscribedIds;
  private readonly subscriptionRow;
  private readonly subscriptionsOfUser;
  private readonly subscriptionRowsOf;
  private readonly colors;
  private readonly subscribers;
  private readonly subscribedAmong;
  private readonly withGuestSubscribers;
  private readonly recentlyActive;
  private readonly idle;
  private readonly inFolder;
  private readonly webPublic;
  private readonly insert;
  private readonly insertWithId;
  private readonly insertRecipient;
  private readonly store;
  private readonly writes: SubscriptionWrites;

  constructor(
    private readonly connection: Connection,
    private readonly cache: ChannelCache,
    private readonly known: KnownChannels,
    private readonly clock: Clock,
    private readonly groups: Pick<
      PostgresGroupRepository,
      'settingValues' | 'systemGroupIds' | 'nobodyOf' | 'valuesVersionOf'
    >,
    private readonly topics: Pick<TopicReads, 'countSince'>,
    private readonly quarantine: Quarantine,
  ) {
    this.sentSince = new SentSince(connection);
    this.writes = new SubscriptionWrites(connection);
    const heads = (where: string, order: string) =>
      connection.tuples<Head>(
        `SELECT id, version, subscriber_count FROM channel WHERE realm_id = $1 ${where} ORDER BY ${order}`,
      );
    this.headOf = heads('AND id = $2', 'id');
    this.heads = heads('AND id = ANY($2::bigint[])', 'id');
    this.allHeads = heads('', 'id');
    this.viewHeads = heads('AND id = ANY($2::bigint[])', 'name');
    this.allViewHeads = heads('', 'name');
    this.idByName = connection.values<ChannelId>('SELECT id FROM channel WHERE realm_id = $1 AND name_key = $2');
    this.rowsByName = connection.rows<ChannelRow>(
      'SELECT * FROM channel WHERE realm_id = $1 AND name_key = ANY($2::text[]) ORDER BY id',
    );
    this.rows = connection.rows<ChannelRow>('SELECT * FROM channel WHERE realm_id = $1 AND id = ANY($2::bigint[])');
    this.subscribedIds = connection.values<ChannelId>(
      'SELECT channel_id FROM subscription WHERE user_id = $1 AND realm_id = $2 AND is_active = 1 ORDER BY channel_id',
    );
    this.subscriptionRow = connection.rows<SubscriptionRow>(
      'SELECT * FROM subscription WHERE user_id = $1 AND channel_id = $2 AND realm_id = $3',
    );
    this.subscriptionsOfUser = connection.rows<SubscriptionRow>(
      'SELECT * FROM subscription WHERE user_id = $1 AND realm_id = $2 ORDER BY channel_id',
    );
    this.subscriptionRowsOf = connection.rows<SubscriptionRow>(
      `SELECT * FROM subscription
       WHERE user_id = ANY($1::bigint[]) AND channel_id = ANY($2::bigint[]) AND realm_id = $3
       ORDER BY user_id, channel_id`,
    );
    this.colors = connection.tuples<readonly [UserId, string]>(
      'SELECT DISTINCT user_id, color FROM subscription WHERE user_id = ANY($1::bigint[]) AND realm_id = $2',
    );
    this.subscribers = connection.tuples<readonly [ChannelId, UserId[]]>(
      `SELECT s.channel_id, array_agg(s.user_id ORDER BY s.user_id)
       FROM subscription s JOIN "user" u ON u.id = s.user_id AND u.is_active = 1
       WHERE s.channel_id = ANY($1::bigint[]) AND s.is_active = 1 AND u.realm_id = $2
       GROUP BY s.channel_id`,
    );
    this.subscribedAmong = connection.values<UserId>(
      `SELECT user_id FROM subscription
       WHERE user_id = ANY($1::bigint[]) AND channel_id = $2 AND realm_id = $3 AND is_active = 1
       ORDER BY user_id`,
    );
    this.withGuestSubscribers = connection.values<ChannelId>(
      `SELECT c.id FROM unnest($1::bigint[]) c (id) WHERE EXISTS (
         SELECT 1 FROM subscription s JOIN "user" u ON u.id = s.user_id
         WHERE s.channel_id = c.id AND s.is_active = 1 AND u.role = 'guest' AND u.is_active = 1 AND u.realm_id = $2)
       ORDER BY c.id`,
    );
    this.recentlyActive = connection.values<ChannelId>(
      'SELECT id FROM channel WHERE realm_id = $1 AND is_recently_active = 1 AND id > $2 ORDER BY id LIMIT $3',
    );
    this.idle = connection.values<ChannelId>(
      `SELECT c.id FROM channel c
       WHERE c.id = ANY($1::bigint[]) AND c.realm_id = $2 AND c.created_at < $3
         AND NOT EXISTS (SELECT 1 FROM message m WHERE m.recipient_id = c.recipient_id AND m.id >= $4)
       ORDER BY c.id`,
    );
    this.inFolder = connection.values<1>('SELECT 1 FROM channel WHERE folder_id = $1 AND realm_id = $2 LIMIT 1');
    this.webPublic = connection.values<1>(
      "SELECT 1 FROM channel WHERE realm_id = $1 AND privacy = 'webPublic' AND is_archived = 0 LIMIT 1",
    );
    const columns = `realm_id, version, recipient_id, name, name_key, description, rendered_description, privacy, is_archived,
      creator_id, created_at, message_retention_days, topics_policy, folder_id, is_default, is_recently_active,
      first_message_id, permissions`;
    const values = '$1, 1, 0, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16';
    const unlessTaken = 'ON CONFLICT (realm_id, name_key) DO NOTHING RETURNING id';
    this.insert = connection.values<ChannelId>(`INSERT INTO channel (${columns}) VALUES (${values}) ${unlessTaken}`);
    this.insertWithId = connection.values<ChannelId>(
      `INSERT INTO channel (${columns}, id) VALUES (${values}, $17) ${unlessTaken}`,
    );
    this.insertRecipient = connection.values<RecipientId>(
      `WITH added AS (INSERT INTO recipient (realm_id, channel_id) VALUES ($1, $2) RETURNING id, channel_id)
       UPDATE channel SET recipient_id = added.id FROM added WHERE channel.id = added.channel_id RETURNING added.id`,
    );
    this.store = connection.values<number>(
      `UPDATE channel
       SET version = version + 1, name = $1, name_key = $2, description = $3, rendered_description = $4, privacy = $5,
           is_archived = $6, creator_id = $7, created_at = $8, message_retention_days = $9, topics_policy = $10,
           folder_id = $11, is_default = $12, is_recently_active = $13, first_message_id = $14, permissions = $15
       WHERE id = $16 AND realm_id = $17 AND NOT EXISTS (
         SELECT 1 FROM channel o WHERE o.realm_id = $17 AND o.name_key = $2 AND o.id <> $16)
       RETURNING version`,
    );
  }

  async find(realmId: RealmId, id: ChannelId): Promise<Channel | null> {
    const version = await this.known.versions.of(
      this.connection,
      realmId,
      id,
      async () => (await this.headOf.get(realmId, id))?.[1],
    );
    return version === undefined ? null : (await this.load(realmId, [[id, version]]))[0]!;
  }

  async findByName(realmId: RealmId, name: string): Promise<Channel | null> {
    const key = foldCase(name);
    const read = () => this.idByName.get(realmId, key);
    const id = await this.known.idsByName.of(this.connection, realmId, `${realmId}:${key}`, read);
    return id === undefined ? null : this.find(realmId, id);
  }

  async listByName(realmId: RealmId, names: readonly string[]): Promise<readonly Channel[]> {
    return this.toChannels(realmId, await this.rowsByName.all(realmId, names.map(foldCase)));
  }

  async list(realmId: RealmId, ids: readonly ChannelId[]): Promise<readonly Channel[]> {
    return this.load(realmId, await this.heads.all(realmId, ids));
  }

  async listAll(realmId: RealmId): Promise<readonly Channel[]> {
    return this.load(realmId, await this.allHeads.all(realmId));
  }

  /** Returns channels in the given order, cached ones if the version matches. */
  private async load(
    realmId: RealmId,
    heads: readonly (readonly [ChannelId, number, ...unknown[]])[],
  ): Promise<readonly Channel[]> {
    const loaded = new Map<ChannelId, Channel>();
    const missing: ChannelId[] = [];
    for (const [id, version] of heads) {
      const channel = this.cache.find(id, version);
      if (channel) loaded.set(id, channel);
      else missing.push(id);
    }
    for (const ids of slicesOf(missing, READ_AT_A_TIME)) {
      for (const channel of await this.toChannels(realmId, await this.rows.all(realmId, ids))) {
        this.cache.put(this.connection, channel);
        loaded.set(channel.id, channel);
      }
    }
    return heads.map(([id]) => loaded.get(id)!);
  }

  async listViews(realmId: RealmId, wanted: readonly ChannelId[]): Promise<readonly ChannelView[]> {
    const heads = await this.viewHeads.all(realmId, wanted);
    return this.viewsOf(
      realmId,
      await this.load(realmId, heads),
      heads.map(([, , count]) => count),
    );
  }

  async listViewsWhere(realmId: RealmId, isWanted: (channel: Channel) => boolean): Promise<readonly ChannelView[]> {
    const heads = await this.allViewHeads.all(realmId);
    const channels: Channel[] = [];
    const counts: number[] = [];
    (await this.load(realmId, heads)).forEach((channel, n) => {
      if (!isWanted(channel)) return;
      channels.push(channel);
      counts.push(heads[n]![2]);
    });
    const views: ChannelView[] = [];
    for (let from = 0; from < channels.length; from += VIEWED_AT_A_TIME) {
      const to = from + VIEWED_AT_A_TIME;
      for (const view of await this.viewsOf(realmId, channels.slice(from, to), counts.slice(from, to)))
        views.push(view);
    }
    return views;
  }

  /** Returns views of channels from this snapshot in the same order. */
  private async viewsOf(
    realmId: RealmId,
    channels: readonly Channel[],
    subscriberCounts: readonly number[],
  ): Promise<readonly ChannelView[]> {
    const valuesVersion = await this.groups.valuesVersionOf(realmId);
    const dependents = await this.groupDependents(realmId, channels, valuesVersion);
    const now = this.clock.now();
    const recent = await this.countRecent(realmId, channels, now);
    return channels.map((channel, n) => {
      const counts = {
        subscriberCount: subscriberCounts[n]!,
        weeklyTraffic: weeklyTraffic(recent.get(channel.recipientId) ?? 0, ageInDays(channel, now)),
      };
      return this.cache.viewOf(this.connection, channel, dependents[n]!, counts, valuesVersion);
    });
  }

  /** Counts recent messages of channels with visible traffic; channels without recent messages are skipped. */
  private async countRecent(
    realmId: RealmId,
    channels: readonly Channel[],
    now: UnixSeconds,
  ): Promise<ReadonlyMap<RecipientId, number>> {
    const counted: RecipientId[] = [];
    for (const channel of channels) {
      if (channel.isRecentlyActive && hasWeeklyTraffic(ageInDays(channel, now))) counted.push(channel.recipientId);
    }
    if (counted.length === 0) return NONE_COUNTED;
    return this.topics.countSince(realmId, counted, now - TRAFFIC_DAYS * SECONDS_PER_DAY);
  }

  /** Returns values in the order of the channels. */
  private async groupDependents(
    realmId: RealmId,
    channels: readonly Channel[],
    valuesVersion: number,
  ): Promise<readonly GroupDependents[]> {
    const known = channels.map((channel) => this.cache.findGroupDependents(channel, valuesVersion));
    const granted = new Set<GroupId>();
    channels.forEach(({ permissions }, n) => {
      if (!known[n]) for (const name of PERMISSION_NAMES) granted.add(permissions[name]);
    });
    if (granted.size === 0) return known as readonly GroupDependents[];
    const values = new GroupValues(await this.groups.settingValues(realmId, [...granted]));
    const system = await this.groups.systemGroupIds(realmId);
    return channels.map(
      ({ permissions }, n) =>
        known[n] ?? {
          permissions: this.cache.permissions.of(permissions, values),
          sendersSystemGroup: SENDER_GROUPS.find((name) => system[name] === permissions.canSendMessage) ?? null,
        },
    );
  }

  async listRecentlyActiveIds(realmId: RealmId, after: ChannelId | null, limit: number): Promise<readonly ChannelId[]> {
    return this.recentlyActive.all(realmId, after ?? 0, limit);
  }

  async filterIdle(realmId: RealmId, ids: readonly ChannelId[], since: UnixSeconds): Promise<readonly ChannelId[]> {
    if (ids.length === 0) return [];
    return this.idle.all(ids, realmId, since, await this.sentSince.firstId(realmId, since));
  }

  async hasChannelsInFolder(realmId: RealmId, folderId: ChannelFolderId): Promise<boolean> {
    return (await this.inFolder.get(folderId, realmId)) !== undefined;
  }

  async isSubscribed(realmId: RealmId, channelId: ChannelId, userId: UserId): Promise<boolean> {
    return (await this.subscriptionIn(realmId, channelId, userId))?.is_active === 1;
  }

  async findSubscription(realmId: RealmId, channelId: ChannelId, userId: UserId): Promise<Subscription | null> {
    const row = await this.subscriptionIn(realmId, channelId, userId);
    return row ? toSubscription(row) : null;
  }

  /** Reads the row once for the usual questions of a unit about one user and channel. */
  private subscriptionIn(realmId: RealmId, channelId: ChannelId, userId: UserId): Promise<SubscriptionRow | undefined> {
    const key = `${realmId}:${channelId}:${userId}`;
    const { record } = this.connection;
    if (this.lastSubscription?.unit !== record || this.lastSubscription.key !== key) {
      const read = () => this.subscriptionRow.get(userId, channelId, realmId);
      const row = this.known.subscriptions.of(this.connection, realmId, key, read);
      this.lastSubscription = { unit: record, key, row };
    }
    return this.lastSubscription.row;
  }

  async listSubscribedIds(realmId: RealmId, userId: UserId): Promise<readonly ChannelId[]> {
    return this.subscribedIds.all(userId, realmId);
  }

  async listSubscriptions(realmId: RealmId, userId: UserId): Promise<readonly Subscription[]> {
    return (await this.subscriptionsOfUser.all(userId, realmId)).map(toSubscription);
  }

  async listSubscriptionsOf(
    realmId: RealmId,
    userIds: readonly UserId[],
    channelIds: readonly ChannelId[],
  ): Promise<ReadonlyMap<UserId, readonly Subscription[]>> {
    const subscriptions = new Map<UserId, Subscription[]>();
    for (const id of [...userIds].sort(ascending)) subscriptions.set(id, []);
    for (const row of await this.subscriptionRowsOf.all(userIds, channelIds, realmId)) {
      subscriptions.get(row.user_id)!.push(toSubscription(row));
    }
    return subscriptions;
  }

  async listColors(realmId: RealmId, userIds: readonly UserId[]): Promise<ReadonlyMap<UserId, readonly string[]>> {
    const colors = new Map<UserId, string[]>();
    for (const [id, color] of await this.colors.all(userIds, realmId))
      colors.set(id, [...(colors.get(id) ?? []), color]);
    return colors;
  }

  async hasWebPublic(realmId: RealmId): Promise<boolean> {
    return (await this.webPublic.get(realmId)) !== undefined;
  }

  async listSubscribers(
    realmId: RealmId,
    channelIds: readonly ChannelId[],
  ): Promise<ReadonlyMap<ChannelId, readonly UserId[]>> {
    const subscribers = new Map<ChannelId, readonly UserId[]>(channelIds.map((id) => [id, []]));
    for (const [id, userIds] of await this.subscribers.all(channelIds, realmId)) subscribers.set(id, userIds);
    return subscribers;
  }

  async filterSubscribed(
    realmId: RealmId,
    channelId: ChannelId,
    userIds: readonly UserId[],
  ): Promise<readonly UserId[]> {
    return this.subscribedAmong.all(userIds, channelId, realmId);
  }

  async filterWithGuestSubscribers(realmId: RealmId, channelIds: readonly ChannelId[]): Promise<readonly ChannelId[]> {
    return this.withGuestSubscribers.all([...new Set(channelIds)], realmId);
  }

  async countSubscribers(realmId: RealmId, channelId: ChannelId): Promise<number> {
    return (await this.headOf.get(realmId, channelId))?.[2] ?? 0;
  }

  async add(
    channel: Omit<Channel, 'id' | 'recipientId' | 'version'>,
    reserved: ChannelId | null = null,
  ): Promise<Channel> {
    this.connection.disableCaching();
    const values = [channel.realmId, ...fromChannel(channel)];
    const id = await (reserved === null ? this.insert.get(...values) : this.insertWithId.get(...values, reserved));
    if (id === undefined) throw await this.nameTaken(channel);
    const recipientId = (await this.insertRecipient.get(channel.realmId, id))!;
    return { ...channel, id, recipientId, version: 1 };
  }

  async update(channel: Channel): Promise<Channel> {
    this.connection.disableCaching();
    const version = await this.store.get(...fromChannel(channel), channel.id, channel.realmId);
    if (version !== undefined) return { ...channel, version };
    if ((await this.idByName.get(channel.realmId, foldCase(channel.name))) !== undefined)
      throw await this.nameTaken(channel);
    throw new Error(`Realm ${channel.realmId} has no channel ${channel.id}`);
  }

  async putSubscriptions(subscriptions: readonly Subscription[]): Promise<void> {
    if (subscriptions.length === 0) return;
    this.connection.disableCaching('subscriptions');
    this.lastSubscription = null;
    this.writes.put(subscriptions);
  }

  private async nameTaken({ realmId, name }: Pick<Channel, 'realmId' | 'name'>): Promise<DomainError> {
    const channelId = (await this.idByName.get(realmId, foldCase(name)))!;
    return new DomainError('CHANNEL_NAME_TAKEN', `Channel '${name}' already exists`, { channelId, channelName: name });
  }

  private async toChannels(realmId: RealmId, rows: readonly ChannelRow[]): Promise<readonly Channel[]> {
    const columns = Object.fromEntries(
      Object.keys(rows[0] ?? {}).map((name) => [name, rows.map((row) => row[name as keyof ChannelRow])]),
    );
    if (rows.length === 0) return [];
    let needsNobody = false;
    const channels = toChannels(realmId, columns as never, this.quarantine, () => {
      needsNobody = true;
      return 0 as GroupId;
    });
    if (!needsNobody) return channels;
    const nobody = await this.groups.nobodyOf(realmId);
    return toChannels(realmId, columns as never, this.quarantine, () => nobody);
  }
}

const ageInDays = ({ createdAt }: Channel, now: UnixSeconds): number => Math.floor((now - createdAt) / SECONDS_PER_DAY);

const SENDER_GROUPS = ['everyone', 'administrators', 'fullMembers', 'moderators'] as const;

export const CHANNEL_FEATURE = {
  schema: 'channels',
  realmTables: [
    'topic_policy',
    'subscription',
    'channel_address',
    'channel',
    'channel_folder',
    'default_channel_group',
  ],
  notExported: {
    channel_address: 'Addresses are secrets.',
  },
  repositories: ({ clock, quarantine }) => {
    const cache = new ChannelCache();
    const known = {
      versions: new KnownVersions<number>(20_000),
      idsByName: new KnownVersions<ChannelId, string>(20_000),
      subscriptions: new KnownVersions<SubscriptionRow, string>(20_000, 'subscriptions'),
    };
    return (connection, { groups, topics }) => ({
      channels: new PostgresChannelRepository(connection, cache, known, clock, groups, topics, quarantine),
    });
  },
} satisfies PostgresFeature;
