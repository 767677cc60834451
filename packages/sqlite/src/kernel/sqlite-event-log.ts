import { BLANK_EVENT, decodeEvent, encodeEvent, sizeOfEvent } from '@parley/domain/composition';
import type {
  Announcement,
  Clock,
  EventLog,
  EventSeq,
  LogEnd,
  LoggedEvent,
  MessageId,
  RealmId,
  UnixSeconds,
} from '@parley/domain/kernel';
import { type Connection, LIMIT } from '../engine/connection.js';
import { jsonList } from '../engine/rows.js';
import { Tombstones } from '../messages/tombstones.js';
import { eventId, eventIdsAfter, LAST_SEQ, seqAfter } from './event-ids.js';

export class SqliteEventLog implements EventLog {
  private readonly head;
  private readonly heads;
  private readonly pruned;
  private readonly rowsAfter;
  private readonly insert;
  private readonly blankQuoting;
  private readonly oldest;
  private readonly deleteUpTo;
  private readonly setPruned;
  private readonly tombstones;

  constructor(
    private readonly connection: Connection,
    private readonly clock: Clock,
  ) {
    this.tombstones = new Tombstones(connection);
    this.head = connection.values<EventSeq>(`SELECT ${LAST_SEQ} FROM event_log_start s WHERE s.realm_id = ?`);
    this.heads = connection.tuples<[RealmId, EventSeq, number]>(
      `SELECT s.realm_id, ${LAST_SEQ}, s.pruned_up_to FROM event_log_start s ORDER BY s.realm_id`,
    );
    this.pruned = connection.values<number>('SELECT pruned_up_to FROM event_log_start WHERE realm_id = ?');
    this.rowsAfter = connection.tuples<EventTuple>(
      `SELECT seq, at, message_id, format, audience, payload FROM event
       WHERE ${eventIdsAfter('?', '?')} ORDER BY id ${LIMIT}`,
    );
    this.insert = connection.command(
      `INSERT INTO event (id, at, message_id, format, audience, payload) VALUES (${eventId('?', '?')}, ?, ?, ?, ?, ?)`,
    );
    this.blankQuoting = connection.command(
      'UPDATE event SET payload = ?, format = ? WHERE message_id IN (SELECT value FROM json_each(?)) AND +realm_id = ?',
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
    return this.head.get(realmId) ?? (0 as EventSeq);
  }

  async listLastSeqs(): Promise<readonly LogEnd[]> {
    return this.heads.all().map(([realmId, seq, prunedUpTo]) => ({ realmId, seq, prunedUpTo }));
  }

  async listAfter(
    realmId: RealmId,
    after: EventSeq,
    limit: number,
    maxBytes = Number.POSITIVE_INFINITY,
  ): Promise<readonly LoggedEvent[]> {
    const listed: LoggedEvent[] = [];
    let bytes = 0;
    for (const [seq, at, quotes, format, audience, payload] of this.rowsAfter.each(realmId, after, realmId, limit)) {
      const row = { realmId, seq, at, quotes, format, audience, payload };
      const logged = decodeEvent(row);
      listed.push(logged);
      bytes += sizeOfEvent(row, logged);
      if (bytes >= maxBytes) break;
    }
    return listed;
  }

  async prunedUpTo(realmId: RealmId): Promise<number> {
    return this.pruned.get(realmId) ?? 0;
  }

  async append(realmId: RealmId, announcement: Announcement): Promise<EventSeq> {
    const last = this.head.get(realmId);
    if (last === undefined) throw new Error(`There is no realm ${realmId}`);
    const seq = seqAfter(last);
    const { event, audience, quotes = null } = announcement;
    const at = this.clock.now();
    const encoded = encodeEvent(announcement);
    this.insert.run(realmId, seq, at, quotes, encoded.format, encoded.audience, encoded.payload);
    this.connection.record.events.push({ realmId, seq, event, audience, at, quotes });
    return seq;
  }

  async blank(realmId: RealmId, messageIds: readonly MessageId[]): Promise<void> {
    this.blankQuoting.run(BLANK_EVENT.payload, BLANK_EVENT.format, jsonList(messageIds), realmId);
    this.connection.record.blanked.push({ realmId, messageIds });
  }

  async prune(realmId: RealmId, upTo: EventSeq, before: UnixSeconds, limit: number): Promise<number> {
    const oldest = this.oldest.all(realmId, realmId, upTo, limit);
    // Times need not ascend, but what is gone has to be everything up to some seq.
    const firstKept = oldest.findIndex(([, at]) => at >= before);
    const count = firstKept === -1 ? oldest.length : firstKept;
    if (count === 0) return 0;
    const [last] = oldest[count - 1]!;
    this.deleteUpTo.run(realmId, realmId, last);
    this.setPruned.run(last, realmId);
    this.tombstones.prune(realmId, last);
    return count;
  }
}

type EventTuple = readonly [
  seq: EventSeq,
  at: UnixSeconds,
  quotes: MessageId | null,
  format: number,
  audience: string,
  payload: string,
];
