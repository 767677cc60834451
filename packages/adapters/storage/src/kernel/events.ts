import {
  BLANK_EVENT,
  completeEvents,
  decodeEvent,
  decodeQueue,
  encodeQueue,
  sizeOfEvent,
} from '@parley/domain/composition';
import {
  type Announcement,
  decodePresentation,
  type EncodedRow,
  type EndedQueue,
  type EventLog,
  type EventQueue,
  type EventQueueRepository,
  type EventSeq,
  type Expiry,
  type LogEnd,
  type LoggedEvent,
  type MessageId,
  type QueuePosition,
  type RealmId,
  type UnixSeconds,
  type UnreadableQueue,
  type UserId,
} from '@parley/domain/kernel';
import type { MessagePageReads } from '@parley/domain/messages';
import type { FeatureTables } from '../engine/feature.js';
import { EXPIRES, KEY, type PersonalData } from '../engine/personal-data.js';
import type { Parameter, Statements } from '../engine/statements.js';

type EventTuple = readonly [
  seq: EventSeq,
  at: UnixSeconds,
  quotes: MessageId | null,
  format: number,
  audience: string,
  payload: string,
];

const encodedRow = (realmId: RealmId, [seq, at, quotes, format, audience, payload]: EventTuple): EncodedRow => ({
  realmId,
  seq,
  at,
  quotes,
  format,
  audience,
  payload,
});

/** Decodes events up to the first one at which they have `maxBytes`, at least one if there are any. */
function decodeUpTo(
  realmId: RealmId,
  rows: Iterable<EventTuple>,
  maxBytes: number,
  pages: Pick<MessagePageReads, 'listViews'>,
): Promise<readonly LoggedEvent[]> {
  const listed: ReturnType<typeof decodeEvent>[] = [];
  let bytes = 0;
  for (const tuple of rows) {
    const row = encodedRow(realmId, tuple);
    const logged = decodeEvent(row);
    listed.push(logged);
    bytes += sizeOfEvent(row, logged);
    if (bytes >= maxBytes) break;
  }
  return completeEvents(listed, (ids) => pages.listViews(realmId, ids));
}

interface QueueRow {
  readonly id: string;
  readonly realm_id: RealmId;
  readonly owner_id: UserId;
  readonly filter: string;
  readonly presentation: string;
  readonly start_seq: EventSeq;
  readonly acked: number;
  readonly floor_seq: EventSeq;
  readonly last_polled_at: UnixSeconds;
  readonly idle_timeout_seconds: number;
}

const ENDED = 'realm_id, id, owner_id, last_polled_at, presentation';
type EndedTuple = readonly [RealmId, string, UserId, UnixSeconds, presentation: string];

const toEndedQueue = ([realmId, id, ownerId, lastPolledAt, presentation]: EndedTuple): EndedQueue => ({
  ...{ realmId, id, ownerId, lastPolledAt },
  presentation: decodePresentation(presentation),
});

const toQueue = (row: QueueRow): EventQueue | UnreadableQueue =>
  decodeQueue({
    id: row.id,
    realmId: row.realm_id,
    ownerId: row.owner_id,
    filter: row.filter,
    presentation: row.presentation,
    startSeq: row.start_seq,
    acked: row.acked,
    floorSeq: row.floor_seq,
    lastPolledAt: row.last_polled_at,
    idleTimeoutSeconds: row.idle_timeout_seconds,
  });

/** Maximum number of events that a removal appends before the event announcing it. */
const EVENTS_OF_A_UNIT = 1000;

/** Maximum number of spans removed at once. */
const MAX_SPANS = 2500;

/** Rows needed only by events: traces of deleted messages, and ended spans without a message. */
class Tombstones {
  private readonly statements;
  private readonly deleteSpans;

