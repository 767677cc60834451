import { BLANK_EVENT, encodeEvent } from '@parley/domain/composition';
import type {
  Announcement,
  Clock,
  EncodedRow,
  EventLog,
  EventQueueRepository,
  EventSeq,
  LogEnd,
  LoggedEvent,
  MessageId,
  QueuePosition,
  RealmId,
  UnixSeconds,
} from '@parley/domain/kernel';
import type { MessagePageReads } from '@parley/domain/messages';
import {
  decodeUpTo,
  EVENT_PERSONS,
  type EventTuple,
  encodedRow,
  jsonList,
  SqlEventQueueRepository,
  Tombstones,
} from '@parley/storage';
import { asStatements, type Connection, LIMIT } from '../engine/connection.js';
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
export const eventIdsAfter = (realmId: string, seq: string): string =>
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

/** Separate from PostgreSQL's: a single writer finds the last event in the index and needs no row to lock. */
export class SqliteEventLog implements EventLog {
  private readonly extent;
  private readonly extents;
  private readonly heads;
  private readonly headsOf;
  private readonly pruned;
  private readonly rowsAfter;
  private readonly totalAt;
  private readonly insert;
  private readonly blankQuoting;
  private readonly replaceContent;
  private readonly oldest;
  private readonly deleteUpTo;
  private readonly setPruned;
  private readonly tombstones;

  constructor(
    private readonly connection: Connection,
    private readonly clock: Clock,
    private readonly pages: Pick<MessagePageReads, 'listViews'>,
  ) {
    this.tombstones = new Tombstones(asStatements(connection));
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
    this.heads = connection.tuples<[RealmId, EventSeq, number]>(
      `SELECT s.realm_id, ${LAST_SEQ}, s.pruned_up_to FROM event_log_start s ORDER BY s.realm_id`,
    );
    this.headsOf = connection.tuples<[RealmId, EventSeq, number]>(
      `SELECT s.realm_id, ${LAST_SEQ}, s.pruned_up_to FROM event_log_start s
       WHERE s.realm_id IN (SELECT value FROM json_each(?)) ORDER BY s.realm_id`,
    );
    this.pruned = connection.values<number>('SELECT pruned_up_to FROM event_log_start WHERE realm_id = ?');
    this.rowsAfter = connection.tuples<EventTuple>(
      `SELECT seq, at, message_id, format, audience, payload FROM event
       WHERE ${eventIdsAfter('?', '?')} ORDER BY id ${LIMIT}`,
    );
    this.totalAt = connection.values<number>(
      // The log has gaps after a restore.
      `SELECT total FROM event WHERE id > ${eventId('?', '0')} AND id <= ${eventId('?', '?')} ORDER BY id DESC LIMIT 1`,
    );
    this.insert = connection.command(
      `INSERT INTO event (id, at, message_id, format, audience, payload, total)
       VALUES (${eventId('?', '?')}, ?, ?, ?, ?, ?, ?)`,
    );
    this.blankQuoting = connection.command(
      'UPDATE event SET payload = ?, format = ? WHERE message_id IN (SELECT value FROM json_each(?)) AND +realm_id = ?',
    );
    this.replaceContent = connection.command(
      `UPDATE event SET payload = ?, format = coalesce(?, format) WHERE id = ${eventId('?', '?')}`,
    );
    this.oldest = connection.tuples<[EventSeq, UnixSeconds]>(
      `SELECT seq, at FROM event WHERE id > ${eventId('?', '0')} AND id <= ${eventId('?', '?')} ORDER BY id ${LIMIT}`,
    );
    this.deleteUpTo = connection.command(
      `DELETE FROM event WHERE id > ${eventId('?', '0')} AND id <= ${eventId('?', '?')}`,
    );
    this.setPruned = connection.command(
      'UPDATE event_log_start SET pruned_up_to = max(pruned_up_to, ?) WHERE realm_id = ?',
    );
  }

  async lastSeq(realmId: RealmId): Promise<EventSeq> {
    return this.extentOf(realmId)?.[0] ?? (0 as EventSeq);
  }

  async listLastSeqs(realmIds?: readonly RealmId[]): Promise<readonly LogEnd[]> {
    const heads = realmIds ? this.headsOf.all(jsonList(realmIds)) : this.heads.all();
    return heads.map(([realmId, seq, prunedUpTo]) => ({ realmId, seq, prunedUpTo }));
  }

