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
  type Columns,
  type Flag,
  fromChannel,
  fromSubscription,
  type GroupDependents,
  GroupValues,
  idList,
  jsonList,
  PERMISSION_NAMES,
  type Quarantine,
  type SubscriptionRow,
  toChannels,
  toSubscription,
} from '@parley/storage';
import { type Connection, LIMIT } from '../engine/connection.js';
import type { SqliteFeature } from '../engine/feature.js';
import { refusingTaken } from '../engine/rows.js';
import type { SqliteGroupRepository } from '../groups/groups.js';
import {
  ALL_VERSIONS,
  ALL_VIEW_HEADS,
  ROWS,
  ROWS_BY_NAME,
  SUBSCRIPTIONS,
  VERSIONS,
  VIEW_HEADS,
} from './channel-rows.js';
import { SentSince } from './sent-since.js';

const SECONDS_PER_DAY = 86_400;
const NONE_COUNTED: ReadonlyMap<RecipientId, number> = new Map();
const TRAFFIC_DAYS = 28;
/** Rows converted per step; the event loop may turn in between. */
const READ_AT_A_TIME = 500;
const VIEWED_AT_A_TIME = 1000;

export class SqliteChannelRepository implements ChannelRepository {
  private readonly versionOf;
  private readonly idByName;
  private readonly rowsByName;
  private readonly rows;
  private readonly versions;
  private readonly allVersions;
  private readonly viewHeads;
  private readonly allViewHeads;
  private readonly subscribed;
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
  private readonly sentSince;
  private readonly inFolder;
  private readonly webPublic;
  private readonly subscriberCount;
  private readonly insert;
  private readonly insertRecipient;
  private readonly linkRecipient;
  private readonly store;
  private readonly upsertSubscriptions;

