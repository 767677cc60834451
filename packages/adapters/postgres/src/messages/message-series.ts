import { lastOf, type RealmId } from '@parley/domain/kernel';
import type { Viewer } from '@parley/domain/messages';
import {
  after,
  type ConditionParameter,
  idOf,
  MESSAGE_INDEX_COLUMNS,
  type MessageIndexColumns,
  type MessageIndexRow,
  merge,
  newStatementCache,
  orderOf,
  type PageBounds,
  type Series,
} from '@parley/storage';
import type { Connection, Query } from '../engine/connection.js';
import type { Narrowing, Restriction } from './message-filter.js';
import type { ViewerMessageStates } from './viewer-message-state.js';

type Lists = readonly (string | number)[];
export type SqlParameter = ConditionParameter<Lists>;

/**
 * Messages that belong to a viewer by spans and moves, using rows of `message` alone. Moved messages need a further
 * check.
 */
export const receivedBy = ({ userId }: Viewer): Restriction => ({
  sql: `AND ((m.property_bits & 64) <> 0 OR EXISTS (
          SELECT 1 FROM span o WHERE o.user_id = ? AND o.recipient_id = m.sent_recipient_id
            AND m.ordinal >= o.from_ordinal AND (o.to_ordinal IS NULL OR m.ordinal < o.to_ordinal)))`,
  parameters: [userId],
});

const EVERYBODY: Restriction = { sql: '', parameters: [] };

/** Messages in id order from the indexes of `message`. */
export class MessageSeries {
  private readonly queries: ReturnType<typeof newStatementCache<Query<MessageIndexColumns>>>;

  constructor(
    connection: Connection,
    private readonly states: ViewerMessageStates,
  ) {
    this.queries = newStatementCache((sql) => connection.tuples<MessageIndexColumns>(sql));
  }

  /** Runs a query over `message m`; `from` follows its columns. */
  async select(from: string, ...parameters: readonly SqlParameter[]): Promise<MessageIndexRow[]> {
    return this.queries.memo(`SELECT ${MESSAGE_INDEX_COLUMNS} ${from}`).all(...parameters);
  }

  /**
   * Returns at most `limit` matches in page direction. With a viewer, includes only messages that are theirs by spans
   * and moves.
   * @param from part of a query after its columns, ending with a condition
   */
  async page(
    viewer: Viewer | null,
    from: Restriction,
    pageBounds: PageBounds,
    limit: number,
  ): Promise<MessageIndexRow[]> {
    const own = viewer ? receivedBy(viewer) : EVERYBODY;
    const found: MessageIndexRow[] = [];
    for (let part: PageBounds | null = pageBounds; part && found.length < limit; ) {
      const rows: MessageIndexRow[] = await this.select(
        `${from.sql} ${own.sql} AND m.id BETWEEN ? AND ? ORDER BY m.id ${orderOf(part)} LIMIT ?`,
        ...[...from.parameters, ...own.parameters, part.first, part.last, limit],
      );
      found.push(...(viewer ? await this.states.ownMoved(viewer, rows) : rows));
      part = rows.length < limit ? null : after(part, idOf(lastOf(rows)));
    }
    return found.slice(0, limit);
  }

  /** Returns the matches in these series like `page`. */
  async inSeries(
    viewer: Viewer | null,
    series: readonly Series[],
    { restriction }: Narrowing,
    pageBounds: PageBounds,
    limit: number,
  ): Promise<MessageIndexRow[]> {
    const [only, another] = series;
    if (!only) return [];
    if (!another) {
      const topic = only.topicKey === null ? EVERYBODY : { sql: 'AND m.topic_key = ?', parameters: [only.topicKey] };
      const from = {
        sql: `FROM message m WHERE m.recipient_id = ? ${topic.sql} ${restriction.sql}`,
        parameters: [only.recipientId, ...topic.parameters, ...restriction.parameters],
      };
      return this.page(viewer, from, pageBounds, limit);
    }
    const topics = series.filter((each) => each.topicKey !== null);
    const recipients = series.filter((each) => each.topicKey === null).map((each) => each.recipientId);
    const inTopics: Restriction = {
      sql: 'SELECT * FROM unnest(?::bigint[], ?::text[]) t (recipient_id, topic_key)',
      parameters: [topics.map((each) => each.recipientId), topics.map((each) => each.topicKey!)],
    };
    const inRecipients: Restriction = {
      sql: 'SELECT * FROM unnest(?::bigint[]) t (recipient_id)',
      parameters: [recipients],
    };
    const [first, second] = await Promise.all([
      topics.length === 0 ? [] : this.inEach(viewer, inTopics, true, restriction, pageBounds, limit),
      recipients.length === 0 ? [] : this.inEach(viewer, inRecipients, false, restriction, pageBounds, limit),
    ]);
    return merge([first, second], pageBounds, limit);
  }

