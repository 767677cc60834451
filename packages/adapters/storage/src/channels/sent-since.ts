import type { MessageId, RealmId, UnixSeconds } from '@parley/domain/kernel';
import type { MessageIdRange } from '@parley/domain/messages';
import type { Statements } from '../engine/statements.js';

const MAX_ID = Number.MAX_SAFE_INTEGER;

/** Finds the ids of messages sent since a time. Times ascend with ids, except between an imported range and the others. */
export class SentSince {
  private readonly firstSince;
  private readonly newestId;
  private readonly importsOf;
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
    this.importsOf = statements.rows<MessageIdRange>(`${range} WHERE realm_id = ? ORDER BY first_id`);
    this.importBefore = statements.rows<MessageIdRange>(`${range} WHERE first_id <= ? ORDER BY first_id DESC LIMIT 1`);
  }

  /**
   * Returns ascending ranges that contain all messages of the realm sent at or after that time, and no earlier one. The
   * last range is open-ended.
   */
  async ranges(realmId: RealmId, since: UnixSeconds): Promise<readonly MessageIdRange[]> {
    const imports = await this.importsOf.all(realmId);
    const live = await this.firstGiven(since);
    const ranges: { first: number; last: number }[] = [];
    const add = (first: number, last: number) => {
      const previous = ranges.at(-1);
      if (first > last) return;
      if (previous && previous.last === first - 1) previous.last = last;
      else ranges.push({ first, last });
    };
    let next = live;
    for (const imported of imports) {
      add(next, imported.first - 1);
      add(await this.firstIn(imported, since), imported.last);
      next = Math.max(live, imported.last + 1);
    }
    add(next, MAX_ID);
    return ranges as { first: MessageId; last: MessageId }[];
  }

  /** Searches messages sent on this server between the imports, newest range first. */
  private async firstGiven(since: UnixSeconds): Promise<number> {
    let last = await this.newestId.one();
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
  private async firstIn({ first, last }: { readonly first: number; readonly last: number }, since: UnixSeconds) {
    return await this.firstSince.one(first, last + 1, since, since);
  }
}
