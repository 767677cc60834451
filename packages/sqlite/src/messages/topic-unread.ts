import type { MessageId, Ordinal, RecipientId } from '@parley/domain/kernel';
import { countRead, findFirstUnread, isOrdinalRead, type ReadSegment } from '@parley/domain/messages';
import { type Connection, LIMIT, type Query } from '../engine/connection.js';
import { jsonList } from '../engine/rows.js';
import { type Arrived, ArrivedMessages } from './arrived-messages.js';
import { type Series, seriesTerms } from './message-filter.js';
import { idOf, MessageIndexQuery, type MessageIndexRow } from './message-index-row.js';
import type { ReadSets, RecipientOrdinalRange } from './read-sets.js';
import { PROPERTY_BITS } from './stored-values.js';
import type { Reader } from './unread-messages.js';
import type { UnreadSpans } from './unread-spans.js';
import { isMuted } from './viewer-message-state.js';

export interface UnreadInTopic {
  readonly recipientId: RecipientId;
  /** Where something of the recipient may be unread, ascending. */
  readonly ordinalRanges: readonly RecipientOrdinalRange[];
  /** Of their read set, what it takes to mark anything in those places. */
  readonly segments: readonly ReadSegment[];
  /** Unread because they lie in a gap and nothing else is said of them; ascending. */
  readonly received: { readonly ids: readonly MessageId[]; readonly ordinals: readonly Ordinal[] };
  /** Others, ascending: a `Standing` tells whether they are unread. */
  readonly uncertain: readonly MessageIndexRow[];
}

/** How much further than what is unread of a channel one of its topics is looked through without counting. */
const MOST_READ_PER_UNREAD = 32;
/** How many messages that were moved into a conversation are judged one by one. */
const MAX_MOVED_IN = 256;

/** What is unread of one conversation or topic, for whoever marks it. */
export class TopicUnread {
  private readonly arrived: ArrivedMessages;
  private readonly placeQueries = new Map<string, MessageIndexQuery>();
  private readonly movedIn: Query<MessageId>;

  constructor(
    private readonly connection: Connection,
    private readonly readSets: ReadSets,
    private readonly places: UnreadSpans,
  ) {
    this.arrived = new ArrivedMessages(connection);
    this.movedIn = connection.values<MessageId>(
      `SELECT id FROM message INDEXED BY message_moved_in
       WHERE recipient_id = ? AND property_bits & ${PROPERTY_BITS.wasMoved} ${LIMIT}`,
    );
  }

  /**
   * What is unread of one conversation or topic, looked for where messages are now: a topic stands side by side in an
   * index, while what is unread of its channel lies scattered. Null where the gaps are shorter than that, or where it
   * takes more than this to find it: then `UnreadMessages.list` does.
   */
  find(reader: Reader, series: Series): UnreadInTopic | null {
    const { viewer, marked, mutes } = reader;
    const { recipientId } = series;
    const movedIn = this.movedIn.all(recipientId, MAX_MOVED_IN);
    if (movedIn.length === MAX_MOVED_IN) return null;

    const spans = this.places.of(viewer, recipientId).sort((a, b) => a.first - b.first);
    const [oldest] = spans;
    const segments = oldest
      ? this.readSets.around(viewer, recipientId, { first: oldest.first, last: spans.at(-1)!.last })
      : [];
    let unread = 0;
    let first: Ordinal | null = null;
    for (const span of spans) {
      unread += span.last - span.first + 1 - countRead(segments, span);
      first ??= findFirstUnread(segments, span);
    }
    let sent: Arrived = { ids: [], ordinals: [], senderIds: [] };
    if (first !== null) {
      // Counting what is found on the way takes as long as the way itself: only where that may be long in vain.
      const range = { first, last: spans.at(-1)!.last };
      const isSparse = range.last - first >= MOST_READ_PER_UNREAD * unread;
      const hasSenders = mutes.length > 0;
      sent = this.arrived.list(series, range, isSparse ? { hasSenders, limit: unread + 1 } : { hasSenders });
      if (isSparse && sent.ids.length > unread) return null;
    }

    // Mostly all of it is left, so it stays in the lists that it came in.
    const { ids, ordinals } = sent;
    let left = 0;
    let next = 0;
    for (let i = 0; i < ids.length; i++) {
      const id = ids[i]!;
      const ordinal = ordinals[i]!;
      // What is sent later is numbered higher.
      while (next < spans.length && spans[next]!.last < ordinal) next++;
      if (next === spans.length) break;
      if (ordinal < spans[next]!.first || isOrdinalRead(segments, ordinal) || marked.has(id)) continue;
      if (mutes.length > 0 && isMuted(mutes, sent.senderIds[i]!, id)) continue;
      ids[left] = id;
      ordinals[left++] = ordinal;
    }
    ids.length = left;
    ordinals.length = left;
    return {
      recipientId,
      ordinalRanges: spans,
      segments,
      received: { ids, ordinals },
      uncertain: this.uncertain(series, [...movedIn, ...marked]),
    };
  }

  /** Those of the messages that are in the series; ascending. */
  private uncertain(series: Series, ids: readonly MessageId[]): readonly MessageIndexRow[] {
    if (ids.length === 0) return [];
    const { sql, parameters } = seriesTerms(series);
    const from = `FROM json_each(?) wanted CROSS JOIN message m ON m.id = wanted.value WHERE true ${sql}`;
    let query = this.placeQueries.get(from);
    if (!query) {
      query = new MessageIndexQuery(this.connection, from);
      this.placeQueries.set(from, query);
    }
    return query.all(jsonList(new Set(ids)), ...parameters).sort((a, b) => idOf(a) - idOf(b));
  }
}
