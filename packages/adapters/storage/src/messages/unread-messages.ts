import { getOrThrow, lastOf, type MessageId, type Ordinal, type RecipientId } from '@parley/domain/kernel';
import type { SearchWords } from '@parley/domain/markdown';
import type { UnreadMessage, Viewer } from '@parley/domain/messages';
import type { MaybePromise, Statements } from '../engine/statements.js';
import { ConditionSubjects } from './condition-subjects.js';
import { PROPERTY_BITS } from './message-rows.js';
import {
  type ConditionParameter,
  type Narrowing,
  type NarrowPlanner,
  onlyRecipient,
  type Restriction,
} from './narrowing.js';
import { after, orderOf, type PageBounds } from './page-range.js';
import { EVER } from './personal-messages.js';
import {
  canScan,
  isReceivedUnread,
  MANY_SPANS,
  type Reader,
  scanned,
  scannedPart,
  toUnreadMessages,
  type UnreadRow,
  type UnreadSpan,
} from './unread.js';
import {
  idOf,
  isMuted,
  type MessageIndexRow,
  propertyBitsOf,
  type RecipientOrdinalRange,
  wasMoved,
} from './viewer-message-state.js';
import type { SegmentReads, SqlViewerMessageStates } from './viewer-message-states.js';

const NO_RESTRICTION = { sql: '', parameters: [] };
const NO_LIMIT = 2 ** 31 - 1;

/** Parts of statements that differ between the databases. */
interface UnreadSql {
  /** Condition on a message that changed its channel or conversation, as in the index of such messages. */
  readonly isMoved: string;
  /** Clause after `message m` for reading messages in the order of ids. */
  readonly inIdOrder: string;
}

type StateReads = Pick<SqlViewerMessageStates<SegmentReads>, 'load' | 'flagRows' | 'mutesOf' | 'ofOwnership'>;

/**
 * Unread messages of a viewer: messages in read set gaps within spans that did not arrive read, plus messages marked
 * unread by message_flag. The cost depends on the unread messages, not on the history.
 */
export abstract class SqlUnreadMessages<List, States extends StateReads> {
  private readonly subjects;
  private readonly hasMovedIn;
  private readonly newestIdIfManySpans;
  private readonly markedIds;
  private readonly ordinalsAround;
  /** Messages marked unread, after the columns of a query. */
  private readonly fromMarked: string;

  constructor(
    private readonly statements: Statements,
    protected readonly states: States,
    private readonly unreadSpans: { of(viewer: Viewer, recipientId?: RecipientId | null): MaybePromise<UnreadSpan[]> },
    words: SearchWords,
    private readonly between: NarrowPlanner<List>['between'],
    private readonly sql: UnreadSql,
  ) {
    const { indexedBy, elements } = statements.dialect;
    this.subjects = new ConditionSubjects(statements, states, words);
    this.hasMovedIn = statements.values<1>(
      `SELECT 1 FROM message ${indexedBy('message_moved_in')} WHERE recipient_id = ? AND ${sql.isMoved} LIMIT 1`,
    );
    // Nearest messages outside the id range that are still at their original recipient.
    const nearest = (bound: string, order: string) =>
      `(SELECT m.ordinal FROM message m ${indexedBy('message_by_recipient')}
        WHERE m.recipient_id = r.id AND m.sent_recipient_id = r.id AND m.id ${bound} ?
        ORDER BY m.id ${order} LIMIT 1)`;
    this.ordinalsAround = statements.tuples<readonly [RecipientId, Ordinal | null, Ordinal | null]>(
      `SELECT r.id, ${nearest('<', 'DESC')}, ${nearest('>', 'ASC')}
       FROM (SELECT value AS id FROM ${elements('bigint')}) r`,
    );
    this.newestIdIfManySpans = statements.values<number>(
      'SELECT (SELECT max(id) FROM message) FROM span WHERE user_id = ? LIMIT 1 OFFSET ?',
    );
    this.fromMarked = `FROM message_flag f ${indexedBy('message_flag_unread')}`;
    this.markedIds = statements.values<MessageId>(
      `SELECT f.message_id ${this.fromMarked} WHERE f.user_id = ? AND f.read = 0 AND f.realm_id = ?`,
    );
  }

  /** Runs a query over `message m` that follows the columns of unread rows, prepared once per text. */
  protected abstract rows(from: string, parameters: readonly ConditionParameter<List>[]): MaybePromise<UnreadRow[]>;

  /** Returns messages with ordinals in these gaps that did not arrive read, in unspecified order. */
  protected abstract rowsIn(
    gaps: readonly RecipientOrdinalRange[],
    restriction: Restriction<List>,
  ): MaybePromise<UnreadRow[]>;

