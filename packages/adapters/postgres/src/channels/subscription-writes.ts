import type { Subscription } from '@parley/domain/channels';
import { fromSubscription } from '@parley/storage';
import type { Command, Connection } from '../engine/connection.js';

/** Stores subscriptions and maintains the number of active subscribers of channels. */
export class SubscriptionWrites {
  private readonly countChanges: Command;
  private readonly upsertSubscriptions: Command;

  constructor(connection: Connection) {
    // Counts active users with a beginning or ending subscription. Runs before the rows change.
    this.countChanges = connection.command(
      `UPDATE channel SET subscriber_count = subscriber_count + changed.difference FROM (
         SELECT n.channel_id, sum(n.is_active - coalesce(s.is_active, 0)) AS difference
         FROM unnest($1::bigint[], $2::bigint[], $3::smallint[]) n (user_id, channel_id, is_active)
         JOIN "user" u ON u.id = n.user_id AND u.is_active = 1
         LEFT JOIN subscription s ON s.user_id = n.user_id AND s.channel_id = n.channel_id
         GROUP BY n.channel_id) changed
       WHERE channel.id = changed.channel_id AND changed.difference <> 0`,
    );
    this.upsertSubscriptions = connection.command(
      `INSERT INTO subscription (user_id, channel_id, realm_id, is_active, color, is_muted, is_pinned,
                                 desktop_notifications, audible_notifications, push_notifications, email_notifications,
                                 wildcard_mentions_notify)
       SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::smallint[], $5::text[], $6::smallint[],
                            $7::smallint[], $8::smallint[], $9::smallint[], $10::smallint[], $11::smallint[],
                            $12::smallint[])
       ON CONFLICT (user_id, channel_id) DO UPDATE
       SET is_active = excluded.is_active, color = excluded.color, is_muted = excluded.is_muted,
           is_pinned = excluded.is_pinned, desktop_notifications = excluded.desktop_notifications,
           audible_notifications = excluded.audible_notifications, push_notifications = excluded.push_notifications,
           email_notifications = excluded.email_notifications,
           wildcard_mentions_notify = excluded.wildcard_mentions_notify`,
    );
  }

  /** Takes effect before the next statement. */
  put(subscriptions: readonly Subscription[]): void {
    // The last of several rows with the same key wins.
    const rows = new Map(subscriptions.map((each) => [`${each.userId}:${each.channelId}`, fromSubscription(each)]));
    const column = (n: number) => [...rows.values()].map((row) => row[n]!);
    this.countChanges.defer(column(0), column(1), column(3));
    this.upsertSubscriptions.defer(...[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11].map(column));
  }
}
