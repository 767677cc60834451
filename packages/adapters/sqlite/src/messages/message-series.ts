import type { ChannelPrivacy } from '@parley/domain/channels';
import {
  lastOf,
  type MessageId,
  type Ordinal,
  type RealmId,
  type RecipientId,
  type UserId,
} from '@parley/domain/kernel';
import type { OrdinalRange, Viewer } from '@parley/domain/messages';
import {
  idOf,
  type MaybePromise,
  type MessageIndexRow,
  merge,
  newStatementCache,
  orderOf,
  type PageBounds,
  PROPERTY_BITS,
  type Series,
  seriesTerms,
  signOf,
} from '@parley/storage';
import type { LRUCache } from 'lru-cache';
import { type Connection, LIMIT, type Parameter, type Query } from '../engine/connection.js';
import type { Restriction } from './message-filter.js';
import { indexFor, indexTerms, type Narrowing } from './message-filter.js';
import { MessageIndexQuery } from './viewer-message-state.js';

/** Series with the id of its next candidate message. */
interface NextInSeries extends Series {
  readonly id: number;
}

/** Messages fetched from a series at a time. */
const SERIES_BATCH = 16;

/**
 * Messages in id order from one index of `message`, or merged from several parts of it. PostgreSQL merges the
 * parts in one statement to save round trips, which takes two to six times as long here for 60 conversations of 200,000
 * messages.
 */
export class MessageSeries {
  private readonly queries: LRUCache<string, MessageIndexQuery>;
  private readonly entries: LRUCache<string, Query<readonly [RecipientId, string | null, MessageId]>>;

  constructor(connection: Connection) {
    this.queries = newStatementCache((from) => new MessageIndexQuery(connection, from));
    this.entries = newStatementCache((text) => connection.tuples(text));
  }

  /** Runs a query over `message m` that follows its columns, prepared once per text. */
  select(from: string, ...parameters: readonly Parameter[]): MessageIndexRow[] {
    return this.queries.memo(from).all(...parameters);
  }

  /**
   * Returns at most `limit` messages of one series in page direction. `also` is an additional term starting with AND.
   */
  list(
    series: Series,
    narrowing: Narrowing,
    pageRange: PageBounds,
    limit: number,
    { index = indexFor(narrowing, series.topicKey), also = '' } = {},
  ): MessageIndexRow[] {
    const within = seriesTerms(series);
    const { sql, parameters } = narrowing.withinSeries;
    return this.select(
      `FROM message m INDEXED BY ${index}
       WHERE m.id BETWEEN ? AND ? ${within.sql} ${also} ${sql}
       ORDER BY m.id ${orderOf(pageRange)} ${LIMIT}`,
      ...[pageRange.first, pageRange.last, ...within.parameters, ...parameters, limit],
    );
  }

  /**
   * Merges several series by always continuing with the smallest next message. `fetch` returns the matches of one
   * series.
   */
  async merged(
    starts: readonly NextInSeries[],
    pageRange: PageBounds,
    limit: number,
    fetch: (series: Series, pageRange: PageBounds, limit: number) => MaybePromise<readonly MessageIndexRow[]>,
  ): Promise<MessageIndexRow[]> {
    const sign = signOf(pageRange);
    const queue = starts.toSorted((a, b) => sign * (a.id - b.id));
    const batch = Math.min(limit, SERIES_BATCH);
    let found: MessageIndexRow[] = [];
    for (let next = queue.shift(); next; next = queue.shift()) {
      const { id } = next;
      if (found.length >= limit && sign * (id - idOf(found[limit - 1]!)) > 0) break;
      const rows = await fetch(
        next,
        pageRange.direction === 'older' ? { ...pageRange, last: id } : { ...pageRange, first: id },
        batch,
      );
      found = merge([found, rows], pageRange, limit);
      if (rows.length === batch) {
        const following = idOf(lastOf(rows)) + sign;
        const position = queue.findIndex((other) => sign * (other.id - following) > 0);
        queue.splice(position < 0 ? queue.length : position, 0, { ...next, id: following });
      }
    }
    return found;
  }

  /** Returns the next candidate message of each non-exhausted series, whether it belongs to the viewer or not. */
  starts(series: readonly Series[], narrowing: Narrowing, pageRange: PageBounds): NextInSeries[] {
    const inTopics = series.filter((each) => each.topicKey !== null);
    const inRecipients = series.filter((each) => each.topicKey === null);
    const listed = (some: readonly Series[], topicKey: string | null): readonly NextInSeries[] => {
      if (some.length === 0) return [];
      const list = JSON.stringify(some.map((each) => [each.recipientId, each.topicKey]));
      const text = 'SELECT value ->> 0 AS recipient_id, value ->> 1 AS topic_key FROM json_each(?)';
      return this.nextIn({ sql: text, parameters: [list] }, topicKey, narrowing, pageRange);
    };
    return [...listed(inTopics, 'u.topic_key'), ...listed(inRecipients, null)];
  }

