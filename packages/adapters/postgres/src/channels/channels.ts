import type { Subscription } from '@parley/domain/channels';
import type { ChannelId, RealmId, UserId } from '@parley/domain/kernel';
import {
  CHANNEL_TABLES,
  ChannelCache,
  type ChannelParts,
  SqlChannelRepository,
  type SubscriptionRow,
} from '@parley/storage';
import type { Connection } from '../engine/connection.js';
import type { PostgresFeature } from '../engine/feature.js';
import { KnownVersions } from '../engine/known-versions.js';
import { SubscriptionWrites } from './subscription-writes.js';

interface KnownChannels {
  readonly versions: KnownVersions<number>;
  readonly idsByName: KnownVersions<ChannelId, string>;
  readonly subscriptions: KnownVersions<SubscriptionRow, string>;
}

export class PostgresChannelRepository extends SqlChannelRepository {
  private readonly writes: SubscriptionWrites;
  private lastSubscription: {
    readonly unit: Connection['record'];
    readonly key: string;
    readonly row: Promise<SubscriptionRow | undefined>;
  } | null = null;

  constructor(
    private readonly connection: Connection,
    parts: ChannelParts,
    private readonly known: KnownChannels,
  ) {
    super(connection, parts);
    this.writes = new SubscriptionWrites(connection);
  }

  protected override versionOf(realmId: RealmId, id: ChannelId): Promise<number | undefined> {
    return this.known.versions.of(this.connection, realmId, id, () => super.versionOf(realmId, id));
  }

  protected override idByName(realmId: RealmId, key: string): Promise<ChannelId | undefined> {
    const read = () => super.idByName(realmId, key);
    return this.known.idsByName.of(this.connection, realmId, `${realmId}:${key}`, read);
  }

  override async isSubscribed(realmId: RealmId, channelId: ChannelId, userId: UserId): Promise<boolean> {
    return (await this.subscriptionIn(realmId, channelId, userId))?.is_active === 1;
  }

  /** Reads the row once for a unit's usual queries about one user and channel. */
  protected override subscriptionIn(
    realmId: RealmId,
    channelId: ChannelId,
    userId: UserId,
  ): Promise<SubscriptionRow | undefined> {
    const key = `${realmId}:${channelId}:${userId}`;
    const { record } = this.connection;
    if (this.lastSubscription?.unit !== record || this.lastSubscription.key !== key) {
      const read = () => super.subscriptionIn(realmId, channelId, userId);
      const row = this.known.subscriptions.of(this.connection, realmId, key, read);
      this.lastSubscription = { unit: record, key, row };
    }
    return this.lastSubscription.row;
  }

  async putSubscriptions(subscriptions: readonly Subscription[]): Promise<void> {
    if (subscriptions.length === 0) return;
    this.connection.disableCaching('subscriptions');
    this.lastSubscription = null;
    this.writes.put(subscriptions);
  }
}

export const CHANNEL_FEATURE = {
  ...CHANNEL_TABLES,
  repositories: ({ clock, quarantine }) => {
    const cache = new ChannelCache();
    const known = {
      versions: new KnownVersions<number>(20_000),
      idsByName: new KnownVersions<ChannelId, string>(20_000),
      subscriptions: new KnownVersions<SubscriptionRow, string>(20_000, 'subscriptions'),
    };
    return (connection, { groups, topics }) => ({
      channels: new PostgresChannelRepository(connection, { cache, clock, groups, topics, quarantine }, known),
    });
  },
} satisfies PostgresFeature;