  /** Returns matches in all conversations that belong or belonged to the viewer and are permitted by the conditions. */
  inOwn(viewer: Viewer, narrowing: Narrowing, pageBounds: PageBounds, limit: number): Promise<MessageIndexRow[]> {
    const { realmId, userId } = viewer;
    if (narrowing.isDirect === true) {
      const direct = 'SELECT recipient_id FROM direct_participant WHERE user_id = ? AND realm_id = ?';
      return this.everywhere(viewer, { sql: direct, parameters: [userId, realmId] }, narrowing, pageBounds, limit);
    }
    const sql = ['SELECT DISTINCT recipient_id FROM span WHERE user_id = ? AND realm_id = ?'];
    const parameters: SqlParameter[] = [userId, realmId];
    if (narrowing.isDirect === false) {
      sql.push('AND EXISTS (SELECT 1 FROM recipient r WHERE r.id = span.recipient_id AND r.channel_id IS NOT NULL)');
    }
    if (narrowing.privacies) {
      sql.push(`AND EXISTS (SELECT 1 FROM recipient r JOIN channel c ON c.id = r.channel_id
                            WHERE r.id = span.recipient_id AND c.privacy = ANY(?::text[]))`);
      parameters.push(narrowing.privacies);
    }
    return this.everywhere(viewer, { sql: sql.join(' '), parameters }, narrowing, pageBounds, limit);
  }

  /** Returns matches in all channels with the conditions' privacies, for any viewer. */
  inChannels(
    realmId: RealmId,
    narrowing: Narrowing,
    pageBounds: PageBounds,
    limit: number,
  ): Promise<MessageIndexRow[]> {
    const sql = 'SELECT recipient_id FROM channel WHERE realm_id = ? AND privacy = ANY(?::text[])';
    return this.everywhere(null, { sql, parameters: [realmId, narrowing.privacies!] }, narrowing, pageBounds, limit);
  }

  /** Searches recipients with listed topics by topic only. */
  private async everywhere(
    viewer: Viewer | null,
    recipients: Restriction,
    narrowing: Narrowing,
    pageBounds: PageBounds,
    limit: number,
  ): Promise<MessageIndexRow[]> {
    const { onlyTopics, topicKey, restriction } = narrowing;
    const listed = [...onlyTopics].flatMap(([recipientId, keys]) =>
      keys.filter((key) => topicKey === null || key === topicKey).map((key) => ({ recipientId, topicKey: key })),
    );
    const universe: Restriction = {
      sql: `SELECT recipient_id FROM (${recipients.sql}) r WHERE recipient_id <> ALL(?::bigint[])`,
      parameters: [...recipients.parameters, [...onlyTopics.keys()]],
    };
    const [first, second] = await Promise.all([
      this.inEach(viewer, universe, false, restriction, pageBounds, limit),
      this.inSeries(viewer, listed, narrowing, pageBounds, limit),
    ]);
    return merge([first, second], pageBounds, limit);
  }

  /** Takes the first matches of each conversation or topic in index order. */
  private async inEach(
    viewer: Viewer | null,
    universe: Restriction,
    byTopic: boolean,
    restriction: Restriction,
    pageBounds: PageBounds,
    limit: number,
  ): Promise<MessageIndexRow[]> {
    const own = viewer ? receivedBy(viewer) : EVERYBODY;
    const order = orderOf(pageBounds);
    const found: MessageIndexRow[] = [];
    for (let part: PageBounds | null = pageBounds; part && found.length < limit; ) {
      const rows: MessageIndexRow[] = await this.select(
        `FROM (${universe.sql}) u CROSS JOIN LATERAL (
           SELECT ${MESSAGE_INDEX_COLUMNS} FROM message m
           WHERE m.recipient_id = u.recipient_id ${byTopic ? 'AND m.topic_key = u.topic_key' : ''} ${restriction.sql} ${own.sql}
             AND m.id BETWEEN ? AND ?
           ORDER BY m.id ${order} LIMIT ?) m
         ORDER BY m.id ${order} LIMIT ?`,
        ...[...universe.parameters, ...restriction.parameters, ...own.parameters, part.first, part.last, limit, limit],
      );
      found.push(...(viewer ? await this.states.ownMoved(viewer, rows) : rows));
      part = rows.length < limit ? null : after(part, idOf(lastOf(rows)));
    }
    return found.slice(0, limit);
  }
}