  /** Returns the starts of all the viewer's conversations that the conditions permit. */
  ownStarts({ realmId, userId }: Viewer, narrowing: Narrowing, pageRange: PageBounds): NextInSeries[] {
    if (narrowing.isDirect === true) {
      const direct = 'SELECT recipient_id FROM direct_participant WHERE user_id = ? AND realm_id = ?';
      return this.everywhere({ sql: direct, parameters: [userId, realmId] }, narrowing, pageRange);
    }
    const sql = ['SELECT DISTINCT recipient_id FROM span WHERE user_id = ? AND realm_id = ?'];
    const parameters: (string | number)[] = [userId, realmId];
    if (narrowing.isDirect === false) {
      sql.push('AND EXISTS (SELECT 1 FROM recipient r WHERE r.id = span.recipient_id AND r.channel_id IS NOT NULL)');
    }
    if (narrowing.privacies) {
      sql.push(`AND EXISTS (SELECT 1 FROM recipient r JOIN channel c ON c.id = r.channel_id
                            WHERE r.id = span.recipient_id AND c.privacy IN (SELECT value FROM json_each(?)))`);
      parameters.push(JSON.stringify(narrowing.privacies));
    }
    return this.everywhere({ sql: sql.join(' '), parameters }, narrowing, pageRange);
  }

  /** Returns the starts of all channels with these privacies. */
  channelStarts(
    realmId: RealmId,
    privacies: readonly ChannelPrivacy[],
    narrowing: Narrowing,
    pageRange: PageBounds,
  ): NextInSeries[] {
    const sql = `SELECT recipient_id FROM channel
                 WHERE realm_id = ? AND privacy IN (SELECT value FROM json_each(?))`;
    return this.everywhere({ sql, parameters: [realmId, JSON.stringify(privacies)] }, narrowing, pageRange);
  }

  /**
   * Returns the starts of all recipients selected by `recipients` (column `recipient_id`). Recipients with listed
   * topics are searched by topic.
   */
  private everywhere(recipients: Restriction, narrowing: Narrowing, pageRange: PageBounds): NextInSeries[] {
    const { onlyTopics, topicKey } = narrowing;
    const listed = [...onlyTopics].flatMap(([recipientId, keys]) =>
      keys.filter((key) => topicKey === null || key === topicKey).map((key) => ({ recipientId, topicKey: key })),
    );
    const universe = {
      sql: `SELECT recipient_id, NULL AS topic_key FROM (${recipients.sql})
            WHERE recipient_id NOT IN (SELECT value FROM json_each(?))`,
      parameters: [...recipients.parameters, JSON.stringify([...onlyTopics.keys()])],
    };
    return [
      ...this.nextIn(universe, topicKey === null ? null : '?', narrowing, pageRange),
      ...this.starts(listed, narrowing, pageRange),
    ];
  }

  /**
   * Returns the starts in `universe`, which selects recipients and topics. `topicKey` is compared with the topic;
   * null for no comparison.
   */
  private nextIn(
    universe: Restriction,
    topicKey: string | null,
    narrowing: Narrowing,
    pageRange: PageBounds,
  ): NextInSeries[] {
    const { sql, parameters } = indexTerms(narrowing);
    const text = `
      SELECT recipient_id, topic_key, next FROM (
        SELECT u.recipient_id, ${topicKey === '?' ? '?' : 'u.topic_key'} AS topic_key, (
          SELECT m.id FROM message m INDEXED BY ${indexFor(narrowing, topicKey)}
          WHERE m.recipient_id = u.recipient_id ${topicKey === null ? '' : `AND m.topic_key = ${topicKey}`} ${sql}
            AND m.id BETWEEN ? AND ?
          ORDER BY m.id ${orderOf(pageRange)} LIMIT 1
        ) AS next
        FROM (${universe.sql}) u
      ) WHERE next IS NOT NULL`;
    const key = topicKey === '?' ? [narrowing.topicKey] : [];
    return this.entries
      .memo(text)
      .all(...key, ...key, ...parameters, pageRange.first, pageRange.last, ...universe.parameters)
      .map(([recipientId, topic, id]) => ({ recipientId, topicKey: topic, id }));
  }
}

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
 * Lists existing messages sent to a channel, conversation or topic, except those that were moved to another channel or
 * arrived read.
 */
export class ArrivedMessages {
  private readonly queries = new Map<string, Query<readonly [string, string, string?]>>();

  constructor(private readonly connection: Connection) {}

  /** Returns messages with an ordinal in the range. The lists belong to the caller. */
  list(series: Series, { first, last }: OrdinalRange, { hasSenders = false, limit }: ArrivedOptions = {}): Arrived {
    const { recipientId } = series;
    const { sql, parameters } = seriesTerms(series);
    // Read as JSON texts for the reason given at `MessageIndexQuery`. Each additional column costs time.
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
    const bounds = [recipientId, first, recipientId, last, ...parameters];
    const [ids, ordinals, senderIds] = query.one(...bounds, ...(limit === undefined ? [] : [limit]));
    return { ids: JSON.parse(ids), ordinals: JSON.parse(ordinals), senderIds: senderIds ? JSON.parse(senderIds) : [] };
  }
}
