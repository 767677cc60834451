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
  getOrThrow,
  type RealmId,
  type RecipientId,
  slicesOf,
  type UnixSeconds,
  type UserId,
} from '@parley/domain/kernel';
import type { TopicReads } from '@parley/domain/messages';
import type { Quarantine } from '../engine/quarantine.js';
import { ascending, ColumnQuery, type Columns, type Flag, idList, withNobody } from '../engine/rows.js';
import type { Parameter, Statements } from '../engine/statements.js';
import type { SqlGroupRepository } from '../groups/groups.js';
import { type ChannelCache, type GroupDependents, GroupValues, PERMISSION_NAMES } from './channel-cache.js';
import {
  CHANNEL_COLUMNS,
  type ChannelRow,
  fromChannel,
  SUBSCRIPTION_COLUMNS,
  type SubscriptionRow,
  toChannels,
  toSubscription,
} from './channel-rows.js';
import { filterWithAll } from './channels-of-all.js';
import { PartialLists } from './partial-lists.js';
import { SentSince } from './sent-since.js';
import { SubscriptionColors } from './subscription-colors.js';

const SECONDS_PER_DAY = 86_400;
const NONE_COUNTED: ReadonlyMap<RecipientId, number> = new Map();
const TRAFFIC_DAYS = 28;
/** Rows read per statement; the event loop may run in between. */
const READ_AT_A_TIME = 500;
const VIEWED_AT_A_TIME = 1000;
const SENDER_GROUPS = ['everyone', 'administrators', 'fullMembers', 'moderators'] as const;

type Soon<T> = T | Promise<T>;

/** Objects that channels need in both databases. */
export interface ChannelParts {
  readonly cache: ChannelCache;
  readonly clock: Clock;
  readonly groups: Pick<SqlGroupRepository, 'nobodyOf' | 'settingValues' | 'systemGroupIds' | 'valuesVersionOf'>;
  readonly topics: Pick<TopicReads, 'countSince'>;
  readonly quarantine: Quarantine;
}

/** Channel repository without writing subscriptions and counting subscribers, which differ between the databases. */
export abstract class SqlChannelRepository implements ChannelRepository {
  private readonly version;
  private readonly idOfName;
  private readonly rowsByName;
  private readonly rows;
  private readonly heads;
  private readonly allHeads;
  private readonly defaultHeads;
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
  private readonly partial;
  private readonly idle;
  private readonly sentSince;
  private readonly inFolder;
  private readonly webPublicIds;
  private readonly webPublic;
  private readonly subscriberCount;
  readonly filterWithAll;
  private readonly insert;
  private readonly insertRecipient;
  private readonly linkRecipient;
  private readonly store;

