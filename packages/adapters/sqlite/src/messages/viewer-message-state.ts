import { firstOf, lastOf, type MessageId, type RealmId, type RecipientId, type UserId } from '@parley/domain/kernel';
import type { ChannelMove, ReadSegment, Span, Viewer } from '@parley/domain/messages';
import {
  byRecipient,
  byUser,
  type FlagRow,
  type FlagTuple,
  idOf,
  jsonList,
  MESSAGE_INDEX_COLUMNS,
  type MessageIndexRow,
  type MoveTuple,
  type MutedRange,
  movesByMessage,
  ordinalRangesOf,
  PROPERTY_BITS,
  type RecipientOrdinalRange,
  recipientsOf,
  type SpanTuple,
  toFlagRow,
  ViewerMessageState,
  wasMoved,
} from '@parley/storage';
import { type Connection, LIMIT, type Parameter, type Query } from '../engine/connection.js';
import { ReadSets } from './read-sets.js';

/**
 * Query for index rows, which SQLite returns as one JSON text. Reading single rows through the driver costs more than
 * finding them.
 */
export class MessageIndexQuery {
  private readonly query: Query<string>;

  /** @param from part of a query over `message m` after its columns */
  constructor(connection: Connection, from: string) {
    this.query = connection.values<string>(
      `SELECT json_group_array(json_array(id, sender_id, recipient_id, sent_recipient_id, ordinal, property_bits, version))
       FROM (SELECT ${MESSAGE_INDEX_COLUMNS} ${from})`,
    );
  }

  all(...parameters: Parameter[]): MessageIndexRow[] {
    return JSON.parse(this.query.one(...parameters)) as MessageIndexRow[];
  }
}

/** Minimum number of ids for trying neighbours in an index. */
const MANY = 64;

/** Index rows of messages by id. */
export class MessageIndexRowsById {
  private readonly byId: MessageIndexQuery;
  private readonly topicOf: Query<readonly [RecipientId, string | null]>;
  private readonly inTopic: Query<readonly string[]>;

  constructor(connection: Connection) {
    this.byId = new MessageIndexQuery(
      connection,
      'FROM json_each(?) wanted CROSS JOIN message m ON m.id = wanted.value WHERE m.realm_id = ?',
    );
    this.topicOf = connection.tuples('SELECT recipient_id, topic_key FROM message WHERE id = ? AND realm_id = ?');
    this.inTopic = connection.tuples(
      `SELECT json_group_array(id), json_group_array(sender_id), json_group_array(ordinal), json_group_array(property_bits),
              json_group_array(version)
       FROM (SELECT id, sender_id, ordinal, property_bits, version FROM message INDEXED BY message_by_topic
             WHERE recipient_id = ? AND topic_key = ? AND id BETWEEN ? AND ? AND property_bits & ${PROPERTY_BITS.wasMoved} = 0
             ORDER BY id ${LIMIT})`,
    );
  }

  /** Ascending; unknown ids and ids of other realms are absent. */
  list(realmId: RealmId, ids: readonly MessageId[]): MessageIndexRow[] {
    if (ids.length === 0) return [];
    const wanted = isAscending(ids) ? ids : [...new Set(ids)].sort((a, b) => a - b);
    const near = wanted.length < MANY ? [] : this.neighbours(realmId, wanted);
    if (near.length === wanted.length) return near;
    const found = new Set(near.map(idOf));
    const rest = wanted.filter((id) => !found.has(id));
    return [...near, ...this.byId.all(JSON.stringify(rest), realmId)].sort((a, b) => idOf(a) - idOf(b));
  }

  /**
   * Returns the messages that share the topic of the first one. Large sets usually belong to one topic, whose index
   * entries are adjacent while message rows are scattered.
   */
  private neighbours(realmId: RealmId, wanted: readonly MessageId[]): MessageIndexRow[] {
    const [recipientId, topicKey] = this.topicOf.get(firstOf(wanted), realmId) ?? [];
    if (recipientId === undefined || topicKey == null) return [];
    const columns = this.inTopic.one(recipientId, topicKey, firstOf(wanted), lastOf(wanted), 2 * wanted.length);
    const [ids, senders, ordinals, propertyBits, versions] = columns.map((column) => JSON.parse(column) as number[]);
    const rows: MessageIndexRow[] = [];
    let next = 0;
    for (let i = 0; i < ids!.length && next < wanted.length; i++) {
      const id = ids![i] as MessageId;
      while (wanted[next]! < id) next++;
      if (wanted[next] !== id) continue;
      const senderId = senders![i] as UserId;
      // A message never moved is still at its original recipient.
      rows.push([id, senderId, recipientId, recipientId, ordinals![i]!, propertyBits![i]!, versions![i]!]);
    }
    return rows;
  }
}

