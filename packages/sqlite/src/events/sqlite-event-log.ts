import type {
  Announcement,
  Audience,
  Clock,
  DomainEvent,
  EventLog,
  EventSeq,
  MessageId,
  RealmId,
  StoredEvent,
  UnixSeconds,
} from '@parley/domain';
import { type Connection, LIMIT } from '../connection.js';
import { Tombstones } from '../messages/tombstones.js';
import { jsonList } from '../rows.js';

const BLANK = JSON.stringify({ type: 'blank' } satisfies DomainEvent);

export class SqliteEventLog implements EventLog {
  private readonly head;
  private readonly heads;
  private readonly pruned;
  private readonly rowsAfter;
  private readonly drawSeq;
  private readonly insert;
  private readonly blankQuoting;
  private readonly firstKept;
  private readonly deleteUpTo;
  private readonly setPruned;
  private readonly tombstones;

  constructor(
    connection: Connection,
    private readonly clock: Clock,
  ) {
    this.tombstones = new Tombstones(connection);
    this.head = connection.values<EventSeq>('SELECT head_seq FROM event_counter WHERE realm_id = ?');
    this.heads = connection.tuples<[RealmId, EventSeq]>(
      'SELECT realm_id, head_seq FROM event_counter ORDER BY realm_id',
    );
    this.pruned = connection.values<number>('SELECT pruned_up_to FROM event_counter WHERE realm_id = ?');
    this.rowsAfter = connection.tuples<EventRow>(
      `SELECT seq, at, audience, payload FROM event WHERE realm_id = ? AND seq > ? ORDER BY seq ${LIMIT}`,
    );
    // Without RETURNING, for the reason that SqliteMessageRepository gives.
    this.drawSeq = connection.command('UPDATE event_counter SET head_seq = head_seq + 1 WHERE realm_id = ?');
    this.insert = connection.command(
      'INSERT INTO event (realm_id, seq, at, message_id, audience, payload) VALUES (?, ?, ?, ?, ?, ?)',
    );
    this.blankQuoting = connection.command(
      'UPDATE event SET payload = ? WHERE message_id IN (SELECT value FROM json_each(?)) AND +realm_id = ?',
    );
    this.firstKept = connection.values<EventSeq>(
      'SELECT seq FROM event WHERE realm_id = ? AND (seq > ? OR at >= ?) ORDER BY seq LIMIT 1',
    );
    this.deleteUpTo = connection.command('DELETE FROM event WHERE realm_id = ? AND seq <= ?');
    this.setPruned = connection.command(
      'UPDATE event_counter SET pruned_up_to = max(pruned_up_to, ?) WHERE realm_id = ?',
    );
  }

  async headSeq(realmId: RealmId): Promise<EventSeq> {
    return this.head.get(realmId) ?? (0 as EventSeq);
  }

  async listHeads(): Promise<readonly { readonly realmId: RealmId; readonly seq: EventSeq }[]> {
    return this.heads.all().map(([realmId, seq]) => ({ realmId, seq }));
  }

  async listAfter(realmId: RealmId, after: EventSeq, limit: number): Promise<readonly StoredEvent[]> {
    return this.rowsAfter.all(realmId, after, limit).map((row) => toStoredEvent(realmId, row));
  }

  async prunedUpTo(realmId: RealmId): Promise<number> {
    return this.pruned.get(realmId) ?? 0;
  }

  async append(realmId: RealmId, { event, audience, quotes }: Announcement): Promise<EventSeq> {
    if (this.drawSeq.run(realmId).changes === 0) throw new Error(`There is no realm ${realmId}`);
    const seq = this.head.get(realmId)!;
    this.insert.run(realmId, seq, this.clock.now(), quotes ?? null, JSON.stringify(audience), JSON.stringify(event));
    return seq;
  }

  async blank(realmId: RealmId, messageIds: readonly MessageId[]): Promise<void> {
    this.blankQuoting.run(BLANK, jsonList(messageIds), realmId);
  }

  async prune(realmId: RealmId, upTo: EventSeq, before: UnixSeconds): Promise<void> {
    // Times need not ascend, but what is gone has to be everything up to some seq.
    const firstKept = this.firstKept.get(realmId, upTo, before);
    const last = firstKept === undefined ? (this.head.get(realmId) ?? 0) : firstKept - 1;
    if (this.deleteUpTo.run(realmId, last).changes > 0) this.setPruned.run(last, realmId);
    this.tombstones.prune(realmId, last as EventSeq);
  }
}

type EventRow = readonly [seq: EventSeq, at: UnixSeconds, audience: string, payload: string];

function toStoredEvent(realmId: RealmId, [seq, at, audience, payload]: EventRow): StoredEvent {
  return {
    realmId,
    seq,
    event: JSON.parse(payload) as DomainEvent,
    audience: JSON.parse(audience) as Audience,
    at,
  };
}
