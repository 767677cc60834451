import type { RealmId, UnixSeconds } from '@parley/domain/kernel';
import type { Connection, Query } from '../engine/connection.js';

/** Ids among which time goes one way; with the last one. */
interface IdRange {
  readonly first: number;
  readonly last: number;
}

/** Where in the order of ids a time begins. */
export class SentSince {
  private readonly firstSince: Query<number>;
  private readonly newestId: Query<number>;
  private readonly importOf: Query<IdRange>;
  private readonly importBefore: Query<IdRange>;

  constructor(connection: Connection) {
    // Ids are given in the order of time, so a few probes find where a time begins. Parameters are no integers by themselves.
    this.firstSince = connection.values(
      `WITH RECURSIVE bounds (low, high) AS (
         SELECT CAST(? AS INTEGER), CAST(? AS INTEGER)
         UNION ALL
         SELECT CASE WHEN m.sent_at < ? THEN m.id + 1 ELSE low END,
                CASE WHEN m.sent_at < ? THEN high ELSE (low + high) / 2 END
         FROM bounds LEFT JOIN message m ON m.id = (SELECT min(id) FROM message WHERE id >= (low + high) / 2 AND id < high)
         WHERE low < high
       )
       SELECT low FROM bounds WHERE low = high`,
    );
    this.newestId = connection.values('SELECT coalesce(max(id), 0) FROM message');
    const range = 'SELECT first_id AS first, last_id AS last FROM imported_messages';
    this.importOf = connection.rows(`${range} WHERE realm_id = ?`);
    this.importBefore = connection.rows(`${range} WHERE first_id <= ? ORDER BY first_id DESC LIMIT 1`);
  }

  /** No message of the realm with a lower id was sent then or later. */
  firstId(realmId: RealmId, since: UnixSeconds): number {
    // Nobody else has ids of an import, and what the realm said since has higher ones.
    const own = this.importOf.get(realmId);
    if (own) {
      const first = this.firstIn(own, since);
      if (first <= own.last) return first;
    }
    return Math.max(this.firstGiven(since), own ? own.last + 1 : 0);
  }

  /** Of what was sent here: between the imports, the newest first. */
  private firstGiven(since: UnixSeconds): number {
    let last = this.newestId.get()!;
    let found = last + 1;
    while (last > 0) {
      const before = this.importBefore.get(last) ?? { first: 0, last: 0 };
      const between = { first: before.last + 1, last };
      last = before.first - 1;
      if (between.first > between.last) continue;
      const first = this.firstIn(between, since);
      if (first <= between.last) found = first;
      // What came before was sent before.
      if (first > between.first) break;
    }
    return found;
  }

  /** The id after the last one where there is none. */
  private firstIn({ first, last }: IdRange, since: UnixSeconds): number {
    return this.firstSince.get(first, last + 1, since, since)!;
  }
}
