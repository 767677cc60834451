import type { UnixSeconds } from '@parley/domain';
import type { Connection, Query } from '../connection.js';

/** Where in the order of ids a time begins. */
export class SentSince {
  private readonly firstSince: Query<number>;

  constructor(connection: Connection) {
    // Ids are given in the order of time, so a few probes find where a time begins.
    this.firstSince = connection.values(
      `WITH RECURSIVE bounds (low, high) AS (
         SELECT 1, 1 + coalesce(max(id), 0) FROM message
         UNION ALL
         SELECT CASE WHEN m.sent_at < ? THEN m.id + 1 ELSE low END,
                CASE WHEN m.sent_at < ? THEN high ELSE (low + high) / 2 END
         FROM bounds CROSS JOIN message m ON m.id = (SELECT min(id) FROM message WHERE id >= (low + high) / 2)
         WHERE low < high
       )
       SELECT low FROM bounds WHERE low = high`,
    );
  }

  /** No message with a lower id was sent then or later, in whatever realm. */
  firstId(since: UnixSeconds): number {
    return this.firstSince.get(since, since)!;
  }
}
