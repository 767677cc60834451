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
import { asStatements, type Connection } from '../engine/connection.js';
import type { SqliteFeature } from '../engine/feature.js';
import { KnownValues } from '../engine/known-values.js';

/**
 * Bits of the sequence number, below the realm id in an event id. The combined key needs neither a counter nor
 * another index.
 */
const SEQ_BITS = 36;
/** Lasts two years at a thousand events per second, two centuries at ten. */
const MAX_SEQ = 2 ** SEQ_BITS - 1;

/** SQL expression of an event id. Its operators convert the driver's floating-point parameters to integers. */
export const eventId = (realmId: string, seq: string): string => `(${realmId} << ${SEQ_BITS} | ${seq})`;

/** SQL condition for a realm's event ids after a sequence number, ascending: `id > ? AND id <= ?`. */
const eventIdsAfter = (realmId: string, seq: string): string =>
  `id > ${eventId(realmId, seq)} AND id <= ${eventId(realmId, String(MAX_SEQ))}`;

/**
 * SQL expression of a realm's latest sequence number over `event_log_start s`. Pruning removes the oldest events, so
 * if none is left, the pruned position is the latest.
 */
export const LAST_SEQ = `max(s.pruned_up_to, coalesce(
  (SELECT max(id) FROM event WHERE ${eventIdsAfter('s.realm_id', '0')}) & ${MAX_SEQ}, 0))`;

/** Same expression as a subquery. */
export const lastSeqOf = (realmId: string): string =>
  `(SELECT ${LAST_SEQ} FROM event_log_start s WHERE s.realm_id = ${realmId})`;

/** @throws Error if the sequence is exhausted */
export function seqAfter(last: EventSeq): EventSeq {
  if (last >= MAX_SEQ) throw new Error('An organization has run out of event numbers');
  return (last + 1) as EventSeq;
}

/** Newest and oldest seq of a realm's log, with the bytes up to the newest and before the oldest event; 0 if it is empty. */
type Extent = readonly [last: EventSeq, total: number, oldest: EventSeq | 0, start: number];

const KEYS: EventKeys = {
  heads: `SELECT s.realm_id, ${LAST_SEQ}, s.pruned_up_to FROM event_log_start s`,
  positions: 'event_log_start',
  within: `id > ${eventId('?', '?')} AND id <= ${eventId('?', '?')}`,
  order: 'id',
  parametersOf: (realmId, after, upTo = MAX_SEQ) => [realmId, after, realmId, upTo],
};

/** Appends without a row to lock: a single writer finds the last event in the index. */
export class SqliteEventLog extends SqlEventLog {
  private readonly extent;
  private readonly extents;
  private readonly totalAt;
  private readonly insert;

  constructor(
    private readonly connection: Connection,
    private readonly clock: Clock,
    pages: Pick<MessagePageReads, 'listViews'>,
  ) {
    super(asStatements(connection), KEYS, pages);
    this.extents = new KnownValues<Extent>(connection, 10_000);
    const firstIn = (realmId: string) => `WHERE ${eventIdsAfter(realmId, '0')} ORDER BY id`;
    // Lengths are in row headers, so no text is read.
    this.extent = connection.tuples<Extent>(
      `SELECT ${LAST_SEQ}, coalesce((SELECT total FROM event ${firstIn('s.realm_id')} DESC LIMIT 1), 0),
         coalesce(first.seq, 0), coalesce(first.total - octet_length(first.audience) - octet_length(first.payload), 0)
       FROM event_log_start s
       LEFT JOIN event first ON first.id = (SELECT id FROM event ${firstIn('s.realm_id')} LIMIT 1)
       WHERE s.realm_id = ?`,
    );
    this.totalAt = connection.values<number>(
      // The log has gaps after a restore.
      `SELECT total FROM event WHERE ${KEYS.within} ORDER BY id DESC LIMIT 1`,
    );
    this.insert = connection.command(
      `INSERT INTO event (id, at, message_id, format, audience, payload, total)
       VALUES (${eventId('?', '?')}, ?, ?, ?, ?, ?, ?)`,
    );
  }

  async lastSeq(realmId: RealmId): Promise<EventSeq> {
    return this.extentOf(realmId)?.[0] ?? (0 as EventSeq);
  }

  async seqBeyond(realmId: RealmId, bytes: number): Promise<number> {
    const [last, total, oldest, start] = this.extentOf(realmId) ?? [0, 0, 0, 0];
    const limit = total - bytes;
    if (oldest === 0 || start >= limit) return 0;
    // Binary search of the first event that starts at the limit or later.
    let [low, high] = [oldest + 1, last + 1];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (this.totalAt.one(realmId, 0, realmId, middle - 1) < limit) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  async append(realmId: RealmId, announcement: Announcement): Promise<void> {
    this.connection.record.requireRealm(realmId);
    const extent = this.extentOf(realmId);
    if (extent === undefined) throw new Error(`There is no realm ${realmId}`);
    const [last, bytesBefore, oldest, start] = extent;
    const seq = seqAfter(last);
    const { event, audience, quotes = null } = announcement;
    const at = this.clock.now();
    const encoded = encodeEvent(announcement);
    const total = bytesBefore + Buffer.byteLength(encoded.audience) + Buffer.byteLength(encoded.payload);
    this.insert.run(realmId, seq, at, encoded.quotes, encoded.format, encoded.audience, encoded.payload, total);
    this.connection.record.events.push({ realmId, seq, event, audience, at, quotes });
    this.onChange(realmId);
    this.extents.put(realmId, realmId, [seq, total, oldest || seq, oldest === 0 ? bytesBefore : start]);
  }

  private extentOf(realmId: RealmId): Extent | undefined {
    return this.extents.get(realmId, realmId, () => this.extent.get(realmId));
  }

  /** Forgets the extent, and again if the change is rolled back. */
  protected override onChange(realmId: RealmId): void {
    this.extents.forget(realmId);
    this.connection.record.onRollback(() => this.extents.forget(realmId));
  }
}

export class SqliteEventQueueRepository extends SqlEventQueueRepository implements EventQueueRepository {
  private readonly storePosition;

  constructor(connection: Connection) {
    super(asStatements(connection));
    // Updates row by row, because a join would compare every row of the realm with every list entry.
    this.storePosition = connection.command(
      `UPDATE event_queue SET acked = max(acked, ?), floor_seq = max(floor_seq, ?), last_polled_at = max(last_polled_at, ?)
       WHERE id = ? AND realm_id = ?`,
    );
  }

  async savePositions(realmId: RealmId, positions: readonly QueuePosition[]): Promise<readonly string[]> {
    const isGone = ({ id, acked, floorSeq, lastPolledAt }: QueuePosition) =>
      this.storePosition.run(acked, floorSeq, lastPolledAt, id, realmId).changes === 0;
    return positions.filter(isGone).map(({ id }) => id);
  }
}

export const EVENT_FEATURE = {
  ...eventTables('event_log_start'),
  repositories:
    ({ clock }) =>
    (connection, { pages }) => ({
      events: new SqliteEventLog(connection, clock, pages),
      queues: new SqliteEventQueueRepository(connection),
    }),
} satisfies SqliteFeature;
