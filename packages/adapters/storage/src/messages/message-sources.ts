import type { MessageCondition, Viewer, ViewerFlag } from '@parley/domain/messages';
import type { MaybePromise, Statements } from '../engine/statements.js';
import type { ConditionParameter, Narrowing, NarrowPlanner } from './narrowing.js';
import { merge, orderOf, type PageBounds } from './page-range.js';
import type { MessageIndexRow } from './viewer-message-state.js';

/**
 * Candidate source: returns at most `limit` rows in page direction that match the conditions decidable from
 * `message`.
 */
export type MessageSource = (pageBounds: PageBounds, limit: number) => MaybePromise<MessageIndexRow[]>;

export interface NarrowedPages<List> {
  page(
    viewer: Viewer,
    narrowing: Narrowing<List>,
    pageBounds: PageBounds,
    limit: number,
  ): MaybePromise<MessageIndexRow[]>;
}

interface MessageReads<List> {
  readonly series: {
    select(from: string, ...parameters: readonly ConditionParameter<List>[]): MaybePromise<MessageIndexRow[]>;
  };
  readonly receivedPages: NarrowedPages<List>;
  readonly unread: NarrowedPages<List>;
}

/** Number of messages with a value above which conversations are read instead of the index of values. */
const MANY_WITH_VALUE = 2000;

/** Index of `message_flag` and column for each flag. */
const FLAG_INDEXES = {
  starred: ['message_flag_starred', 'starred'],
  mentioned: ['message_flag_mentioned', 'mentioned'],
  topicWildcardMentioned: ['message_flag_topic_mentioned', 'topic_wildcard_mentioned'],
  hasAlertWord: ['message_flag_alerted', 'has_alert_word'],
} as const;

/** Sources of small stored sets of messages. */
export class MessageSources<List> {
  private readonly countWithValue;

  constructor(
    private readonly statements: Statements,
    private readonly reads: MessageReads<List>,
    private readonly narrowedTo: NarrowPlanner<List>['narrowedTo'],
  ) {
    this.countWithValue = statements.values<number | string>(
      'SELECT count(*) FROM (SELECT 1 FROM data_value WHERE key_id = ? AND value = ? LIMIT ? + 0) listed',
    );
  }

  /** Returns a source if the matches are a small stored subset of the viewer's messages; otherwise null. */
  ofViewer(viewer: Viewer, narrowing: Narrowing<List>): MessageSource | null {
    for (const condition of narrowing.personal) {
      const sources = this.sourcesOf(viewer, narrowing, condition);
      if (sources)
        return async (pageBounds, limit) =>
          merge(await Promise.all(sources.map((source) => source(pageBounds, limit))), pageBounds, limit);
    }
    return null;
  }

  /** Returns a source of all messages with a rare value, whoever received them; null for a frequent or no value. */
  async withValue({ data, restriction }: Narrowing<List>): Promise<MessageSource | null> {
    if (!data) return null;
    const value = [data.key.id, data.value];
    if (Number(await this.countWithValue.one(...value, MANY_WITH_VALUE)) === MANY_WITH_VALUE) return null;
    return (pageBounds, limit) =>
      this.reads.series.select(
        `FROM data_value w CROSS JOIN message m
         WHERE m.id = w.object_id AND w.key_id = ? AND w.value = ? AND w.object_id BETWEEN ? AND ? ${restriction.sql}
         ORDER BY w.object_id ${orderOf(pageBounds)} LIMIT ? + 0`,
        ...[...value, pageBounds.first, pageBounds.last, ...restriction.parameters, limit],
      );
  }

  /** Returns sources that together contain all matches of the condition; null if there are none. */
  private sourcesOf(viewer: Viewer, narrowing: Narrowing<List>, condition: MessageCondition): MessageSource[] | null {
    switch (condition.kind) {
      case 'flag':
        return condition.flag === 'read' ? null : [this.flagged(viewer, narrowing, condition.flag)];
      case 'not': {
        const { condition: negated } = condition;
        if (negated.kind !== 'flag' || negated.flag !== 'read') return null;
        const everyUnread = { ...narrowing, personal: [] };
        return [(pageBounds, limit) => this.reads.unread.page(viewer, everyUnread, pageBounds, limit)];
      }
      case 'anyOf': {
        const parts = condition.conditions.map((each) => this.sourcesOf(viewer, narrowing, each));
        return parts.some((part) => part === null) ? null : parts.flatMap((part) => part!);
      }
      default:
        return null;
    }
  }

  private flagged(viewer: Viewer, narrowing: Narrowing<List>, flag: Exclude<ViewerFlag, 'read'>): MessageSource {
    if (flag === 'channelWildcardMentioned') {
      const mentioning = this.narrowedTo(narrowing, 'mentionsChannel');
      return (pageBounds, limit) => this.reads.receivedPages.page(viewer, mentioning, pageBounds, limit);
    }
    const { sql, parameters } = narrowing.restriction;
    const [index, column] = FLAG_INDEXES[flag];
    return (pageBounds, limit) =>
      this.reads.series.select(
        `FROM message_flag f ${this.statements.dialect.indexedBy(index)} CROSS JOIN message m
         WHERE m.id = f.message_id AND f.user_id = ? AND f.${column} = 1 AND f.realm_id = ?
           AND f.message_id BETWEEN ? AND ? ${sql}
         ORDER BY f.message_id ${orderOf(pageBounds)} LIMIT ? + 0`,
        ...[viewer.userId, viewer.realmId, pageBounds.first, pageBounds.last, ...parameters, limit],
      );
  }
}