/** True for ascending ids without duplicates, as clients usually send them. */
const isAscending = (ids: readonly number[]): boolean => ids.every((id, i) => i === 0 || ids[i - 1]! < id);

const FLAG_COLUMNS =
  'message_id, source, read, starred, collapsed, mentioned, topic_wildcard_mentioned, has_alert_word';

/**
 * Number of rows, in addition to two per message, that a range query may return before messages are looked up
 * individually. A page of a quiet channel spans a long time with rows of other channels.
 */
const RANGE_ALLOWANCE = 64;

const NONE: readonly never[] = [];

/**
 * Loads per-viewer state with a fixed number of statements for any number of messages. Separate from PostgreSQL's:
 * ranges of ids are faster than lists here, and every page would wait for several promises.
 */
export class ViewerMessageStates {
  readonly readSets: ReadSets;
  private readonly spans: Query<SpanTuple>;
  private readonly flagsBetween: Query<FlagTuple>;
  private readonly flagsOf: Query<FlagTuple>;
  private readonly spansOfUsers: Query<readonly [UserId, ...SpanTuple]>;
  private readonly flagsOfUsers: Query<readonly [UserId, ...FlagTuple]>;
  private readonly mutesOfUsers: Query<readonly [UserId, ...MutedRange]>;
  private readonly moves: Query<MoveTuple>;
  private readonly mutes: Query<MutedRange>;

  constructor(connection: Connection) {
    this.readSets = new ReadSets(connection);
    this.spans = connection.tuples<SpanTuple>(
      `SELECT recipient_id, from_ordinal, to_ordinal, from_move, to_move FROM span
       WHERE user_id = ? AND recipient_id IN (SELECT value FROM json_each(?)) AND realm_id = ?`,
    );
    this.flagsBetween = connection.tuples<FlagTuple>(
      `SELECT ${FLAG_COLUMNS} FROM message_flag WHERE user_id = ? AND message_id BETWEEN ? AND ? ${LIMIT}`,
    );
    this.flagsOf = connection.tuples<FlagTuple>(
      `SELECT ${FLAG_COLUMNS} FROM message_flag
       WHERE user_id = ? AND message_id IN (SELECT value FROM json_each(?))`,
    );
    this.spansOfUsers = connection.tuples<readonly [UserId, ...SpanTuple]>(
      `SELECT s.user_id, s.recipient_id, s.from_ordinal, s.to_ordinal, s.from_move, s.to_move
       FROM json_each(?) u CROSS JOIN json_each(?) r
       CROSS JOIN span s ON s.user_id = u.value AND s.recipient_id = r.value`,
    );
    this.flagsOfUsers = connection.tuples<readonly [UserId, ...FlagTuple]>(
      `SELECT f.user_id, ${FLAG_COLUMNS} FROM json_each(?) u CROSS JOIN json_each(?) m
       CROSS JOIN message_flag f ON f.user_id = u.value AND f.message_id = m.value`,
    );
    this.mutesOfUsers = connection.tuples<readonly [UserId, ...MutedRange]>(
      `SELECT user_id, sender_id, from_message_id, until_message_id FROM muted_sender
       WHERE user_id IN (SELECT value FROM json_each(?))`,
    );
    this.moves = connection.tuples<MoveTuple>(
      `SELECT moved.message_id, move.id, move.target_recipient_id, move.is_history_protected
       FROM moved_message moved JOIN channel_move move ON move.id = moved.move_id
       WHERE moved.message_id IN (SELECT value FROM json_each(?))
       ORDER BY moved.message_id, move.id`,
    );
    this.mutes = connection.tuples<MutedRange>(
      'SELECT sender_id, from_message_id, until_message_id FROM muted_sender WHERE user_id = ?',
    );
  }

  /** Requires messages of the viewer's realm. */
  load(viewer: Viewer, messages: readonly MessageIndexRow[]): ViewerMessageState {
    if (messages.length === 0) return new ViewerMessageState(new Map(), new Map(), new Map(), new Map(), NONE);
    const moves = this.movesOf(messages);
    const ranges = ordinalRangesOf(messages);
    const spans = this.spansOf(viewer, recipientsOf(ranges, moves));
    return new ViewerMessageState(
      spans,
      moves,
      this.flagRows(viewer, messages.map(idOf)),
      // Without a span there is no read set.
      this.segments(
        viewer,
        messages,
        ranges.filter(({ recipientId }) => spans.has(recipientId)),
      ),
      this.mutesOf(viewer),
    );
  }

