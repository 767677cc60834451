import type { MessageId, Ordinal, UserId } from '@parley/domain/kernel';
import type { OrdinalRange } from '@parley/domain/messages';
import { type Connection, LIMIT, type Query } from '../engine/connection.js';
import { indexFor, type Series, seriesTerms } from './message-filter.js';
import { PROPERTY_BITS } from './stored-values.js';

/** Parallel lists, one entry per message, ascending. */
export interface Arrived {
  readonly ids: MessageId[];
  readonly ordinals: Ordinal[];
  /** Empty unless `hasSenders` was set. */
  readonly senderIds: UserId[];
}

export interface ArrivedOptions {
  readonly hasSenders?: boolean;
  readonly limit?: number;
}

const ANY_SENDER = { senderId: null, property: null };

/**
 * Lists present messages of a channel, conversation or topic that were sent there, were never moved to another channel
 * and did not arrive read.
 */
export class ArrivedMessages {
  private readonly queries = new Map<string, Query<readonly [string, string, string?]>>();

  constructor(private readonly connection: Connection) {}

  /** Returns messages with an ordinal in the range. The lists belong to the caller. */
  list(series: Series, { first, last }: OrdinalRange, { hasSenders = false, limit }: ArrivedOptions = {}): Arrived {
    const { recipientId } = series;
    const { sql, parameters } = seriesTerms(series);
    // As texts, for the reason that `MessageIndexQuery` gives. Each column costs.
    const columns = `json_group_array(id), json_group_array(ordinal)${hasSenders ? ', json_group_array(sender_id)' : ''}`;
    // Every index column before the id is fixed, so rows come in the order of ids.
    const found = `FROM message m INDEXED BY ${indexFor(ANY_SENDER, series.topicKey)}
      WHERE m.id >= (SELECT f.id FROM message f INDEXED BY message_by_ordinal
                     WHERE f.sent_recipient_id = ? AND f.ordinal >= ? ORDER BY f.ordinal LIMIT 1)
        AND m.id <= (SELECT l.id FROM message l INDEXED BY message_by_ordinal
                     WHERE l.sent_recipient_id = ? AND l.ordinal <= ? ORDER BY l.ordinal DESC LIMIT 1)
        AND m.property_bits & ${PROPERTY_BITS.wasMoved | PROPERTY_BITS.isReadByDefault} = 0 ${sql}`;
    const text =
      limit === undefined
        ? `SELECT ${columns} ${found}`
        : `SELECT ${columns} FROM (SELECT m.id, m.ordinal, m.sender_id ${found} ORDER BY m.id ${LIMIT})`;
    let query = this.queries.get(text);
    if (!query) {
      query = this.connection.tuples<readonly [string, string, string?]>(text);
      this.queries.set(text, query);
    }
    const place = [recipientId, first, recipientId, last, ...parameters];
    const [ids, ordinals, senderIds] = query.get(...place, ...(limit === undefined ? [] : [limit]))!;
    return { ids: JSON.parse(ids), ordinals: JSON.parse(ordinals), senderIds: senderIds ? JSON.parse(senderIds) : [] };
  }
}
