import type { OrdinalRange } from '@parley/domain/messages';
import type { MessageId, Ordinal, UserId } from '@parley/domain/shared';
import { type Connection, LIMIT, type Query } from '../connection.js';
import { indexFor, type Series, seriesTerms } from './message-filter.js';
import { PROPERTY_BITS } from './stored-values.js';

/** Side by side, one entry a message; ascending. */
export interface Arrived {
  readonly ids: MessageId[];
  readonly ordinals: Ordinal[];
  /** Empty where nobody asked for them. */
  readonly senderIds: UserId[];
}

/** Everything of a series that is numbered from `first` to `last`. */
interface KnownSeries {
  readonly ids: MessageId[];
  readonly ordinals: Ordinal[];
  readonly first: Ordinal;
  last: Ordinal;
}

const ANY_SENDER = { senderId: null, property: null };
/** How much is kept: 4 MB at most. */
const LIMITS = { messages: 250_000, messagesOfSeries: 20_000, series: 5000 };

/**
 * What was sent to a channel, a conversation or a topic, is there, was never in another channel and did not arrive read. Walking
 * along a topic takes most of the time of marking it, and whoever else has it marks it soon: where messages are is kept for as
 * long as none was moved, removed or put back (ADR 41).
 */
export class ArrivedMessages {
  private readonly queries = new Map<string, Query<readonly [string, string, string?]>>();
  private readonly dataVersion: Query<number>;
  private readonly kept = new Map<string, KnownSeries>();
  private keptCount = 0;
  /** What `kept` is true of. */
  private version = '';

  constructor(
    private readonly connection: Connection,
    private readonly limits = LIMITS,
  ) {
    // Another one when another process has written.
    this.dataVersion = connection.values<number>('PRAGMA data_version');
  }

  /** Those with an ordinal in the range. The lists are the caller's own. */
  list(series: Series, range: OrdinalRange): Arrived {
    const { ids, ordinals } = this.known(series, range);
    const start = placeOf(ordinals, range.first);
    const end = placeOf(ordinals, range.last + 1);
    return { ids: ids.slice(start, end), ordinals: ordinals.slice(start, end), senderIds: [] };
  }

  /** The same with who sent them. */
  listWithSenders(series: Series, range: OrdinalRange): Arrived {
    return this.walk(series, range, { hasSenders: true });
  }

  /** The first of them. */
  listFirst(series: Series, range: OrdinalRange, limit: number): Arrived {
    return this.walk(series, range, { hasSenders: true, limit });
  }

  private known(series: Series, range: OrdinalRange): Pick<KnownSeries, 'ids' | 'ordinals'> {
    this.forgetWhatMayBeWrong();
    const key = `${series.recipientId} ${series.topicKey === null ? '' : `"${series.topicKey}`}`;
    const known = this.kept.get(key);
    if (known && known.first <= range.first) {
      if (known.last < range.last) this.extend(key, known, series, range.last);
      return known;
    }
    const { ids, ordinals } = this.walk(series, range);
    this.keep(key, { ids, ordinals, ...range });
    return { ids, ordinals };
  }

  /** What is new has higher ids and ordinals. */
  private extend(key: string, known: KnownSeries, series: Series, last: Ordinal): void {
    const more = this.walk(series, { first: known.last + 1, last });
    for (const id of more.ids) known.ids.push(id);
    for (const ordinal of more.ordinals) known.ordinals.push(ordinal);
    known.last = last;
    this.keptCount += more.ids.length;
    if (known.ids.length > this.limits.messagesOfSeries) this.drop(key);
    this.makeRoom();
  }

  private keep(key: string, known: KnownSeries): void {
    this.drop(key);
    if (known.ids.length > this.limits.messagesOfSeries) return;
    this.kept.set(key, known);
    this.keptCount += known.ids.length;
    this.makeRoom();
  }

  private makeRoom(): void {
    // Those kept longest go first.
    for (const key of this.kept.keys()) {
      if (this.keptCount <= this.limits.messages && this.kept.size <= this.limits.series) return;
      this.drop(key);
    }
  }

  private drop(key: string): void {
    this.keptCount -= this.kept.get(key)?.ids.length ?? 0;
    this.kept.delete(key);
  }

  private forgetWhatMayBeWrong(): void {
    const version = `${this.connection.placesVersion} ${this.dataVersion.get()}`;
    if (version === this.version) return;
    this.version = version;
    this.kept.clear();
    this.keptCount = 0;
  }

  private walk(
    series: Series,
    { first, last }: OrdinalRange,
    { hasSenders = false, limit = null }: { readonly hasSenders?: boolean; readonly limit?: number | null } = {},
  ): Arrived {
    const { recipientId } = series;
    const { sql, parameters } = seriesTerms(series);
    // As texts, for the reason that `MessageIndexQuery` gives. Each column costs.
    const columns = `json_group_array(id), json_group_array(ordinal)${hasSenders ? ', json_group_array(sender_id)' : ''}`;
    // In the order of the index, of which everything before the id is fixed: by id.
    const found = `FROM message m INDEXED BY ${indexFor(ANY_SENDER, series.topicKey)}
      WHERE m.id >= (SELECT f.id FROM message f INDEXED BY message_by_ordinal
                     WHERE f.sent_recipient_id = ? AND f.ordinal >= ? ORDER BY f.ordinal LIMIT 1)
        AND m.id <= (SELECT l.id FROM message l INDEXED BY message_by_ordinal
                     WHERE l.sent_recipient_id = ? AND l.ordinal <= ? ORDER BY l.ordinal DESC LIMIT 1)
        AND m.property_bits & ${PROPERTY_BITS.wasMoved | PROPERTY_BITS.isReadByDefault} = 0 ${sql}`;
    const text =
      limit === null
        ? `SELECT ${columns} ${found}`
        : `SELECT ${columns} FROM (SELECT m.id, m.ordinal, m.sender_id ${found} ORDER BY m.id ${LIMIT})`;
    let query = this.queries.get(text);
    if (!query) {
      query = this.connection.tuples<readonly [string, string, string?]>(text);
      this.queries.set(text, query);
    }
    const place = [recipientId, first, recipientId, last, ...parameters];
    const [ids, ordinals, senderIds] = query.get(...place, ...(limit === null ? [] : [limit]))!;
    return { ids: JSON.parse(ids), ordinals: JSON.parse(ordinals), senderIds: senderIds ? JSON.parse(senderIds) : [] };
  }
}

/** Of the first that is not lower. */
function placeOf(ordinals: readonly Ordinal[], ordinal: Ordinal): number {
  let low = 0;
  let high = ordinals.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ordinals[middle]! < ordinal) low = middle + 1;
    else high = middle;
  }
  return low;
}