  constructor(
    private readonly connection: Connection,
    private readonly cache: ChannelCache,
    private readonly clock: Clock,
    private readonly groups: Pick<
      SqliteGroupRepository,
      'settingValues' | 'systemGroupIds' | 'nobodyOf' | 'valuesVersionOf'
    >,
    private readonly topics: Pick<TopicReads, 'countSince'>,
    private readonly quarantine: Quarantine,
  ) {
    this.versionOf = connection.values<number>('SELECT version FROM channel WHERE id = ? AND realm_id = ?');
    this.idByName = connection.values<ChannelId>('SELECT id FROM channel WHERE realm_id = ? AND name_key = ?');
    this.rowsByName = connection.tuples<string[]>(ROWS_BY_NAME.sql);
    this.rows = connection.tuples<string[]>(ROWS.sql);
    this.versions = connection.tuples<string[]>(VERSIONS.sql);
    this.allVersions = connection.tuples<string[]>(ALL_VERSIONS.sql);
    this.viewHeads = connection.tuples<string[]>(VIEW_HEADS.sql);
    this.allViewHeads = connection.tuples<string[]>(ALL_VIEW_HEADS.sql);
    this.subscribed = connection.values<Flag>(
      'SELECT is_active FROM subscription WHERE user_id = ? AND channel_id = ? AND realm_id = ?',
    );
    this.subscribedIds = connection.values<ChannelId>(
      'SELECT channel_id FROM subscription WHERE user_id = ? AND realm_id = ? AND is_active = 1 ORDER BY channel_id',
    );
    this.subscriptionRow = connection.rows<SubscriptionRow>(
      'SELECT * FROM subscription WHERE user_id = ? AND channel_id = ? AND realm_id = ?',
    );
    this.subscriptionsOfUser = connection.tuples<string[]>(SUBSCRIPTIONS.sql);
    this.subscriptionRowsOf = connection.rows<SubscriptionRow>(
      `SELECT * FROM subscription
       WHERE user_id IN (SELECT value FROM json_each(?)) AND channel_id IN (SELECT value FROM json_each(?)) AND realm_id = ?
       ORDER BY user_id, channel_id`,
    );
    this.colors = connection.tuples<[UserId, string]>(
      `SELECT user_id, json_group_array(DISTINCT color) FROM subscription
       WHERE user_id IN (SELECT value FROM json_each(?)) AND realm_id = ? GROUP BY user_id`,
    );
    this.subscribers = connection.tuples<[ChannelId, string]>(
      `SELECT s.channel_id, json_group_array(s.user_id)
       FROM subscription s JOIN user u ON u.id = s.user_id AND u.is_active = 1
       WHERE s.channel_id IN (SELECT value FROM json_each(?)) AND s.is_active = 1 AND u.realm_id = ?
       GROUP BY s.channel_id`,
    );
    this.subscribedAmong = connection.values<UserId>(
      `SELECT user_id FROM subscription
       WHERE user_id IN (SELECT value FROM json_each(?)) AND channel_id = ? AND realm_id = ? AND is_active = 1
       ORDER BY user_id`,
    );
    this.withGuestSubscribers = connection.values<ChannelId>(
      `SELECT c.value FROM json_each(?) c WHERE EXISTS (
         SELECT 1 FROM subscription s JOIN user u ON u.id = s.user_id
         WHERE s.channel_id = c.value AND s.is_active = 1 AND u.role = 'guest' AND u.is_active = 1 AND u.realm_id = ?)
       ORDER BY c.value`,
    );
    this.recentlyActive = connection.values<ChannelId>(
      `SELECT id FROM channel INDEXED BY channel_recently_active
       WHERE realm_id = ? AND is_recently_active = 1 AND id > ? ORDER BY id ${LIMIT}`,
    );
    this.idle = connection.values<ChannelId>(
      `SELECT c.id FROM channel c
       WHERE c.id IN (SELECT value FROM json_each(?)) AND +c.realm_id = ? AND c.created_at < ?
         AND NOT EXISTS (SELECT 1 FROM message m INDEXED BY message_by_recipient
                         WHERE m.recipient_id = c.recipient_id AND m.id >= ?)
       ORDER BY c.id`,
    );
    this.sentSince = new SentSince(connection);
    this.inFolder = connection.values<1>('SELECT 1 FROM channel WHERE folder_id = ? AND +realm_id = ? LIMIT 1');
    this.webPublic = connection.values<1>(
      "SELECT 1 FROM channel WHERE realm_id = ? AND privacy = 'webPublic' AND is_archived = 0 LIMIT 1",
    );
    this.subscriberCount = connection.values<number>(
      'SELECT subscriber_count FROM channel WHERE id = ? AND realm_id = ?',
    );
    this.insert = connection.values<ChannelId>(
      `INSERT INTO channel (id, realm_id, version, recipient_id, name, name_key, description, rendered_description, privacy,
                            is_archived, creator_id, created_at, message_retention_days, topics_policy, folder_id,
                            is_default, is_recently_active, first_message_id, permissions)
       VALUES (?, ?, 1, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
    );
    this.insertRecipient = connection.values<RecipientId>(
      'INSERT INTO recipient (realm_id, channel_id) VALUES (?, ?) RETURNING id',
    );
    this.linkRecipient = connection.command('UPDATE channel SET recipient_id = ? WHERE id = ?');
    this.store = connection.values<number>(
      `UPDATE channel
       SET version = version + 1, name = ?, name_key = ?, description = ?, rendered_description = ?, privacy = ?,
           is_archived = ?, creator_id = ?, created_at = ?, message_retention_days = ?, topics_policy = ?,
           folder_id = ?, is_default = ?, is_recently_active = ?, first_message_id = ?, permissions = ?
       WHERE id = ? AND realm_id = ? RETURNING version`,
    );
    this.upsertSubscriptions = connection.command(
      `INSERT INTO subscription (user_id, channel_id, realm_id, is_active, color, is_muted, is_pinned,
                                 desktop_notifications, audible_notifications, push_notifications, email_notifications,
                                 wildcard_mentions_notify)
       SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7,
              value ->> 8, value ->> 9, value ->> 10, value ->> 11
       FROM json_each(?) WHERE true
       ON CONFLICT (user_id, channel_id) DO UPDATE
       SET is_active = excluded.is_active, color = excluded.color, is_muted = excluded.is_muted,
           is_pinned = excluded.is_pinned, desktop_notifications = excluded.desktop_notifications,
           audible_notifications = excluded.audible_notifications, push_notifications = excluded.push_notifications,
           email_notifications = excluded.email_notifications,
           wildcard_mentions_notify = excluded.wildcard_mentions_notify`,
    );
  }

  async find(realmId: RealmId, id: ChannelId): Promise<Channel | null> {
    const version = this.versionOf.get(id, realmId);
    if (version === undefined) return null;
    const cached = this.cache.find(id, version);
    if (cached) return cached;
    const [channel] = this.readTogether(realmId, [id]);
    this.cache.put(this.connection, channel!);
    return channel!;
  }

  async findByName(realmId: RealmId, name: string): Promise<Channel | null> {
    const id = this.idByName.get(realmId, foldCase(name));
    return id === undefined ? null : this.find(realmId, id);
  }

  async listByName(realmId: RealmId, names: readonly string[]): Promise<readonly Channel[]> {
    return this.toChannels(realmId, ROWS_BY_NAME.parse(this.rowsByName.get(realmId, jsonList(names.map(foldCase)))!));
  }

  async list(realmId: RealmId, ids: readonly ChannelId[]): Promise<readonly Channel[]> {
    const { id, version } = VERSIONS.parse(this.versions.get(realmId, jsonList(ids))!);
    return this.load(realmId, id, version);
  }

  async listAll(realmId: RealmId): Promise<readonly Channel[]> {
    const { id, version } = ALL_VERSIONS.parse(this.allVersions.get(realmId)!);
    return this.load(realmId, id, version);
  }

  /** Returns channels in the given order, cached ones if the version matches. The event loop may turn in between. */
  private async load(
    realmId: RealmId,
    ids: readonly ChannelId[],
    versions: readonly number[],
  ): Promise<readonly Channel[]> {
    const loaded = new Array<Channel>(ids.length);
    /** Positions in the list. */
    const missing: number[] = [];
    for (let n = 0; n < ids.length; n++) {
      const channel = this.cache.find(ids[n]!, versions[n]!);
      if (channel) loaded[n] = channel;
      else missing.push(n);
    }
    for (const indexes of slicesOf(missing, READ_AT_A_TIME)) {
      const indexOf = new Map(indexes.map((n) => [ids[n]!, n]));
      for (const channel of this.readTogether(realmId, indexOf.keys())) {
        this.cache.put(this.connection, channel);
        loaded[indexOf.get(channel.id)!] = channel;
      }
      if (missing.length > READ_AT_A_TIME) await this.connection.yield();
    }
    return loaded;
  }

  /** Returns channels in unspecified order. */
  private readTogether(realmId: RealmId, ids: Iterable<ChannelId>): readonly Channel[] {
    return this.toChannels(realmId, ROWS.parse(this.rows.get(realmId, jsonList(ids))!));
  }

  async listViews(realmId: RealmId, wanted: readonly ChannelId[]): Promise<readonly ChannelView[]> {
    const heads = VIEW_HEADS.parse(this.viewHeads.get(realmId, jsonList(wanted))!);
    return this.viewsOf(realmId, await this.load(realmId, heads.id, heads.version), heads.subscriber_count);
  }

  async listViewsWhere(realmId: RealmId, isWanted: (channel: Channel) => boolean): Promise<readonly ChannelView[]> {
    const heads = ALL_VIEW_HEADS.parse(this.allViewHeads.get(realmId)!);
    const channels: Channel[] = [];
    const counts: number[] = [];
    (await this.load(realmId, heads.id, heads.version)).forEach((channel, n) => {
      if (!isWanted(channel)) return;
      channels.push(channel);
      counts.push(heads.subscriber_count[n]!);
    });
    const views: ChannelView[] = [];
    for (let from = 0; from < channels.length; from += VIEWED_AT_A_TIME) {
      if (from > 0) await this.connection.yield();
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
    const valuesVersion = this.groups.valuesVersionOf(realmId);
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
    return this.idle.all(jsonList(ids), realmId, since, this.sentSince.firstId(realmId, since));
  }

  async hasChannelsInFolder(realmId: RealmId, folderId: ChannelFolderId): Promise<boolean> {
    return this.inFolder.get(folderId, realmId) !== undefined;
  }

  async isSubscribed(realmId: RealmId, channelId: ChannelId, userId: UserId): Promise<boolean> {
    return this.subscribed.get(userId, channelId, realmId) === 1;
  }

  async findSubscription(realmId: RealmId, channelId: ChannelId, userId: UserId): Promise<Subscription | null> {
    const row = this.subscriptionRow.get(userId, channelId, realmId);
    return row ? toSubscription(row) : null;
  }

  async listSubscribedIds(realmId: RealmId, userId: UserId): Promise<readonly ChannelId[]> {
    return this.subscribedIds.all(userId, realmId);
  }

  async listSubscriptions(realmId: RealmId, userId: UserId): Promise<readonly Subscription[]> {
    return SUBSCRIPTIONS.rows(this.subscriptionsOfUser.get(userId, realmId)!).map(toSubscription);
  }

  async listSubscriptionsOf(
    realmId: RealmId,
    userIds: readonly UserId[],
    channelIds: readonly ChannelId[],
  ): Promise<ReadonlyMap<UserId, readonly Subscription[]>> {
    const subscriptions = new Map<UserId, Subscription[]>();
    for (const id of [...userIds].sort(ascending)) subscriptions.set(id, []);
    for (const row of this.subscriptionRowsOf.all(jsonList(userIds), jsonList(channelIds), realmId)) {
      subscriptions.get(row.user_id)!.push(toSubscription(row));
    }
    return subscriptions;
  }

  async listColors(realmId: RealmId, userIds: readonly UserId[]): Promise<ReadonlyMap<UserId, readonly string[]>> {
    return new Map(
      this.colors.all(jsonList(userIds), realmId).map(([id, colors]) => [id, JSON.parse(colors) as string[]]),
    );
  }

  async hasWebPublic(realmId: RealmId): Promise<boolean> {
    return this.webPublic.get(realmId) !== undefined;
  }

  async listSubscribers(
    realmId: RealmId,
    channelIds: readonly ChannelId[],
  ): Promise<ReadonlyMap<ChannelId, readonly UserId[]>> {
    const subscribers = new Map<ChannelId, readonly UserId[]>(channelIds.map((id) => [id, []]));
    for (const [id, userIds] of this.subscribers.all(jsonList(channelIds), realmId)) {
      subscribers.set(id, idList(userIds));
    }
    return subscribers;
  }

  async filterSubscribed(
    realmId: RealmId,
    channelId: ChannelId,
    userIds: readonly UserId[],
  ): Promise<readonly UserId[]> {
    return this.subscribedAmong.all(jsonList(userIds), channelId, realmId);
  }

  async filterWithGuestSubscribers(realmId: RealmId, channelIds: readonly ChannelId[]): Promise<readonly ChannelId[]> {
    return this.withGuestSubscribers.all(jsonList(new Set(channelIds)), realmId);
  }

  async countSubscribers(realmId: RealmId, channelId: ChannelId): Promise<number> {
    return this.subscriberCount.get(channelId, realmId) ?? 0;
  }

  async add(
    channel: Omit<Channel, 'id' | 'recipientId' | 'version'>,
    reserved: ChannelId | null = null,
  ): Promise<Channel> {
    this.connection.disableCaching();
    return refusingTaken(
      () => this.nameTaken(channel),
      () => {
        const id = this.insert.get(reserved, channel.realmId, ...fromChannel(channel))!;
        const recipientId = this.insertRecipient.get(channel.realmId, id)!;
        this.linkRecipient.run(recipientId, id);
        return { ...channel, id, recipientId, version: 1 };
      },
    );
  }

  async update(channel: Channel): Promise<Channel> {
    this.connection.disableCaching();
    return refusingTaken(
      () => this.nameTaken(channel),
      () => {
        const version = this.store.get(...fromChannel(channel), channel.id, channel.realmId);
        if (version === undefined) throw new Error(`Realm ${channel.realmId} has no channel ${channel.id}`);
        return { ...channel, version };
      },
    );
  }

  async putSubscriptions(subscriptions: readonly Subscription[]): Promise<void> {
    this.upsertSubscriptions.run(JSON.stringify(subscriptions.map(fromSubscription)));
  }

  private nameTaken({ realmId, name }: Pick<Channel, 'realmId' | 'name'>): DomainError {
    const channelId = this.idByName.get(realmId, foldCase(name));
    return new DomainError('CHANNEL_NAME_TAKEN', `Channel '${name}' already exists`, { channelId, channelName: name });
  }

  private toChannels(realmId: RealmId, rows: Columns<ChannelRow>): readonly Channel[] {
    return toChannels(realmId, rows, this.quarantine, () => this.groups.nobodyOf(realmId));
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
    return (connection, { groups, topics }) => ({
      channels: new SqliteChannelRepository(connection, cache, clock, groups, topics, quarantine),
    });
  },
} satisfies SqliteFeature;