  async listAfter(
    realmId: RealmId,
    after: EventSeq,
    limit: number,
    maxBytes = Number.POSITIVE_INFINITY,
  ): Promise<readonly LoggedEvent[]> {
    return decodeUpTo(realmId, this.rowsAfter.each(realmId, after, realmId, limit), maxBytes, this.pages);
  }

  async prunedUpTo(realmId: RealmId): Promise<number> {
    return this.pruned.get(realmId) ?? 0;
  }

  async seqBeyond(realmId: RealmId, bytes: number): Promise<number> {
    const [last, total, oldest, start] = this.extentOf(realmId) ?? [0, 0, 0, 0];
    const limit = total - bytes;
    if (oldest === 0 || start >= limit) return 0;
    // Binary search of the first event that starts at the limit or later.
    let [low, high] = [oldest + 1, last + 1];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (this.totalAt.get(realmId, realmId, middle - 1)! < limit) low = middle + 1;
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
    this.renewExtent(realmId);
    this.extents.put(realmId, realmId, [seq, total, oldest || seq, oldest === 0 ? bytesBefore : start]);
  }

  async listRows(realmId: RealmId, after: number, limit: number): Promise<readonly EncodedRow[]> {
    return this.rowsAfter.all(realmId, after, realmId, limit).map((tuple) => encodedRow(realmId, tuple));
  }

  async replace(realmId: RealmId, seq: EventSeq, payload: string | null): Promise<void> {
    const format = payload === null ? BLANK_EVENT.format : null;
    this.replaceContent.run(payload ?? BLANK_EVENT.payload, format, realmId, seq);
    this.renewExtent(realmId);
  }

  async blank(realmId: RealmId, messageIds: readonly MessageId[]): Promise<void> {
    this.connection.record.requireRealm(realmId);
    const { payload, format } = BLANK_EVENT;
    this.blankQuoting.run(payload, format, jsonList(messageIds), realmId);
    this.renewExtent(realmId);
    await this.append(realmId, { event: { type: 'blanked', messageIds }, audience: { kind: 'nobody' } });
  }

  async prune(realmId: RealmId, upTo: EventSeq, before: UnixSeconds, limit: number): Promise<number> {
    const oldest = this.oldest.all(realmId, realmId, upTo, limit);
    // Times need not ascend, but the pruned events must be a prefix by sequence.
    const firstKept = oldest.findIndex(([, at]) => at >= before);
    const count = firstKept === -1 ? oldest.length : firstKept;
    if (count === 0) return 0;
    this.removeUpTo(realmId, oldest[count - 1]![0]);
    return count;
  }

  async shrink(realmId: RealmId, maxBytes: number): Promise<void> {
    const upTo = await this.seqBeyond(realmId, maxBytes);
    if (upTo > 0) this.removeUpTo(realmId, upTo as EventSeq);
  }

  private extentOf(realmId: RealmId): Extent | undefined {
    return this.extents.get(realmId, realmId, () => this.extent.get(realmId));
  }

  /** Forgets the extent before a change, and again if the change is rolled back. */
  private renewExtent(realmId: RealmId): void {
    this.extents.forget(realmId);
    this.connection.record.onRollback(() => this.extents.forget(realmId));
  }

  private removeUpTo(realmId: RealmId, seq: EventSeq): void {
    this.renewExtent(realmId);
    this.deleteUpTo.run(realmId, realmId, seq);
    this.setPruned.run(seq, realmId);
    this.tombstones.prune(realmId, seq);
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
  schema: 'events',
  realmTables: ['event_queue', 'event_consumer_position', 'event', 'event_log_start'],
  persons: { ...EVENT_PERSONS, event_log_start: {} },
  notExported: {
    event: 'Clients register anew.',
    event_log_start: 'Clients register anew.',
    event_queue: 'Clients register anew.',
    event_consumer_position: 'Consumers belong to the host application.',
  },
  repositories:
    ({ clock }) =>
    (connection, { pages }) => ({
      events: new SqliteEventLog(connection, clock, pages),
      queues: new SqliteEventQueueRepository(connection),
    }),
} satisfies SqliteFeature;