  constructor(
    private readonly statements: Statements,
    private readonly parts: ChannelParts,
  ) {
    const { inSet, elements, indexedBy, list, nextId } = statements.dialect;
    const rows = (where: string) =>
      new ColumnQuery<ChannelRow>(statements, CHANNEL_COLUMNS, `SELECT * FROM channel WHERE ${where}`);
    const heads = (where: string) =>
      new ColumnQuery<Pick<ChannelRow, 'id' | 'version'>>(
        statements,
        ['id', 'version'],
        `SELECT id, version FROM channel WHERE ${where} ORDER BY id`,
      );
    // Sorts correctly, because the databases compare bytes and UTF-8 preserves code point order.
    const viewHeads = (where: string) =>
      new ColumnQuery<ViewHead>(
        statements,
        ['id', 'version', 'subscriber_count'],
        `SELECT id, version, subscriber_count FROM channel WHERE ${where} ORDER BY name`,
      );
    const some = `+realm_id = ? AND id ${inSet}`;
    this.rows = rows(some);
    this.rowsByName = rows(`realm_id = ? AND name_key ${inSet} ORDER BY id`);
    this.heads = heads(some);
    this.allHeads = heads('realm_id = ?');
    this.defaultHeads = heads('realm_id = ? AND is_default = 1 AND is_archived = 0');
    this.viewHeads = viewHeads(some);
    this.allViewHeads = viewHeads('realm_id = ?');
    this.version = statements.values<number>('SELECT version FROM channel WHERE id = ? AND realm_id = ?');
    this.idOfName = statements.values<ChannelId>('SELECT id FROM channel WHERE realm_id = ? AND name_key = ?');
    this.subscribed = statements.values<Flag>(
      'SELECT is_active FROM subscription WHERE user_id = ? AND channel_id = ? AND realm_id = ?',
    );
    this.subscribedIds = statements.values<ChannelId>(
      'SELECT channel_id FROM subscription WHERE user_id = ? AND realm_id = ? AND is_active = 1 ORDER BY channel_id',
    );
    this.subscriptionRow = statements.rows<SubscriptionRow>(
      'SELECT * FROM subscription WHERE user_id = ? AND channel_id = ? AND realm_id = ?',
    );
    this.subscriptionsOfUser = new ColumnQuery<SubscriptionRow>(
      statements,
      SUBSCRIPTION_COLUMNS,
      'SELECT * FROM subscription WHERE user_id = ? AND realm_id = ? ORDER BY channel_id',
    );
    this.subscriptionRowsOf = statements.rows<SubscriptionRow>(
      `SELECT * FROM subscription WHERE user_id ${inSet} AND channel_id ${inSet} AND realm_id = ?
       ORDER BY user_id, channel_id`,
    );
    this.colors = new SubscriptionColors(statements);
    this.subscribers = statements.tuples<[ChannelId, string]>(
      `SELECT s.channel_id, ${list('s.user_id')}
       FROM subscription s JOIN "user" u ON u.id = s.user_id AND u.is_active = 1
       WHERE s.channel_id ${inSet} AND s.is_active = 1 AND u.realm_id = ?
       GROUP BY s.channel_id`,
    );
    this.subscribedAmong = statements.values<UserId>(
      `SELECT user_id FROM subscription
       WHERE user_id ${inSet} AND channel_id = ? AND realm_id = ? AND is_active = 1
       ORDER BY user_id`,
    );
    this.withGuestSubscribers = statements.values<ChannelId>(
      `SELECT value FROM ${elements('bigint')} WHERE EXISTS (
         SELECT 1 FROM subscription s JOIN "user" u ON u.id = s.user_id
         WHERE s.channel_id = value AND s.is_active = 1 AND u.role = 'guest' AND u.is_active = 1 AND u.realm_id = ?)
       ORDER BY value`,
    );
    this.filterWithAll = filterWithAll(statements);
    this.partial = new PartialLists(statements);
    this.idle = statements.values<ChannelId>(
      `SELECT c.id FROM channel c
       WHERE c.id ${inSet} AND +c.realm_id = ? AND c.created_at < ?
         AND NOT EXISTS (SELECT 1 FROM message m ${indexedBy('message_by_recipient')}
                         WHERE m.recipient_id = c.recipient_id AND m.id BETWEEN ? AND ?)
       ORDER BY c.id`,
    );
    this.sentSince = new SentSince(statements);
    this.inFolder = statements.values<1>('SELECT 1 FROM channel WHERE folder_id = ? AND +realm_id = ? LIMIT 1');
    this.webPublicIds = statements.values<ChannelId>(
      "SELECT id FROM channel WHERE realm_id = ? AND privacy = 'webPublic' ORDER BY id",
    );
    this.webPublic = statements.values<1>(
      "SELECT 1 FROM channel WHERE realm_id = ? AND privacy = 'webPublic' AND is_archived = 0 LIMIT 1",
    );
    this.subscriberCount = statements.values<number>(
      'SELECT subscriber_count FROM channel WHERE id = ? AND realm_id = ?',
    );
    this.insert = statements.values<ChannelId>(
      `INSERT INTO channel (id, realm_id, version, recipient_id, name, name_key, description, rendered_description, privacy,
                            is_archived, creator_id, created_at, message_retention_days, topics_policy, folder_id,
                            is_default, is_recently_active, first_message_id, permissions)
       VALUES (coalesce(?, ${nextId('channel')}), ?, 1, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (realm_id, name_key) DO NOTHING RETURNING id`,
    );
    this.insertRecipient = statements.values<RecipientId>(
      'INSERT INTO recipient (realm_id, channel_id) VALUES (?, ?) RETURNING id',
    );
    this.linkRecipient = statements.command('UPDATE channel SET recipient_id = ? WHERE id = ?');
    this.store = statements.values<number>(
      `UPDATE channel
       SET version = version + 1, name = ?, name_key = ?, description = ?, rendered_description = ?, privacy = ?,
           is_archived = ?, creator_id = ?, created_at = ?, message_retention_days = ?, topics_policy = ?,
           folder_id = ?, is_default = ?, is_recently_active = ?, first_message_id = ?, permissions = ?
       WHERE id = ? AND realm_id = ? AND NOT EXISTS (
         SELECT 1 FROM channel o WHERE o.realm_id = ? AND o.name_key = ? AND o.id <> ?)
       RETURNING version`,
    );
  }

