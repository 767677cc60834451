import { encodeEvent } from '@parley/domain/composition';
import type {
  Announcement,
  Clock,
  EventQueueRepository,
  EventSeq,
  QueuePosition,
  RealmId,
} from '@parley/domain/kernel';
import type { MessagePageReads } from '@parley/domain/messages';
import { type EventKeys, eventTables, SqlEventLog, SqlEventQueueRepository } from '@parley/storage';
import type { Connection } from '../engine/connection.js';
import type { PostgresFeature } from '../engine/feature.js';

/** Number of events appended by shared units after which one runs exclusively and shrinks the log. */
const SHRINK_EVERY = 256;

/** SQL expression of a realm's latest sequence number. */
export const lastSeqOf = (realmId: string): string =>
  `(SELECT last_seq FROM event_log_head WHERE realm_id = ${realmId})`;

/** Appends an event and returns its sequence number. The head row is locked until the commit. */
const APPEND = `
  WITH head AS (
    UPDATE event_log_head SET last_seq = last_seq + 1, total = total + octet_length($5) + octet_length($6)
    WHERE realm_id = $1 RETURNING last_seq, total)
  INSERT INTO event (realm_id, seq, at, message_id, format, audience, payload, total)
  SELECT $1, head.last_seq, $2, $3, $4, $5, $6, head.total FROM head
  RETURNING seq`;

const KEYS: EventKeys = {
  heads: 'SELECT realm_id, last_seq, pruned_up_to FROM event_log_head',
  positions: 'event_log_head',
  within: 'realm_id = ? AND seq > ? AND seq <= ?',
  order: 'seq',
  parametersOf: (realmId, after, upTo = Number.MAX_SAFE_INTEGER) => [realmId, after, upTo],
};

export class PostgresEventLog extends SqlEventLog {
  private readonly last;
  private readonly beyond;
  /** Events appended by shared units since this connection last shrank the log. */
  private unshrunk = 0;

  constructor(
    private readonly connection: Connection,
    private readonly clock: Clock,
    pages: Pick<MessagePageReads, 'listViews'>,
  ) {
    super(connection, KEYS, pages);
    this.last = connection.values<EventSeq>('SELECT last_seq FROM event_log_head WHERE realm_id = $1');
    // Binary search of the newest event that starts below the limit.
    this.beyond = connection.values<number>(
      `WITH RECURSIVE log AS (
         SELECT oldest.seq AS oldest, h.last_seq AS newest, h.total - $2 AS bound,
           oldest.total - octet_length(oldest.audience) - octet_length(oldest.payload) AS start
         FROM event_log_head h, LATERAL (SELECT * FROM event e WHERE e.realm_id = $1 ORDER BY seq LIMIT 1) oldest
         WHERE h.realm_id = $1),
       search (low, high) AS (
         SELECT oldest, newest FROM log WHERE start < bound
         UNION ALL
         SELECT CASE WHEN before.total < bound THEN middle ELSE low END,
           CASE WHEN before.total < bound THEN high ELSE middle - 1 END
         FROM (SELECT low, high, (low + high + 1) / 2 AS middle FROM search WHERE low < high) half, log,
           LATERAL (SELECT total FROM event e WHERE e.realm_id = $1 AND e.seq < middle ORDER BY seq DESC LIMIT 1) before)
       SELECT low FROM search WHERE low = high`,
    );
  }

  async lastSeq(realmId: RealmId): Promise<EventSeq> {
    if (this.connection.record.events.length > 0) this.connection.requireAlone();
    return (await this.last.get(realmId)) ?? (0 as EventSeq);
  }

  async seqBeyond(realmId: RealmId, bytes: number): Promise<number> {
    return (await this.beyond.get(realmId, bytes)) ?? 0;
  }

  async append(realmId: RealmId, announcement: Announcement): Promise<void> {
    const { record } = this.connection;
    record.requireRealm(realmId);
    const { event, audience, quotes = null } = announcement;
    const at = this.clock.now();
    const encoded = encodeEvent(announcement);
    const stored = { realmId, seq: 0 as EventSeq, event, audience, at, quotes };
    record.events.push(stored);
    const parameters = [realmId, at, encoded.quotes, encoded.format, encoded.audience, encoded.payload];
    this.connection.deferToCommit(APPEND, parameters, ([tuple]) => {
      if (!tuple) throw new Error(`There is no realm ${realmId}`);
      stored.seq = tuple[0] as EventSeq;
    });
  }

  override async shrink(realmId: RealmId, maxBytes: number): Promise<void> {
    const { sharing, record } = this.connection;
    if (sharing) {
      // The log grows by a few events until the next exclusive unit, which is harmless.
      this.unshrunk += record.events.length;
      if (this.unshrunk < SHRINK_EVERY) return;
      this.unshrunk = 0;
      this.connection.requireAlone();
    }
    await super.shrink(realmId, maxBytes);
  }
}

export class PostgresEventQueueRepository extends SqlEventQueueRepository implements EventQueueRepository {
  private readonly storePositions;

  constructor(connection: Connection) {
    super(connection);
    this.storePositions = connection.values<string>(
      `UPDATE event_queue q
       SET acked = greatest(q.acked, p.acked), floor_seq = greatest(q.floor_seq, p.floor_seq),
         last_polled_at = greatest(q.last_polled_at, p.last_polled_at)
       FROM unnest($2::text[], $3::bigint[], $4::bigint[], $5::bigint[]) p (id, acked, floor_seq, last_polled_at)
       WHERE q.id = p.id AND q.realm_id = $1
       RETURNING q.id`,
    );
  }

  async savePositions(realmId: RealmId, positions: readonly QueuePosition[]): Promise<readonly string[]> {
    const ids = positions.map(({ id }) => id);
    const saved = await this.storePositions.all(
      realmId,
      ids,
      positions.map(({ acked }) => acked),
      positions.map(({ floorSeq }) => floorSeq),
      positions.map(({ lastPolledAt }) => lastPolledAt),
    );
    const found = new Set(saved);
    return ids.filter((id) => !found.has(id));
  }
}

export const EVENT_FEATURE = {
  ...eventTables('event_log_head'),
  repositories:
    ({ clock }) =>
    (connection, { pages }) => ({
      events: new PostgresEventLog(connection, clock, pages),
      queues: new PostgresEventQueueRepository(connection),
    }),
} satisfies PostgresFeature;
