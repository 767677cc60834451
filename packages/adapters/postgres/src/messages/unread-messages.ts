import type { SearchWords } from '@parley/domain/markdown';
import { type OrdinalRange, type ReadSegment, unreadRanges } from '@parley/domain/messages';
import {
  batches,
  grouped,
  inOrder,
  Nearest,
  newStatementCache,
  PROPERTY_BITS,
  type Reader,
  type RecipientOrdinalRange,
  SqlUnreadMessages,
  UNREAD_COLUMNS,
  type UnreadRow,
  type UnreadSpan,
} from '@parley/storage';
import type { Connection, Query } from '../engine/connection.js';
import { between, type Narrowing, type Restriction } from './message-filter.js';
import type { SqlParameter } from './message-series.js';
import type { UnreadSpans } from './read-sets.js';
import type { ViewerMessageStates } from './viewer-message-state.js';

/** Total number of ordinals in all spans examined by the first statement. */
const FIRST_ORDINALS = 4000;
/** Minimum number of ordinals per span examined by the first statement. */
const FIRST_OF_SPAN = 16;
/** Maximum length searched to close a gap. */
const TIDIED_ORDINALS = 256;

/** Examines many gaps per statement to save round trips. */
export class UnreadMessages extends SqlUnreadMessages<readonly (string | number)[], ViewerMessageStates> {
  private readonly queries: ReturnType<typeof newStatementCache<Query<UnreadRow>>>;

  constructor(connection: Connection, states: ViewerMessageStates, unreadSpans: UnreadSpans, words: SearchWords) {
    super(connection, states, unreadSpans, words, between, {
      isMoved: `(property_bits & ${PROPERTY_BITS.wasMoved}) <> 0`,
      inIdOrder: '',
    });
    this.queries = newStatementCache((from) => connection.tuples<UnreadRow>(`SELECT ${UNREAD_COLUMNS} ${from}`));
  }

  protected rows(from: string, parameters: readonly SqlParameter[]): Promise<UnreadRow[]> {
    return this.queries.memo(from).all(...parameters);
  }

  protected rowsIn(gaps: readonly RecipientOrdinalRange[], { sql, parameters }: Restriction): Promise<UnreadRow[]> {
    return this.rows(
      `FROM (SELECT DISTINCT * FROM unnest(?::bigint[], ?::bigint[], ?::bigint[]) g (recipient_id, first, last)) gap
       JOIN message m ON m.sent_recipient_id = gap.recipient_id AND m.ordinal BETWEEN gap.first AND gap.last
       WHERE (m.property_bits & ${PROPERTY_BITS.isReadByDefault}) = 0 ${sql}`,
      [
        gaps.map(({ recipientId }) => recipientId),
        gaps.map(({ first }) => first),
        gaps.map(({ last }) => last),
        ...parameters,
      ],
    );
  }

  /**
   * Returns the first `limit` messages marked unread or missing from read sets, from the newest or oldest end. Each
   * statement examines the next ordinals of every span that may still contain one of them.
   */
  protected async nearest(
    reader: Reader,
    narrowing: Narrowing,
    spans: readonly UnreadSpan[],
    from: 'start' | 'end',
    limit: number,
    marked: readonly UnreadRow[],
  ): Promise<UnreadRow[]> {
    const nearest = new Nearest(from, limit, marked);
    const segments = await this.states.readSets.load(
      reader.viewer,
      spans.filter(({ onlyGap }) => onlyGap === null),
    );
    const size = Math.max(FIRST_OF_SPAN, Math.floor(FIRST_ORDINALS / Math.max(1, spans.length)));
    let walks = spans.map((span) => {
      const { recipientId, onlyGap, last } = span;
      const own = overlapping(segments.get(recipientId), span);
      const gaps =
        onlyGap !== null
          ? [{ first: onlyGap, last }]
          : unreadRanges(from === 'start' ? own : own.toReversed(), span, from);
      return { recipientId, parts: batches(gaps, from, size) };
    });
    while (walks.length > 0) {
      const next = walks.flatMap((walk) => {
        const { value } = walk.parts.next();
        return value
          ? [{ walk, gaps: value.map((range: OrdinalRange) => ({ recipientId: walk.recipientId, ...range })) }]
          : [];
      });
      if (next.length === 0) break;
      const rows = await this.unreadIn(
        reader,
        next.flatMap(({ gaps }) => gaps),
        narrowing,
      );
      const rowsOf = grouped(rows, (row) => row[3]);
      walks = next
        .filter(({ gaps }) => {
          const [one, other] = from === 'start' ? [gaps[0]!, gaps.at(-1)!] : [gaps.at(-1)!, gaps[0]!];
          const own = (rowsOf.get(one.recipientId) ?? []).filter((row) => row[4] >= one.first && row[4] <= other.last);
          // The rest of this span is farther away.
          return nearest.offer(inOrder(from, own));
        })
        .map(({ walk }) => walk);
    }
    return nearest.take();
  }

  /**
   * Returns for each range the part at its first or last gap without unread messages: they were deleted, moved away or
   * arrived read. One statement examines all ranges.
   */
  async findEmpty(
    reader: Reader,
    searched: readonly { readonly range: RecipientOrdinalRange; readonly from: 'start' | 'end' }[],
  ): Promise<readonly RecipientOrdinalRange[]> {
    const segments = await this.states.readSets.load(
      reader.viewer,
      searched.map(({ range }) => range),
    );
    const gaps = searched.flatMap(({ range, from }): SearchedGap[] => {
      const own = overlapping(segments.get(range.recipientId), range);
      const gap = unreadRanges(from === 'start' ? own : own.toReversed(), range, from).next().value;
      if (!gap) return [];
      const { recipientId } = range;
      return from === 'start'
        ? [{ from, recipientId, first: gap.first, last: Math.min(gap.last, gap.first + TIDIED_ORDINALS - 1) }]
        : [{ from, recipientId, first: Math.max(gap.first, gap.last - TIDIED_ORDINALS + 1), last: gap.last }];
    });
    if (gaps.length === 0) return [];
    const rows = await this.unreadIn(reader, gaps, null);
    return gaps.flatMap(({ from, recipientId, first, last }) => {
      const ordinals = rows
        .filter((row) => row[3] === recipientId && row[4] >= first && row[4] <= last)
        .map((row) => row[4]);
      if (ordinals.length === 0) return [{ recipientId, first, last }];
      const empty =
        from === 'start'
          ? { recipientId, first, last: Math.min(...ordinals) - 1 }
          : { recipientId, first: Math.max(...ordinals) + 1, last };
      return empty.first <= empty.last ? [empty] : [];
    });
  }
}

/** Part of a gap next to one of its ends. */
interface SearchedGap extends RecipientOrdinalRange {
  readonly from: 'start' | 'end';
}

const overlapping = (segments: readonly ReadSegment[] | undefined, range: OrdinalRange): readonly ReadSegment[] =>
  (segments ?? []).filter(({ first, last }) => first <= range.last && last >= range.first);
