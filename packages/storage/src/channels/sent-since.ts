import type { RealmId, UnixSeconds } from '@parley/domain/kernel';
import type { Statements } from '../engine/statements.js';

/** Inclusive range of ids with ascending times. */
interface IdRange {
  readonly first: number;
  readonly last: number;
}

/** Finds the position in id order at which a time begins. */
export class SentSince {
  private readonly firstSince;
  private readonly newestId;
  private readonly importOf;
  private readonly importBefore;

  constructor(statements: Statements) {
    // Binary search, because ids are allocated in order of time.
    this.firstSince = statements.values<number>(
      `WITH RECURSIVE bounds (low, high) AS (
         SELECT CAST(? AS bigint), CAST(? AS bigint)
         UNION ALL
         SELECT CASE WHEN m.sent_at < ? THEN m.id + 1 ELSE low END,
                CASE WHEN m.sent_at < ? THEN high ELSE (low + high) / 2 END
         FROM bounds LEFT JOIN message m ON m.id = (SELECT min(id) FROM message WHERE id >= (low + high) / 2 AND id < high)
         WHERE low < high
       )
       SELECT low FROM bounds WHERE low = high`,
    );
    this.newestId = statements.values<number>('SELECT coalesce(max(id), 0) FROM message');
    const range = 'SELECT first_id AS first, last_id AS last FROM imported_messages';
    this.importOf = statements.rows<IdRange>(`${range} WHERE realm_id = ?`);
    this.importBefore = statements.rows<IdRange>(`${range} WHERE first_id <= ? ORDER BY first_id DESC LIMIT 1`);
  }

  /** Returns an id with no lower message id in the realm sent at or after that time. */
  async firstId(realmId: RealmId, since: UnixSeconds): Promise<number> {
    // The ids of an import belong to one realm, and its later messages have higher ids.
    const own = await this.importOf.get(realmId);
    if (own) {
      const first = await this.firstIn(own, since);
      if (first <= own.last) return first;
    }
    return Math.max(await this.firstGiven(since), own ? own.last + 1 : 0);
  }

  /** Searches messages sent on this server between the imports, newest range first. */
  private async firstGiven(since: UnixSeconds): Promise<number> {
    let last = (await this.newestId.get())!;
    let found = last + 1;
    while (last > 0) {
      const before = (await this.importBefore.get(last)) ?? { first: 0, last: 0 };
      const between = { first: before.last + 1, last };
      last = before.first - 1;
      if (between.first > between.last) continue;
      const first = await this.firstIn(between, since);
      if (first <= between.last) found = first;
      // Earlier ranges were sent earlier.
      if (first > between.first) break;
    }
    return found;
  }

  /** Returns the id after the last one if there is none. */
  private async firstIn({ first, last }: IdRange, since: UnixSeconds): Promise<number> {
    return (await this.firstSince.get(first, last + 1, since, since))!;
  }
}
