import { getOrThrow, type MessageId, type RealmId, type RecipientId, type UserId } from '@parley/domain/kernel';
import type { ChannelMove, Span, Viewer } from '@parley/domain/messages';
import {
  byRecipient,
  byUser,
  type FlagRow,
  type FlagTuple,
  idOf,
  MESSAGE_INDEX_COLUMNS,
  type MessageIndexColumns,
  type MessageIndexRow,
  type MoveTuple,
  type MutedRange,
  movesByMessage,
  ordinalRangesOf,
  recipientsOf,
  type SpanTuple,
  toFlagRow,
  ViewerMessageState,
  wasMoved,
} from '@parley/storage';
import type { Connection, Query } from '../engine/connection.js';
import { ReadSets } from './read-sets.js';

/** Index rows of messages by id. */
export class MessageIndexRowsById {
  private readonly byId: Query<MessageIndexColumns>;

  constructor(connection: Connection) {
    this.byId = connection.tuples(
      `SELECT ${MESSAGE_INDEX_COLUMNS} FROM message m WHERE m.id = ANY($1::bigint[]) AND m.realm_id = $2 ORDER BY m.id`,
    );
  }

  /** Ascending; unknown ids and ids of other realms are absent. */
  async list(realmId: RealmId, ids: readonly MessageId[]): Promise<MessageIndexRow[]> {
    return ids.length === 0 ? [] : this.byId.all(ids, realmId);
  }
}

const FLAG_COLUMNS =
  'message_id, source, read, starred, collapsed, mentioned, topic_wildcard_mentioned, has_alert_word';

const NONE: readonly never[] = [];
const NO_MOVES: ReadonlyMap<MessageId, readonly ChannelMove[]> = new Map();

/** Loads per-viewer state with a fixed number of statements for any number of messages, sent together. */
export class ViewerMessageStates {
  readonly readSets: ReadSets;
  private readonly spans: Query<readonly [UserId, ...SpanTuple]>;
  private readonly flags: Query<readonly [UserId, ...FlagTuple]>;
  private readonly mutes: Query<readonly [UserId, ...MutedRange]>;
  private readonly moves: Query<MoveTuple>;

  constructor(connection: Connection) {
    this.readSets = new ReadSets(connection);
    this.spans = connection.tuples(
      `SELECT user_id, recipient_id, from_ordinal, to_ordinal, from_move, to_move FROM span
       WHERE user_id = ANY($1::bigint[]) AND recipient_id = ANY($2::bigint[])`,
    );
    this.flags = connection.tuples(
      `SELECT user_id, ${FLAG_COLUMNS} FROM message_flag
       WHERE user_id = ANY($1::bigint[]) AND message_id = ANY($2::bigint[])`,
    );
    this.mutes = connection.tuples(
      'SELECT user_id, sender_id, from_message_id, until_message_id FROM muted_sender WHERE user_id = ANY($1::bigint[])',
    );
    this.moves = connection.tuples<MoveTuple>(
      `SELECT moved.message_id, move.id, move.target_recipient_id, move.is_history_protected
       FROM moved_message moved JOIN channel_move move ON move.id = moved.move_id
       WHERE moved.message_id = ANY($1::bigint[])
       ORDER BY moved.message_id, move.id`,
    );
  }

  /** Requires messages of the viewer's realm. */
  async load({ userId }: Viewer, messages: readonly MessageIndexRow[]): Promise<ViewerMessageState> {
    return getOrThrow(await this.loadAll([userId], messages), userId);
  }

  /** Returns states by user for messages of their realm. */
  async loadAll(
    userIds: readonly UserId[],
    messages: readonly MessageIndexRow[],
  ): Promise<ReadonlyMap<UserId, ViewerMessageState>> {
    if (messages.length === 0 || userIds.length === 0)
      return new Map(
        userIds.map((id) => [id, new ViewerMessageState(new Map(), NO_MOVES, new Map(), new Map(), NONE)]),
      );
    const moves = await this.movesOf(messages);
    const recipientIds = recipientsOf(ordinalRangesOf(messages), moves);
    const [spans, flagRows, mutes, segments] = await Promise.all([
      this.spansOfAll(userIds, recipientIds),
      this.flags.all(userIds, messages.map(idOf)),
      this.mutes.all(userIds),
      this.readSets.loadAll(
        userIds,
        messages.map(([, , , recipientId, ordinal]) => ({ recipientId, ordinal })),
      ),
    ]);
    const [flagsOf, mutesOf] = [byUser(flagRows), byUser(mutes)];
    return new Map(
      userIds.map((userId) => [
        userId,
        new ViewerMessageState(
          spans.get(userId) ?? new Map(),
          moves,
          new Map((flagsOf.get(userId) ?? NONE).map(([, ...row]) => [row[0], toFlagRow(row)])),
          segments.get(userId) ?? new Map(),
          (mutesOf.get(userId) ?? NONE).map(([, ...mute]) => mute),
        ),
      ]),
    );
  }

  /** Returns spans by user, then by recipient. */
  async spansOfAll(
    userIds: readonly UserId[],
    recipientIds: Iterable<RecipientId>,
  ): Promise<ReadonlyMap<UserId, ReadonlyMap<RecipientId, readonly Span[]>>> {
    const rows = byUser(await this.spans.all(userIds, [...recipientIds]));
    return new Map([...rows].map(([userId, own]) => [userId, byRecipient(own.map(([, ...row]) => row))]));
  }

  /**
   * Returns the messages, in order, that belong to the viewer by spans and moves, given that messages never moved do.
   */
  async ownMoved<Row extends MessageIndexRow>(viewer: Viewer, messages: readonly Row[]): Promise<Row[]> {
    const moved = messages.filter(wasMoved);
    if (moved.length === 0) return [...messages];
    const state = await this.ofOwnership(viewer, moved);
    return messages.filter((message) => !wasMoved(message) || state.ownership(message) !== 'none');
  }

  /** Returns a state that supports only ownership. */
  async ofOwnership(
    { userId }: Viewer,
    messages: readonly MessageIndexRow[],
  ): Promise<Pick<ViewerMessageState, 'ownership'>> {
    const moves = await this.movesOf(messages);
    const spans = await this.spansOfAll([userId], recipientsOf(ordinalRangesOf(messages), moves));
    return new ViewerMessageState(spans.get(userId) ?? new Map(), moves, new Map(), new Map(), NONE);
  }

  /** Returns existing rows of `message_flag`. */
  async flagRows({ userId }: Viewer, ids: readonly MessageId[]): Promise<ReadonlyMap<MessageId, FlagRow>> {
    if (ids.length === 0) return new Map();
    return new Map((await this.flags.all([userId], ids)).map(([, ...row]) => [row[0], toFlagRow(row)]));
  }

  /** Returns ordered moves by message; messages that never changed channel or conversation are absent. */
  async movesOf(messages: readonly MessageIndexRow[]): Promise<ReadonlyMap<MessageId, readonly ChannelMove[]>> {
    const moved = messages.filter(wasMoved).map(idOf);
    return moved.length === 0 ? NO_MOVES : this.movesOfIds(moved);
  }

  async movesOfIds(ids: readonly MessageId[]): Promise<ReadonlyMap<MessageId, readonly ChannelMove[]>> {
    return movesByMessage(await this.moves.all(ids));
  }

  async mutesOf({ userId }: Viewer): Promise<readonly MutedRange[]> {
    return (await this.mutes.all([userId])).map(([, ...mute]) => mute);
  }
}
