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
  SqlEventQueueRepository,
  Tombstones,
} from '@parley/storage';
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

export class PostgresEventLog implements EventLog {
  private readonly head;
  private readonly heads;
  private readonly headsOf;
  private readonly rowsAfter;
  private readonly beyond;
  private readonly blankQuoting;
  private readonly replaceContent;
  private readonly oldest;
  private readonly deleteUpTo;
  private readonly setPruned;
  private readonly tombstones;
  /** Events appended by shared units since this connection last shrank the log. */
  private unshrunk = 0;

  constructor(
    private readonly connection: Connection,
    private readonly clock: Clock,
    private readonly pages: Pick<MessagePageReads, 'listViews'>,
  ) {
    this.tombstones = new Tombstones(connection);
    const heads = 'SELECT realm_id, last_seq, pruned_up_to FROM event_log_head';
    this.head = connection.tuples<[RealmId, EventSeq, number]>(`${heads} WHERE realm_id = $1`);
    this.heads = connection.tuples<[RealmId, EventSeq, number]>(`${heads} ORDER BY realm_id`);
    this.headsOf = connection.tuples<[RealmId, EventSeq, number]>(
      `${heads} WHERE realm_id = ANY($1) ORDER BY realm_id`,
    );
    this.rowsAfter = connection.tuples<EventTuple>(
      `SELECT seq, at, message_id, format, audience, payload FROM event
       WHERE realm_id = $1 AND seq > $2 ORDER BY seq LIMIT $3`,
    );
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
    this.blankQuoting = connection.command(
      'UPDATE event SET payload = $1, format = $2 WHERE message_id = ANY($3) AND realm_id = $4',
    );
    this.replaceContent = connection.command(
      'UPDATE event SET payload = $1, format = coalesce($2, format) WHERE realm_id = $3 AND seq = $4',
    );
    this.oldest = connection.tuples<[EventSeq, UnixSeconds]>(
      'SELECT seq, at FROM event WHERE realm_id = $1 AND seq <= $2 ORDER BY seq LIMIT $3',
    );
    this.deleteUpTo = connection.command('DELETE FROM event WHERE realm_id = $1 AND seq <= $2');
    this.setPruned = connection.command(
      'UPDATE event_log_head SET pruned_up_to = greatest(pruned_up_to, $1) WHERE realm_id = $2',
    );
  }

  async lastSeq(realmId: RealmId): Promise<EventSeq> {
    if (this.connection.record.events.length > 0) this.connection.requireAlone();
    return (await this.head.get(realmId))?.[1] ?? (0 as EventSeq);
  }

  async listLastSeqs(realmIds?: readonly RealmId[]): Promise<readonly LogEnd[]> {
    const heads = await (realmIds ? this.headsOf.all(realmIds) : this.heads.all());
    return heads.map(([realmId, seq, prunedUpTo]) => ({ realmId, seq, prunedUpTo }));
  }

  async listAfter(
    realmId: RealmId,
    after: EventSeq,
    limit: number,
    maxBytes = Number.POSITIVE_INFINITY,
  ): Promise<readonly LoggedEvent[]> {
    return decodeUpTo(realmId, await this.rowsAfter.all(realmId, after, limit), maxBytes, this.pages);
  }

  async prunedUpTo(realmId: RealmId): Promise<number> {
    return (await this.head.get(realmId))?.[2] ?? 0;
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

  async listRows(realmId: RealmId, after: number, limit: number): Promise<readonly EncodedRow[]> {
    return (await this.rowsAfter.all(realmId, after, limit)).map((tuple) => encodedRow(realmId, tuple));
  }

  async replace(realmId: RealmId, seq: EventSeq, payload: string | null): Promise<void> {
    const format = payload === null ? BLANK_EVENT.format : null;
    this.replaceContent.defer(payload ?? BLANK_EVENT.payload, format, realmId, seq);
  }

  async blank(realmId: RealmId, messageIds: readonly MessageId[]): Promise<void> {
    this.connection.record.requireRealm(realmId);
    const { payload, format } = BLANK_EVENT;
    await this.blankQuoting.run(payload, format, messageIds, realmId);
    await this.append(realmId, { event: { type: 'blanked', messageIds }, audience: { kind: 'nobody' } });
  }

  async prune(realmId: RealmId, upTo: EventSeq, before: UnixSeconds, limit: number): Promise<number> {
    const oldest = await this.oldest.all(realmId, upTo, limit);
    // Times need not ascend, but the pruned events must be a prefix by sequence.
    const firstKept = oldest.findIndex(([, at]) => at >= before);
    const count = firstKept === -1 ? oldest.length : firstKept;
    if (count === 0) return 0;
    await this.removeUpTo(realmId, oldest[count - 1]![0]);
    return count;
  }

  async shrink(realmId: RealmId, maxBytes: number): Promise<void> {
    const { sharing, record } = this.connection;
    if (sharing) {
      // The log grows by a few events until the next exclusive unit, which is harmless.
      this.unshrunk += record.events.length;
      if (this.unshrunk < SHRINK_EVERY) return;
      this.unshrunk = 0;
      this.connection.requireAlone();
    }
    const upTo = await this.seqBeyond(realmId, maxBytes);
    if (upTo > 0) await this.removeUpTo(realmId, upTo as EventSeq);
  }

  private async removeUpTo(realmId: RealmId, seq: EventSeq): Promise<void> {
    this.deleteUpTo.defer(realmId, seq);
    this.setPruned.defer(seq, realmId);
    this.tombstones.prune(realmId, seq);
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
  schema: 'events',
  realmTables: ['event_queue', 'event_consumer_position', 'event', 'event_log_head'],
  persons: { ...EVENT_PERSONS, event_log_head: {} },
  notExported: {
    event: 'Clients register anew.',
    event_log_head: 'Clients register anew.',
    event_queue: 'Clients register anew.',
    event_consumer_position: 'Consumers belong to the host application.',
  },
  repositories:
    ({ clock }) =>
    (connection, { pages }) => ({
      events: new PostgresEventLog(connection, clock, pages),
      queues: new PostgresEventQueueRepository(connection),
    }),
} satisfies PostgresFeature;