  abstract putSubscriptions(subscriptions: readonly Subscription[]): Promise<void>;

  protected versionOf(realmId: RealmId, id: ChannelId): Soon<number | undefined> {
    return this.version.get(id, realmId);
  }

  protected idByName(realmId: RealmId, nameKey: string): Soon<ChannelId | undefined> {
    return this.idOfName.get(realmId, nameKey);
  }

  protected subscriptionIn(realmId: RealmId, channelId: ChannelId, userId: UserId): Soon<SubscriptionRow | undefined> {
    return this.subscriptionRow.get(userId, channelId, realmId);
  }

  async find(realmId: RealmId, id: ChannelId): Promise<Channel | null> {
    const version = await this.versionOf(realmId, id);
    if (version === undefined) return null;
    const cached = this.parts.cache.find(id, version);
    if (cached) return cached;
    const [channel] = await this.readTogether(realmId, [id]);
    this.parts.cache.put(this.statements, channel!);
    return channel!;
  }

  async get(realmId: RealmId, id: ChannelId): Promise<Channel> {
    const channel = await this.find(realmId, id);
    if (!channel) throw new DomainError('UNKNOWN_CHANNEL', 'Invalid channel ID');
    return channel;
  }

  async findByName(realmId: RealmId, name: string): Promise<Channel | null> {
    const id = await this.idByName(realmId, foldCase(name));
    return id === undefined ? null : this.find(realmId, id);
  }

  async listByName(realmId: RealmId, names: readonly string[]): Promise<readonly Channel[]> {
    return this.toChannels(realmId, await this.rowsByName.columns(realmId, this.set(names.map(foldCase))));
  }

  async list(realmId: RealmId, ids: readonly ChannelId[]): Promise<readonly Channel[]> {
    return this.load(realmId, await this.heads.columns(realmId, this.set(ids)));
  }

  async listAll(realmId: RealmId): Promise<readonly Channel[]> {
    return this.load(realmId, await this.allHeads.columns(realmId));
  }

  async listDefaults(realmId: RealmId): Promise<readonly Channel[]> {
    return this.load(realmId, await this.defaultHeads.columns(realmId));
  }

  /** Returns channels in the given order, cached ones if the version matches. May yield to the event loop. */
  private async load(
    realmId: RealmId,
    { id: ids, version: versions }: Columns<Pick<ChannelRow, 'id' | 'version'>>,
  ): Promise<readonly Channel[]> {
    const { cache } = this.parts;
    const loaded = new Array<Channel>(ids.length);
    /** Positions in the list. */
    const missing: number[] = [];
    for (let n = 0; n < ids.length; n++) {
      const channel = cache.find(ids[n]!, versions[n]!);
      if (channel) loaded[n] = channel;
      else missing.push(n);
    }
    for (const indexes of slicesOf(missing, READ_AT_A_TIME)) {
      const indexOf = new Map(indexes.map((n) => [ids[n]!, n]));
      for (const channel of await this.readTogether(realmId, indexOf.keys())) {
        cache.put(this.statements, channel);
        loaded[getOrThrow(indexOf, channel.id)] = channel;
      }
      if (missing.length > READ_AT_A_TIME) await this.statements.yield();
    }
    return loaded;
  }

  /** Returns channels in unspecified order. */
  private async readTogether(realmId: RealmId, ids: Iterable<ChannelId>): Promise<readonly Channel[]> {
    return this.toChannels(realmId, await this.rows.columns(realmId, this.set(ids)));
  }

  async listViews(realmId: RealmId, wanted: readonly ChannelId[]): Promise<readonly ChannelView[]> {
    const heads = await this.viewHeads.columns(realmId, this.set(wanted));
    return this.viewsInSlices(realmId, await this.load(realmId, heads), heads.subscriber_count);
  }

  async listViewsWhere(realmId: RealmId, isWanted: (channel: Channel) => boolean): Promise<readonly ChannelView[]> {
    const heads = await this.allViewHeads.columns(realmId);
    const channels: Channel[] = [];
    const counts: number[] = [];
    (await this.load(realmId, heads)).forEach((channel, n) => {
      if (!isWanted(channel)) return;
      channels.push(channel);
      counts.push(heads.subscriber_count[n]!);
    });
    return this.viewsInSlices(realmId, channels, counts);
  }