  constructor(statements: Statements) {
    const forgotten = 'SELECT id FROM removed_message WHERE realm_id = ? AND removed_at_seq < ?';
    this.statements = [
      statements.command(`DELETE FROM removed_message_holder WHERE message_id IN (${forgotten})`),
      statements.command(`DELETE FROM moved_message WHERE message_id IN (${forgotten})`),
      statements.command('DELETE FROM removed_message WHERE realm_id = ? AND removed_at_seq < ?'),
    ];
    this.deleteSpans = statements.command(
      `DELETE FROM span WHERE (user_id, recipient_id, number) IN (
         SELECT user_id, recipient_id, number FROM span ${statements.dialect.indexedBy('span_without_messages')}
         WHERE realm_id = ? AND to_seq <= ? AND to_ordinal <= from_ordinal AND to_move = from_move
         ORDER BY to_seq LIMIT ${MAX_SPANS})`,
    );
  }

  /** Must be called when events up to this sequence number are pruned. */
  prune(realmId: RealmId, upTo: EventSeq): void {
    for (const statement of this.statements) statement.defer(realmId, upTo - EVENTS_OF_A_UNIT);
    this.deleteSpans.defer(realmId, upTo);
  }
}

/** Parts of statements that depend on the key of an event. */
export interface EventKeys {
  /** Query for the realm id, the latest sequence number and the pruned position of all realms. */
  readonly heads: string;
  /** Table of pruned positions. */
  readonly positions: string;
  /** Condition on events after a sequence number and up to another one, in the order of the column `order`. */
  readonly within: string;
  readonly order: string;
  /** Parameters of `within`; includes the newest events without `upTo`. */
  parametersOf(realmId: RealmId, after: number, upTo?: number): readonly Parameter[];
}

type HeadTuple = readonly [RealmId, EventSeq, prunedUpTo: number];

/** Event log without appending and measuring events, which differ between the databases. */
export abstract class SqlEventLog implements EventLog {
  private readonly heads;
  private readonly headsOf;
  private readonly pruned;
  private readonly rowsAfter;
  private readonly blankQuoting;
  private readonly replaceContent;
  private readonly oldest;
  private readonly deleteUpTo;
  private readonly setPruned;
  private readonly tombstones;

  constructor(
    private readonly statements: Statements,
    private readonly keys: EventKeys,
    private readonly pages: Pick<MessagePageReads, 'listViews'>,
  ) {
    this.tombstones = new Tombstones(statements);
    const { inSet } = statements.dialect;
    const { heads, positions, within, order } = keys;
    this.heads = statements.tuples<HeadTuple>(`${heads} ORDER BY realm_id`);
    this.headsOf = statements.tuples<HeadTuple>(`${heads} WHERE realm_id ${inSet} ORDER BY realm_id`);
    this.pruned = statements.values<number>(`SELECT pruned_up_to FROM ${positions} WHERE realm_id = ?`);
    this.rowsAfter = statements.tuples<EventTuple>(
      `SELECT seq, at, message_id, format, audience, payload FROM event WHERE ${within} ORDER BY ${order} LIMIT ? + 0`,
    );
    this.blankQuoting = statements.command(
      `UPDATE event SET payload = ?, format = ? WHERE message_id ${inSet} AND +realm_id = ?`,
    );
    this.replaceContent = statements.command(
      `UPDATE event SET payload = ?, format = coalesce(?, format) WHERE ${within}`,
    );
    this.oldest = statements.tuples<readonly [EventSeq, UnixSeconds]>(
      `SELECT seq, at FROM event WHERE ${within} ORDER BY ${order} LIMIT ? + 0`,
    );
    this.deleteUpTo = statements.command(`DELETE FROM event WHERE ${within}`);
    this.setPruned = statements.command(
      `UPDATE ${positions} SET pruned_up_to = ? WHERE realm_id = ? AND pruned_up_to < ?`,
    );
  }

  abstract lastSeq(realmId: RealmId): Promise<EventSeq>;
  abstract seqBeyond(realmId: RealmId, bytes: number): Promise<number>;
  abstract append(realmId: RealmId, announcement: Announcement): Promise<void>;

  /** Called after stored events were changed or removed. */
  protected onChange(_realmId: RealmId): void {}

  async listLastSeqs(realmIds?: readonly RealmId[]): Promise<readonly LogEnd[]> {
    const heads = await (realmIds ? this.headsOf.all(this.statements.dialect.set(realmIds)) : this.heads.all());
    return heads.map(([realmId, seq, prunedUpTo]) => ({ realmId, seq, prunedUpTo }));
  }