  /** Returns states by user for messages of their realm, with the same number of statements for any number of users. */
  loadAll(userIds: readonly UserId[], messages: readonly MessageIndexRow[]): ReadonlyMap<UserId, ViewerMessageState> {
    const moves = this.movesOf(messages);
    const ranges = ordinalRangesOf(messages);
    const spans = this.spansOfAll(userIds, recipientsOf(ranges, moves));
    const rows = byUser(this.flagsOfUsers.all(jsonList(userIds), jsonList(messages.map(idOf))));
    const mutes = byUser(this.mutesOfUsers.all(jsonList(userIds)));
    const each = messages.map(([, , , recipientId, ordinal]) => ({ recipientId, first: ordinal, last: ordinal }));
    const segments = this.readSets.loadAll(userIds, each);
    return new Map(
      userIds.map((userId) => [
        userId,
        new ViewerMessageState(
          spans.get(userId) ?? new Map(),
          moves,
          new Map((rows.get(userId) ?? NONE).map(([, ...row]) => [row[0], toFlagRow(row)])),
          segments.get(userId) ?? new Map(),
          (mutes.get(userId) ?? NONE).map(([, ...mute]) => mute),
        ),
      ]),
    );
  }

  /** Returns spans by user, then by recipient. */
  spansOfAll(
    userIds: readonly UserId[],
    recipientIds: Iterable<RecipientId>,
  ): ReadonlyMap<UserId, ReadonlyMap<RecipientId, readonly Span[]>> {
    const rows = byUser(this.spansOfUsers.all(jsonList(userIds), jsonList(recipientIds)));
    return new Map([...rows].map(([userId, own]) => [userId, byRecipient(own.map(([, ...row]) => row))]));
  }

  /** Returns the messages, in order, that spans and moves make the viewer's own. */
  own(viewer: Viewer, messages: readonly MessageIndexRow[]): MessageIndexRow[] {
    if (messages.length === 0) return [];
    const state = this.ofOwnership(viewer, messages);
    return messages.filter((message) => state.ownership(message) !== 'none');
  }

  /** Returns a state that supports only ownership. */
  ofOwnership(viewer: Viewer, messages: readonly MessageIndexRow[]): Pick<ViewerMessageState, 'ownership'> {
    const moves = this.movesOf(messages);
    const spans = this.spansOf(viewer, recipientsOf(ordinalRangesOf(messages), moves));
    return new ViewerMessageState(spans, moves, new Map(), new Map(), NONE);
  }

  /** Returns existing rows of `message_flag`. */
  flagRows({ userId }: Viewer, ids: readonly MessageId[]): ReadonlyMap<MessageId, FlagRow> {
    if (ids.length === 0) return new Map();
    let first = firstOf(ids);
    let last = first;
    for (const id of ids) {
      if (id < first) first = id;
      if (id > last) last = id;
    }
    const limit = 2 * ids.length + RANGE_ALLOWANCE;
    let rows = this.flagsBetween.all(userId, first, last, limit);
    if (rows.length === limit) rows = this.flagsOf.all(userId, jsonList(ids));
    return new Map(rows.map((row) => [row[0], toFlagRow(row)]));
  }

  /** Returns spans by recipient. */
  spansOf({ realmId, userId }: Viewer, recipientIds: Iterable<RecipientId>): ReadonlyMap<RecipientId, readonly Span[]> {
    return byRecipient(this.spans.all(userId, jsonList(recipientIds), realmId));
  }

  /** Returns ordered moves by message; messages that never changed channel or conversation are absent. */
  movesOf(messages: readonly MessageIndexRow[]): ReadonlyMap<MessageId, readonly ChannelMove[]> {
    const moved = messages.filter(wasMoved).map(idOf);
    return moved.length === 0 ? new Map() : this.movesOfIds(moved);
  }

  movesOfIds(ids: readonly MessageId[]): ReadonlyMap<MessageId, readonly ChannelMove[]> {
    return movesByMessage(this.moves.all(jsonList(ids)));
  }

  mutesOf({ userId }: Viewer): readonly MutedRange[] {
    return this.mutes.all(userId);
  }

  private segments(
    viewer: Viewer,
    messages: readonly MessageIndexRow[],
    ranges: readonly RecipientOrdinalRange[],
  ): ReadonlyMap<RecipientId, readonly ReadSegment[]> {
    if (ranges.length === 0) return new Map();
    const limit = 2 * messages.length + RANGE_ALLOWANCE;
    const segments = this.readSets.load(viewer, ranges, limit);
    let count = 0;
    for (const list of segments.values()) count += list.length;
    if (count < limit) return segments;
    const each = messages.map(([, , , recipientId, ordinal]) => ({ recipientId, first: ordinal, last: ordinal }));
    return this.readSets.load(
      viewer,
      each.sort((a, b) => a.recipientId - b.recipientId || a.first - b.first),
    );
  }
}