  /** Returns the first `limit` messages marked unread or missing from read sets, from the newest or oldest end. */
  protected abstract nearest(
    reader: Reader,
    narrowing: Narrowing<List>,
    spans: readonly UnreadSpan[],
    from: 'start' | 'end',
    limit: number,
    marked: readonly UnreadRow[],
  ): Promise<UnreadRow[]>;

  async readerOf(viewer: Viewer): Promise<Reader> {
    const [mutes, marked] = await Promise.all([
      this.states.mutesOf(viewer),
      this.markedIds.all(viewer.userId, viewer.realmId),
    ]);
    return { viewer, mutes, marked: new Set(marked) };
  }

  /** Returns the newest `limit` unread messages, ascending by id. */
  async list(viewer: Viewer, narrowing: Narrowing<List>, limit: number): Promise<readonly UnreadMessage[]> {
    const [reader, marked] = await Promise.all([this.readerOf(viewer), this.marked(viewer, narrowing, 'DESC', limit)]);
    const rows = await this.newest(reader, narrowing, limit, marked);
    const [flags, unmentioned] = await Promise.all([
      this.states.flagRows(viewer, rows.map(idOf)),
      this.unmentioned(viewer, marked),
    ]);
    return toUnreadMessages(rows, flags, unmentioned);
  }

  /** Returns the newest `limit` messages marked unread or missing from read sets, ascending by id. */
  async newest(
    reader: Reader,
    narrowing: Narrowing<List>,
    limit: number,
    marked: readonly UnreadRow[],
  ): Promise<readonly UnreadRow[]> {
    const found = await this.scan(reader, narrowing, EVER, limit, marked);
    if (found) return found.reverse();
    const spans = await this.spansFor(reader.viewer, narrowing);
    return (await this.nearest(reader, narrowing, spans, 'end', limit, marked)).reverse();
  }

  /** Returns at most `limit` messages in page direction. */
  async page(viewer: Viewer, narrowing: Narrowing<List>, pageBounds: PageBounds, limit: number): Promise<UnreadRow[]> {
    const isOlder = pageBounds.direction === 'older';
    const within = this.between(narrowing, pageBounds.first, pageBounds.last);
    const [reader, marked] = await Promise.all([
      this.readerOf(viewer),
      this.marked(viewer, within, isOlder ? 'DESC' : 'ASC', limit),
    ]);
    const found = await this.scan(reader, within, pageBounds, limit, marked);
    if (found) return found;
    const cut = await this.within(await this.spansFor(viewer, narrowing), pageBounds);
    return this.nearest(reader, within, cut, isOlder ? 'end' : 'start', limit, marked);
  }

  async findFirst(viewer: Viewer, narrowing: Narrowing<List>): Promise<MessageId | null> {
    const [reader, marked] = await Promise.all([this.readerOf(viewer), this.marked(viewer, narrowing, 'ASC', 1)]);
    const [first] =
      (await this.scan(reader, narrowing, { ...EVER, direction: 'newer' }, 1, marked)) ??
      (await this.nearest(reader, narrowing, await this.spansFor(viewer, narrowing), 'start', 1, marked));
    return first ? idOf(first) : null;
  }

  /**
   * Returns the first `limit` unread messages in page direction if they are among the next messages of the server.
   * Returns null otherwise, and for viewers with few spans.
   */
  async scan(
    reader: Reader,
    narrowing: Narrowing<List>,
    pageBounds: PageBounds,
    limit: number,
    marked: readonly UnreadRow[],
  ): Promise<UnreadRow[] | null> {
    if (!canScan(narrowing, limit)) return null;
    const { userId, realmId } = reader.viewer;
    const newest = await this.newestIdIfManySpans.get(userId, MANY_SPANS);
    if (newest === undefined) return null;
    const { sql, parameters } = narrowing.restriction;
    const window = scannedPart(pageBounds, newest, limit);
    const received: UnreadRow[] = [];
    for (let part: PageBounds | null = window; part && received.length < limit; ) {
      // A scalar subquery, because the planner of PostgreSQL may read all spans for EXISTS.
      const rows: UnreadRow[] = await this.rows(
        `FROM message m ${this.sql.inIdOrder}
         WHERE m.id BETWEEN ? AND ? AND (m.property_bits & ${PROPERTY_BITS.isReadByDefault}) = 0
           AND (SELECT 1 FROM span s
                WHERE s.user_id = ? AND s.recipient_id = m.sent_recipient_id AND s.realm_id = ? LIMIT 1) = 1 ${sql}
         ORDER BY m.id ${orderOf(pageBounds)} LIMIT ? + 0`,
        [part.first, part.last, userId, realmId, ...parameters, limit],
      );
      const state = await this.states.load(reader.viewer, rows);
      const unread = rows.filter((row) => !reader.marked.has(idOf(row)) && isReceivedUnread(state, row));
      received.push(...(await this.meant(reader.viewer, unread, narrowing)));
      part = rows.length === limit ? after(part, idOf(lastOf(rows))) : null;
    }
    return scanned(pageBounds, newest, window, received, marked, limit);
  }