  async listAfter(
    realmId: RealmId,
    after: EventSeq,
    limit: number,
    maxBytes = Number.POSITIVE_INFINITY,
  ): Promise<readonly LoggedEvent[]> {
    const rows = await this.rowsAfter.each(...this.keys.parametersOf(realmId, after), limit);
    return decodeUpTo(realmId, rows, maxBytes, this.pages);
  }

  async prunedUpTo(realmId: RealmId): Promise<number> {
    return (await this.pruned.get(realmId)) ?? 0;
  }

  async listRows(realmId: RealmId, after: number, limit: number): Promise<readonly EncodedRow[]> {
    const rows = await this.rowsAfter.all(...this.keys.parametersOf(realmId, after), limit);
    return rows.map((tuple) => encodedRow(realmId, tuple));
  }

  async replace(realmId: RealmId, seq: EventSeq, payload: string | null): Promise<void> {
    const format = payload === null ? BLANK_EVENT.format : null;
    const place = this.keys.parametersOf(realmId, seq - 1, seq);
    this.replaceContent.defer(payload ?? BLANK_EVENT.payload, format, ...place);
    this.onChange(realmId);
  }

  async blank(realmId: RealmId, messageIds: readonly MessageId[]): Promise<void> {
    this.statements.record.requireRealm(realmId);
    const { payload, format } = BLANK_EVENT;
    await this.blankQuoting.run(payload, format, this.statements.dialect.set(messageIds), realmId);
    this.onChange(realmId);
    await this.append(realmId, { event: { type: 'blanked', messageIds }, audience: { kind: 'nobody' } });
  }

  async prune(realmId: RealmId, upTo: EventSeq, before: UnixSeconds, limit: number): Promise<number> {
    const oldest = await this.oldest.all(...this.keys.parametersOf(realmId, 0, upTo), limit);
    // Times need not ascend, but the pruned events must be a prefix by sequence.
    const firstKept = oldest.findIndex(([, at]) => at >= before);
    const count = firstKept === -1 ? oldest.length : firstKept;
    if (count > 0) this.removeUpTo(realmId, oldest[count - 1]![0]);
    return count;
  }

  async shrink(realmId: RealmId, maxBytes: number): Promise<void> {
    const upTo = await this.seqBeyond(realmId, maxBytes);
    if (upTo > 0) this.removeUpTo(realmId, upTo as EventSeq);
  }

  private removeUpTo(realmId: RealmId, seq: EventSeq): void {
    this.deleteUpTo.defer(...this.keys.parametersOf(realmId, 0, seq));
    this.setPruned.defer(seq, realmId, seq);
    this.tombstones.prune(realmId, seq);
    this.onChange(realmId);
  }
}

/** Event queue repository without saving positions, which differs between the databases. */
export class SqlEventQueueRepository implements Omit<EventQueueRepository, 'savePositions'> {
  private readonly row;
  private readonly ofUser;
  private readonly lowest;
  private readonly insert;
  private readonly delete;
  private readonly deleteOfUser;
  private readonly deleteIdle;
  private readonly deleteBehind;
  private readonly pollNow;

