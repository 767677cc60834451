import type { Viewer } from '@parley/domain/messages';
import { after, type MessageIndexRow, merge, orderOf, type PageBounds } from '@parley/storage';
import type { Connection, Query } from '../engine/connection.js';
import { termsSql } from './conditions.js';
import type { Narrowing } from './message-filter.js';
import type { MessageSeries } from './message-series.js';

/** Number of ids to scan before merging pages by conversation, which is faster for readers with few subscriptions. */
const SCANNED_IDS = { atLeast: 500, perMessage: 10 };

/**
 * Pages of a viewer's own messages, using rows of `message` alone. Each own message is in a conversation with a present
 * or past span of the viewer, or has a row in message_flag. Messages moved elsewhere are lost.
 */
export class ReceivedMessagePages {
  private readonly newestId: Query<number | null>;

  constructor(
    connection: Connection,
    private readonly series: MessageSeries,
  ) {
    this.newestId = connection.values('SELECT max(id) FROM message');
  }

  /** Returns at most `limit` rows in page direction. */
  async page(viewer: Viewer, narrowing: Narrowing, pageBounds: PageBounds, limit: number): Promise<MessageIndexRow[]> {
    const [marked, received] = await Promise.all([
      this.marked(viewer, narrowing, pageBounds, limit),
      this.received(viewer, narrowing, pageBounds, limit),
    ]);
    return merge([received, marked], pageBounds, limit);
  }

  private async received(
    viewer: Viewer,
    narrowing: Narrowing,
    pageBounds: PageBounds,
    limit: number,
  ): Promise<MessageIndexRow[]> {
    const { restriction } = narrowing;
    if (narrowing.messageId !== null || narrowing.searched !== null) {
      const [sql, ...parameters] = narrowing.searched === null ? [''] : termsSql(narrowing.searched.query);
      const search = sql === '' ? '' : `JOIN message_search s ON s.message_id = m.id AND ${sql}`;
      const rest = narrowing.searched === null ? restriction : narrowing.besidesSearch;
      const from = {
        sql: `FROM message m ${search} WHERE m.realm_id = ? ${rest.sql}`,
        parameters: [...parameters, viewer.realmId, ...rest.parameters],
      };
      return this.series.page(viewer, from, pageBounds, limit);
    }
    if (narrowing.series) return this.series.inSeries(viewer, narrowing.series, narrowing, pageBounds, limit);
    if (isLookedForByIndex(narrowing)) return this.series.inOwn(viewer, narrowing, pageBounds, limit);
    const { found, rest } = await this.scan(viewer, narrowing, pageBounds, limit);
    const further = rest ? await this.series.inOwn(viewer, narrowing, rest, limit - found.length) : [];
    return [...found, ...further];
  }

  /** Scans the messages at the page's start, because many of them usually belong to conversations of the viewer. */
  private async scan(
    viewer: Viewer,
    { restriction }: Narrowing,
    pageBounds: PageBounds,
    limit: number,
  ): Promise<{ readonly found: MessageIndexRow[]; readonly rest: PageBounds | null }> {
    const newest = (await this.newestId.get()) ?? 0;
    const width = SCANNED_IDS.atLeast + SCANNED_IDS.perMessage * limit;
    const last = Math.min(pageBounds.last, newest);
    const window: PageBounds =
      pageBounds.direction === 'older'
        ? { ...pageBounds, first: Math.max(pageBounds.first, last - width), last }
        : { ...pageBounds, last: Math.min(last, pageBounds.first + width) };
    const from = {
      sql: `FROM message m WHERE m.realm_id = ? ${restriction.sql}`,
      parameters: [viewer.realmId, ...restriction.parameters],
    };
    const found = await this.series.page(viewer, from, window, limit);
    const isAll = pageBounds.direction === 'older' ? window.first <= pageBounds.first : window.last >= last;
    if (found.length >= limit || isAll) return { found, rest: null };
    return { found, rest: after(pageBounds, pageBounds.direction === 'older' ? window.first : window.last) };
  }

  /** Returns messages that belong to the viewer because of a message_flag row. */
  async marked(
    { realmId, userId }: Viewer,
    { restriction }: Narrowing,
    pageBounds: PageBounds,
    limit: number,
  ): Promise<MessageIndexRow[]> {
    return this.series.select(
      `FROM message_flag f JOIN message m ON m.id = f.message_id
       WHERE f.user_id = ? AND f.source <> 0 AND f.realm_id = ? AND f.message_id BETWEEN ? AND ? ${restriction.sql}
       ORDER BY f.message_id ${orderOf(pageBounds)} LIMIT ?`,
      ...[userId, realmId, pageBounds.first, pageBounds.last, ...restriction.parameters, limit],
    );
  }
}

/** True if an index finds the matches in each conversation, which makes a scan of all messages wasteful. */
const isLookedForByIndex = ({ topicKey, senderId, property, isDirect, privacies }: Narrowing): boolean =>
  topicKey !== null || senderId !== null || property !== null || isDirect === true || privacies !== null;