  private async viewsInSlices(
    realmId: RealmId,
    channels: readonly Channel[],
    counts: readonly number[],
  ): Promise<readonly ChannelView[]> {
    const views: ChannelView[] = [];
    for (let from = 0; from < channels.length; from += VIEWED_AT_A_TIME) {
      if (from > 0) await this.statements.yield();
      const to = from + VIEWED_AT_A_TIME;
      for (const view of await this.viewsOf(realmId, channels.slice(from, to), counts.slice(from, to)))
        views.push(view);
    }
    return views;
  }

  /** Returns the views of channels in this snapshot, in the same order. */
  private async viewsOf(
    realmId: RealmId,
    channels: readonly Channel[],
    subscriberCounts: readonly number[],
  ): Promise<readonly ChannelView[]> {
    const { cache, clock, groups } = this.parts;
    const valuesVersion = await groups.valuesVersionOf(realmId);
    const dependents = await this.groupDependents(realmId, channels, valuesVersion);
    const now = clock.now();
    const recent = await this.countRecent(realmId, channels, now);
    return channels.map((channel, n) => {
      const counts = {
        subscriberCount: subscriberCounts[n]!,
        weeklyTraffic: weeklyTraffic(recent.get(channel.recipientId) ?? 0, ageInDays(channel, now)),
      };
      return cache.viewOf(this.statements, channel, dependents[n]!, counts, valuesVersion);
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
    return this.parts.topics.countSince(realmId, counted, now - TRAFFIC_DAYS * SECONDS_PER_DAY);
  }

  /** Returns values in the order of the channels. */
  private async groupDependents(
    realmId: RealmId,
    channels: readonly Channel[],
    valuesVersion: number,
  ): Promise<readonly GroupDependents[]> {
    const { cache, groups } = this.parts;
    const known = channels.map((channel) => cache.findGroupDependents(channel, valuesVersion));
    const granted = new Set<GroupId>();
    channels.forEach(({ permissions }, n) => {
      if (!known[n]) for (const name of PERMISSION_NAMES) granted.add(permissions[name]);
    });
    if (granted.size === 0) return known as readonly GroupDependents[];
    const values = new GroupValues(await groups.settingValues(realmId, [...granted]));
    const system = await groups.systemGroupIds(realmId);
    return channels.map(
      ({ permissions }, n) =>
        known[n] ?? {
          permissions: cache.permissions.of(permissions, values),
          sendersSystemGroup: SENDER_GROUPS.find((name) => system[name] === permissions.canSendMessage) ?? null,
        },
    );
  }

  readonly listRecentlyActiveIds: ChannelRepository['listRecentlyActiveIds'] = (...args) =>
    this.partial.listRecentlyActiveIds(...args);
  readonly hasMoreThan: ChannelRepository['hasMoreThan'] = (...args) => this.partial.hasMoreThan(...args);
  readonly listIdsNamedLike: ChannelRepository['listIdsNamedLike'] = (...args) =>
    this.partial.listIdsNamedLike(...args);
  readonly listMutedIds: ChannelRepository['listMutedIds'] = (...args) => this.partial.listMutedIds(...args);
  readonly listNotableIds: ChannelRepository['listNotableIds'] = (...args) => this.partial.listNotableIds(...args);

  async filterIdle(realmId: RealmId, ids: readonly ChannelId[], since: UnixSeconds): Promise<readonly ChannelId[]> {
    if (ids.length === 0) return [];
    let idle = ids;
    for (const { first, last } of await this.sentSince.ranges(realmId, since)) {
      idle = await this.idle.all(this.set(idle), realmId, since, first, last);
    }
    return idle;
  }

  async hasChannelsInFolder(realmId: RealmId, folderId: ChannelFolderId): Promise<boolean> {
    return (await this.inFolder.get(folderId, realmId)) !== undefined;
  }

  async isSubscribed(realmId: RealmId, channelId: ChannelId, userId: UserId): Promise<boolean> {
    return (await this.subscribed.get(userId, channelId, realmId)) === 1;
  }

  async findSubscription(realmId: RealmId, channelId: ChannelId, userId: UserId): Promise<Subscription | null> {
    const row = await this.subscriptionIn(realmId, channelId, userId);
    return row ? toSubscription(row) : null;
  }

  async listSubscribedIds(realmId: RealmId, userId: UserId): Promise<readonly ChannelId[]> {
    return await this.subscribedIds.all(userId, realmId);
  }

  async listSubscriptions(realmId: RealmId, userId: UserId): Promise<readonly Subscription[]> {
    return (await this.subscriptionsOfUser.rows(userId, realmId)).map(toSubscription);
  }

  async listSubscriptionsOf(
    realmId: RealmId,
    userIds: readonly UserId[],
    channelIds: readonly ChannelId[],
  ): Promise<ReadonlyMap<UserId, readonly Subscription[]>> {
    const subscriptions = new Map<UserId, Subscription[]>();
    for (const id of [...userIds].sort(ascending)) subscriptions.set(id, []);
    for (const row of await this.subscriptionRowsOf.all(this.set(userIds), this.set(channelIds), realmId)) {
      getOrThrow(subscriptions, row.user_id).push(toSubscription(row));
    }
    return subscriptions;
  }

  readonly listColors: ChannelRepository['listColors'] = (...args) => this.colors.list(...args);

  async listWebPublicIds(realmId: RealmId): Promise<readonly ChannelId[]> {
    return await this.webPublicIds.all(realmId);
  }

  async hasWebPublic(realmId: RealmId): Promise<boolean> {
    return (await this.webPublic.get(realmId)) !== undefined;
  }

  async listSubscribers(
    realmId: RealmId,
    channelIds: readonly ChannelId[],
  ): Promise<ReadonlyMap<ChannelId, readonly UserId[]>> {
    const subscribers = new Map<ChannelId, readonly UserId[]>(channelIds.map((id) => [id, []]));
    for (const [id, userIds] of await this.subscribers.all(this.set(channelIds), realmId)) {
      subscribers.set(id, idList(userIds));
    }
    return subscribers;
  }

  async filterSubscribed(
    realmId: RealmId,
    channelId: ChannelId,
    userIds: readonly UserId[],
  ): Promise<readonly UserId[]> {
    return await this.subscribedAmong.all(this.set(userIds), channelId, realmId);
  }

  async filterWithGuestSubscribers(realmId: RealmId, channelIds: readonly ChannelId[]): Promise<readonly ChannelId[]> {
    return await this.withGuestSubscribers.all(this.set(new Set(channelIds)), realmId);
  }

  async countSubscribers(realmId: RealmId, channelId: ChannelId): Promise<number> {
    return (await this.subscriberCount.get(channelId, realmId)) ?? 0;
  }

  async add(
    channel: Omit<Channel, 'id' | 'recipientId' | 'version'>,
    reserved: ChannelId | null = null,
  ): Promise<Channel> {
    this.statements.disableCaching();
    const id = await this.insert.get(reserved, channel.realmId, ...fromChannel(channel));
    if (id === undefined) throw await this.nameTaken(channel);
    const recipientId = await this.insertRecipient.one(channel.realmId, id);
    this.linkRecipient.defer(recipientId, id);
    return { ...channel, id, recipientId, version: 1 };
  }

  async update(channel: Channel): Promise<Channel> {
    this.statements.disableCaching();
    const { id, realmId, name } = channel;
    const version = await this.store.get(...fromChannel(channel), id, realmId, realmId, foldCase(name), id);
    if (version !== undefined) return { ...channel, version };
    if ((await this.version.get(id, realmId)) !== undefined) throw await this.nameTaken(channel);
    throw new Error(`Realm ${realmId} has no channel ${id}`);
  }

  private async nameTaken({ realmId, name }: Pick<Channel, 'realmId' | 'name'>): Promise<DomainError> {
    const channelId = await this.idOfName.get(realmId, foldCase(name));
    return new DomainError('CHANNEL_NAME_TAKEN', `Channel '${name}' already exists`, { channelId, channelName: name });
  }

  /** Looks up the group `nobody` only if a row has invalid permissions. */
  private async toChannels(realmId: RealmId, rows: Columns<ChannelRow>): Promise<readonly Channel[]> {
    const { groups, quarantine } = this.parts;
    return withNobody(
      (nobody) => toChannels(realmId, rows, quarantine, nobody),
      () => groups.nobodyOf(realmId),
    );
  }

  private set(values: Iterable<number | string>): Parameter {
    return this.statements.dialect.set(values);
  }
}

interface ViewHead extends Pick<ChannelRow, 'id' | 'version'> {
  readonly subscriber_count: number;
}

const ageInDays = ({ createdAt }: Channel, now: UnixSeconds): number => Math.floor((now - createdAt) / SECONDS_PER_DAY);