  constructor(private readonly statements: Statements) {
    const { dialect } = statements;
    this.row = statements.rows<QueueRow>('SELECT * FROM event_queue WHERE id = ? AND realm_id = ?');
    this.ofUser = statements.tuples<[string, UnixSeconds]>(
      'SELECT id, last_polled_at FROM event_queue WHERE owner_id = ? AND realm_id = ? ORDER BY last_polled_at',
    );
    this.lowest = statements.values<EventSeq | null>('SELECT min(floor_seq) FROM event_queue WHERE realm_id = ?');
    this.insert = statements.command(
      `INSERT INTO event_queue (id, realm_id, owner_id, filter, presentation, start_seq, acked, floor_seq,
                                last_polled_at, idle_timeout_seconds)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    // The plus sign keeps SQLite from using the floor index, which would visit every queue of the realm.
    this.delete = statements.command(`DELETE FROM event_queue WHERE id ${dialect.inSet} AND +realm_id = ?`);
    this.deleteOfUser = statements.command('DELETE FROM event_queue WHERE owner_id = ? AND realm_id = ?');
    this.deleteIdle = statements.tuples<EndedTuple>(
      `DELETE FROM event_queue WHERE id IN (
         SELECT id FROM event_queue ${dialect.indexedBy('event_queue_by_deadline')}
         WHERE last_polled_at + idle_timeout_seconds <= ? AND ? + idle_timeout_seconds <= ?
         LIMIT ? + 0)
       RETURNING ${ENDED}`,
    );
    this.pollNow = statements.command(
      'UPDATE event_queue SET last_polled_at = ? WHERE last_polled_at > ? + idle_timeout_seconds',
    );
    this.deleteBehind = statements.tuples<EndedTuple>(
      `DELETE FROM event_queue WHERE id IN (
         SELECT id FROM event_queue ${dialect.indexedBy('event_queue_by_floor')}
         WHERE realm_id = ? AND floor_seq < ? LIMIT ? + 0)
       RETURNING ${ENDED}`,
    );
  }

  async find(realmId: RealmId, id: string): Promise<EventQueue | UnreadableQueue | null> {
    const row = await this.row.get(id, realmId);
    return row ? toQueue(row) : null;
  }

  async listOf(realmId: RealmId, ownerId: UserId): Promise<readonly Pick<QueuePosition, 'id' | 'lastPolledAt'>[]> {
    return (await this.ofUser.all(ownerId, realmId)).map(([id, lastPolledAt]) => ({ id, lastPolledAt }));
  }

  async lowestFloor(realmId: RealmId): Promise<EventSeq | null> {
    return (await this.lowest.get(realmId)) ?? null;
  }

  async add(queue: EventQueue): Promise<void> {
    const { filter, presentation } = encodeQueue(queue);
    await this.insert.run(
      queue.id,
      queue.realmId,
      queue.ownerId,
      filter,
      presentation,
      queue.startSeq,
      queue.acked,
      queue.floorSeq,
      queue.lastPolledAt,
      queue.idleTimeoutSeconds,
    );
  }

  async remove(realmId: RealmId, ids: readonly string[]): Promise<void> {
    this.delete.defer(this.statements.dialect.set(ids), realmId);
  }

  async removeOfUser(realmId: RealmId, ownerId: UserId): Promise<void> {
    await this.deleteOfUser.run(ownerId, realmId);
  }

  async removeIdle({ before, servedSince }: Expiry, limit: number): Promise<readonly EndedQueue[]> {
    return (await this.deleteIdle.all(before, servedSince, before, limit)).map(toEndedQueue);
  }

  async bringBack(now: UnixSeconds): Promise<void> {
    await this.pollNow.run(now, now);
  }

  async removeBehind(realmId: RealmId, floorSeq: number, limit: number): Promise<readonly EndedQueue[]> {
    return (await this.deleteBehind.all(realmId, floorSeq, limit)).map(toEndedQueue);
  }
}

/** Tables of events and queues; `positions` is the table of pruned positions. */
export const eventTables = <Name extends Lowercase<string>>(positions: Name) =>
  ({
    schema: 'events',
    realmTables: ['event_queue', 'event_consumer_position', 'event', positions],
    persons: {
      event_queue: {
        data: 'Event queues of clients',
        fate: { ...KEY, ends: [...KEY.ends, 'deactivation', 'inherit', 'merge'] },
        erase: 'owner_id = {id}',
      },
      event_consumer_position: { other: ['consumer'] },
      event: { data: 'Events that clients have not read', fate: EXPIRES, anonymise: ['audience', 'payload'] },
      ...({ [positions]: {} } as Readonly<Record<Name, PersonalData>>),
    },
    notExported: {
      event: 'Clients register anew.',
      [positions]: 'Clients register anew.',
      event_queue: 'Clients register anew.',
      event_consumer_position: 'Consumers belong to the host application.',
    },
  }) satisfies FeatureTables;
