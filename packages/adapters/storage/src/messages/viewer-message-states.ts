import { getOrThrow, type MessageId, type Ordinal, type RecipientId, type UserId } from '@parley/domain/kernel';
import type { ChannelMove, ReadSegment, Span, Viewer } from '@parley/domain/messages';
import { grouped } from '../engine/rows.js';
import type { MaybePromise, Statements } from '../engine/statements.js';
import {
  byRecipient,
  type FlagRow,
  type FlagTuple,
  idOf,
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
} from './viewer-message-state.js';

export const FLAG_COLUMNS =
  'message_id, source, read, starred, collapsed, mentioned, topic_wildcard_mentioned, has_alert_word';

const NONE: readonly never[] = [];
const NO_MOVES: ReadonlyMap<MessageId, readonly ChannelMove[]> = new Map();

export interface SegmentReads {
  /** Returns segments that contain one of these ordinals, by user, then by recipient, ascending. */
  loadAll(
    userIds: readonly UserId[],
    ordinals: readonly { readonly recipientId: RecipientId; readonly ordinal: Ordinal }[],
  ): MaybePromise<ReadonlyMap<UserId, ReadonlyMap<RecipientId, readonly ReadSegment[]>>>;
}

/** Loads per-viewer state with a fixed number of statements for any number of messages, sent together. */
export class SqlViewerMessageStates<ReadSets extends SegmentReads> {
  private readonly spans;
  private readonly spansOfUsers;
  private readonly flags;
  private readonly mutes;
  private readonly moves;

  constructor(
    private readonly statements: Statements,
    readonly readSets: ReadSets,
  ) {
    const { inSet } = statements.dialect;
    this.spans = statements.tuples<SpanTuple>(
      `SELECT recipient_id, from_ordinal, to_ordinal, from_move, to_move FROM span
       WHERE user_id = ? AND recipient_id ${inSet} AND realm_id = ?`,
    );
    this.spansOfUsers = statements.tuples<readonly [UserId, ...SpanTuple]>(
      `SELECT user_id, recipient_id, from_ordinal, to_ordinal, from_move, to_move FROM span
       WHERE user_id ${inSet} AND recipient_id ${inSet}`,
    );
    this.flags = statements.tuples<readonly [UserId, ...FlagTuple]>(
      `SELECT user_id, ${FLAG_COLUMNS} FROM message_flag WHERE user_id ${inSet} AND message_id ${inSet}`,
    );
    this.mutes = statements.tuples<readonly [UserId, ...MutedRange]>(
      `SELECT user_id, sender_id, from_message_id, until_message_id FROM muted_sender WHERE user_id ${inSet}`,
    );
    this.moves = statements.tuples<MoveTuple>(
      `SELECT moved.message_id, move.id, move.target_recipient_id, move.is_history_protected
       FROM moved_message moved JOIN channel_move move ON move.id = moved.move_id
       WHERE moved.message_id ${inSet}
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
    const users = this.statements.dialect.set(userIds);
    const [spans, flagRows, mutes, segments] = await Promise.all([
      this.spansOfAll(userIds, recipientsOf(ordinalRangesOf(messages), moves)),
      this.flags.all(users, this.statements.dialect.set(messages.map(idOf))),
      this.mutes.all(users),
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
    const { set } = this.statements.dialect;
    const rows = byUser(await this.spansOfUsers.all(set(userIds), set(recipientIds)));
    return new Map([...rows].map(([userId, own]) => [userId, byRecipient(own.map(([, ...row]) => row))]));
  }

  /** Returns spans of the viewer by recipient. */
  async spansOf(
    { realmId, userId }: Viewer,
    recipientIds: Iterable<RecipientId>,
  ): Promise<ReadonlyMap<RecipientId, readonly Span[]>> {
    return byRecipient(await this.spans.all(userId, this.statements.dialect.set(recipientIds), realmId));
  }

  /** Returns the messages, in order, that spans and moves make the viewer's own. */
  async own(viewer: Viewer, messages: readonly MessageIndexRow[]): Promise<MessageIndexRow[]> {
    if (messages.length === 0) return [];
    const state = await this.ofOwnership(viewer, messages);
    return messages.filter((message) => state.ownership(message) !== 'none');
  }

  /** Returns a state that supports only ownership. */
  async ofOwnership(
    viewer: Viewer,
    messages: readonly MessageIndexRow[],
  ): Promise<Pick<ViewerMessageState, 'ownership'>> {
    const moves = await this.movesOf(messages);
    const spans = await this.spansOf(viewer, recipientsOf(ordinalRangesOf(messages), moves));
    return new ViewerMessageState(spans, moves, new Map(), new Map(), NONE);
  }

  /** Returns existing rows of `message_flag`. */
  async flagRows({ userId }: Viewer, ids: readonly MessageId[]): Promise<ReadonlyMap<MessageId, FlagRow>> {
    if (ids.length === 0) return new Map();
    const { set } = this.statements.dialect;
    return new Map((await this.flags.all(set([userId]), set(ids))).map(([, ...row]) => [row[0], toFlagRow(row)]));
  }

  /** Returns ordered moves by message; messages that never changed channel or conversation are absent. */
  async movesOf(messages: readonly MessageIndexRow[]): Promise<ReadonlyMap<MessageId, readonly ChannelMove[]>> {
    const moved = messages.filter(wasMoved).map(idOf);
    return moved.length === 0 ? NO_MOVES : this.movesOfIds(moved);
  }

  async movesOfIds(ids: readonly MessageId[]): Promise<ReadonlyMap<MessageId, readonly ChannelMove[]>> {
    return movesByMessage(await this.moves.all(this.statements.dialect.set(ids)));
  }

  async mutesOf({ userId }: Viewer): Promise<readonly MutedRange[]> {
    return (await this.mutes.all(this.statements.dialect.set([userId]))).map(([, ...mute]) => mute);
  }
}

const byUser = <Row extends readonly [UserId, ...unknown[]]>(
  rows: readonly Row[],
): ReadonlyMap<UserId, readonly Row[]> => grouped(rows, ([userId]) => userId);
