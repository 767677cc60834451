import type { Subscription } from '@parley/domain/channels';
import type { ChannelId, RealmId } from '@parley/domain/kernel';
import {
  CHANNEL_TABLES,
  ChannelCache,
  type ChannelParts,
  fromSubscription,
  SqlChannelRepository,
} from '@parley/storage';
import { asStatements, type Connection } from '../engine/connection.js';
import type { SqliteFeature } from '../engine/feature.js';
import { KnownValues } from '../engine/known-values.js';

/** Triggers count the subscribers. */
export class SqliteChannelRepository extends SqlChannelRepository {
  private readonly upsertSubscriptions;
  private readonly versions;

  constructor(connection: Connection, parts: ChannelParts) {
    super(asStatements(connection), parts);
    this.versions = new KnownValues<number>(connection, 10_000);
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

  protected override versionOf(realmId: RealmId, id: ChannelId): number | undefined {
    return this.versions.get(realmId, id, () => super.versionOf(realmId, id) as number | undefined);
  }

  async putSubscriptions(subscriptions: readonly Subscription[]): Promise<void> {
    this.upsertSubscriptions.run(JSON.stringify(subscriptions.map(fromSubscription)));
  }
}

export const CHANNEL_FEATURE = {
  ...CHANNEL_TABLES,
  repositories: ({ clock, quarantine }) => {
    const cache = new ChannelCache();
    return (connection, { groups, topics }) => ({
      channels: new SqliteChannelRepository(connection, { cache, clock, groups, topics, quarantine }),
    });
  },
} satisfies SqliteFeature;