  /** Returns unread messages of gaps in unspecified order. */
  async unreadIn(
    reader: Reader,
    gaps: readonly RecipientOrdinalRange[],
    narrowing: Narrowing<List> | null,
  ): Promise<readonly UnreadRow[]> {
    const rows = await this.rowsIn(gaps, narrowing?.restriction ?? NO_RESTRICTION);
    return this.meant(reader.viewer, await this.thoseToRead(reader, rows), narrowing);
  }

  /** Filters messages in gaps that have no message_flag row. */
  protected async thoseToRead<Row extends MessageIndexRow>(
    { viewer, mutes, marked }: Reader,
    found: readonly Row[],
  ): Promise<readonly Row[]> {
    const rows = found.filter(
      (row) => !marked.has(idOf(row)) && (mutes.length === 0 || !isMuted(mutes, row[1], idOf(row))),
    );
    if (!rows.some(wasMoved)) return rows;
    const state = await this.states.ofOwnership(viewer, rows);
    return rows.filter((row) => state.ownership(row) === 'received');
  }

  /** Returns messages marked unread by message_flag rows, from the oldest or newest end. */
  async marked(
    viewer: Viewer,
    narrowing: Narrowing<List>,
    order: 'ASC' | 'DESC',
    limit: number,
  ): Promise<readonly UnreadRow[]> {
    const { realmId, userId } = viewer;
    const { sql, parameters } = narrowing.restriction;
    const isJudgedLater = narrowing.personal.length > 0;
    const rows = await this.rows(
      `${this.fromMarked} CROSS JOIN message m
       WHERE m.id = f.message_id AND f.user_id = ? AND f.read = 0 AND f.realm_id = ? ${sql}
       ORDER BY f.message_id ${order} LIMIT ? + 0`,
      [userId, realmId, ...parameters, isJudgedLater ? NO_LIMIT : Math.min(limit, NO_LIMIT)],
    );
    return (await this.meant(viewer, rows, narrowing)).slice(0, limit);
  }

  /**
   * Returns messages that mention the whole channel but not the viewer. Only messages marked unread can qualify; all
   * others were received.
   */
  async unmentioned(viewer: Viewer, marked: readonly UnreadRow[]): Promise<ReadonlySet<MessageId>> {
    const mentioning = marked.filter((row) => (propertyBitsOf(row) & PROPERTY_BITS.mentionsChannel) !== 0);
    const state = await this.states.load(viewer, mentioning);
    return new Set(mentioning.filter((row) => !state.flags(row)?.channelWildcardMentioned).map(idOf));
  }

  /** Filters by conditions that no query can decide. */
  private async meant(
    viewer: Viewer,
    rows: readonly UnreadRow[],
    narrowing: Narrowing<List> | null,
  ): Promise<readonly UnreadRow[]> {
    if (narrowing === null || narrowing.personal.length === 0) return rows;
    const meant = new Set((await this.subjects.matching(viewer, rows, narrowing.personal, 'own')).map(idOf));
    return rows.filter((row) => meant.has(idOf(row)));
  }

  /** Returns the spans that may contain unread messages of the conditions. */
  private async spansFor(viewer: Viewer, narrowing: Narrowing<List>): Promise<UnreadSpan[]> {
    const recipientId = onlyRecipient(narrowing);
    const isElsewhere = recipientId !== null && (await this.hasMovedIn.get(recipientId)) !== undefined;
    return this.unreadSpans.of(viewer, isElsewhere ? null : recipientId);
  }

  /** Limits spans to the ordinals possible for messages in an id range. */
  private async within(spans: readonly UnreadSpan[], { first, last }: PageBounds): Promise<UnreadSpan[]> {
    const recipientIds = this.statements.dialect.set(new Set(spans.map(({ recipientId }) => recipientId)));
    const bounds = new Map((await this.ordinalsAround.all(first, last, recipientIds)).map((each) => [each[0], each]));
    return spans.flatMap((span) => {
      const [, before, behind] = getOrThrow(bounds, span.recipientId);
      const cut = {
        ...span,
        first: Math.max(span.first, (before ?? 0) + 1),
        last: Math.min(span.last, (behind ?? Number.MAX_SAFE_INTEGER) - 1),
        onlyGap: null,
      };
      return cut.first <= cut.last ? [cut] : [];
    });
  }
}
