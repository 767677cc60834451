import { lastOf, type MessageId, type RealmId, type RecipientId } from '@parley/domain/kernel';
import type { SearchedTerm } from '@parley/domain/markdown';
import type { MessageCondition, MessageFilter, Viewer } from '@parley/domain/messages';
import {
  after,
  type IndexQuery,
  idOf,
  indexQuery,
  jsonList,
  type MessageIndexRow,
  mentionTerm,
  merge,
  orderOf,
  type PageBounds,
  realmTerm,
  SqlSearchIndex,
  senderTerm,
  seriesTerm,
} from '@parley/storage';
import { asStatements, type Connection, LIMIT, type Query } from '../engine/connection.js';
import type { SqliteFeature } from '../engine/feature.js';
import { allOf, anyOf, INSERT_MESSAGE_TERMS } from './conditions.js';
import type { Narrowing } from './message-filter.js';
import type { MessageSeries } from './message-series.js';
import type { ReceivedMessagePages } from './received-message-pages.js';
import type { ViewerMessageStates } from './viewer-message-state.js';

/**
 * Cast to integer, because FTS5 uses only integer bounds to limit term lists and the driver binds floating-point
 * numbers.
 */
const WITHIN = 's.rowid BETWEEN CAST(? AS INTEGER) AND CAST(? AS INTEGER)';
/** Maximum number of recipients in a search; each adds a list that FTS5 must open, which takes about 10 µs. */
const MAX_RECIPIENTS = 1000;
/** Recipients per statement, since FTS5 compares the lists of all of them for each hit. */
const RECIPIENTS_AT_ONCE = 500;
const BATCH = { atLeast: 100, atMost: 1000 };
/** Series up to this length are tested message by message. */
const SHORT = 300;
const MAX_SHORT_SERIES = 20;
/** Terms with a beginning that are searched one by one. FTS5 merges the whole lists of more terms first. */
const MAX_TERMS = 100;
/** Number of alternatives, such as similar spellings, above which those absent from the index are dropped. */
const MANY_ALTERNATIVES = 50;

/**
 * Pages of search results in id order, using rows of `message` alone. FTS5 intersects the lists of words, recipients
 * and sender, so the rarest of them determines the cost.
 */
export class SearchPages {
  private readonly countInRecipient: Query<number>;
  private readonly countInTopic: Query<number>;
  private readonly between: Query<MessageId>;
  private readonly ownRecipients: Query<RecipientId>;
  private readonly directRecipients: Query<RecipientId>;
  private readonly channelRecipients: Query<RecipientId>;
  private readonly nextTerm: Query<string>;

  constructor(
    connection: Connection,
    private readonly states: ViewerMessageStates,
    private readonly series: MessageSeries,
    private readonly received: ReceivedMessagePages,
  ) {
    this.countInRecipient = connection.values(
      `SELECT count(*) FROM (SELECT 1 FROM message INDEXED BY message_by_recipient WHERE recipient_id = ? ${LIMIT})`,
    );
    this.countInTopic = connection.values(
      `SELECT count(*) FROM (
         SELECT 1 FROM message INDEXED BY message_by_topic WHERE recipient_id = ? AND topic_key = ? ${LIMIT})`,
    );
    this.between = connection.values(
      `SELECT s.rowid FROM message_search s WHERE s.message_search MATCH ? AND ${WITHIN} ORDER BY s.rowid DESC`,
    );
    this.ownRecipients = connection.values(
      `SELECT DISTINCT recipient_id FROM span WHERE user_id = ? AND realm_id = ? ${LIMIT}`,
    );
    this.directRecipients = connection.values(
      `SELECT recipient_id FROM direct_participant WHERE user_id = ? AND realm_id = ? ${LIMIT}`,
    );
    this.channelRecipients = connection.values(
      `SELECT recipient_id FROM channel WHERE realm_id = ? AND privacy IN (SELECT value FROM json_each(?)) ${LIMIT}`,
    );
    this.nextTerm = connection.values('SELECT term FROM message_search_term WHERE term >= ? LIMIT 1');
  }

  /** Returns at most `limit` messages in page direction. */
  async page(
    viewer: Viewer,
    narrowing: Narrowing,
    scope: MessageFilter['scope'],
    pageRange: PageBounds,
    limit: number,
  ): Promise<MessageIndexRow[]> {
    const recipients = this.listedRecipients(viewer, narrowing) ?? (scope === 'own' ? this.ownTerms(viewer) : null);
    const found: MessageIndexRow[] = [];
    const expressions = this.expressions(viewer, narrowing, recipients);
    let count = Math.max(limit, BATCH.atLeast);
    for (let part: PageBounds | null = pageRange; part && found.length < limit; ) {
      const rows = this.matches(expressions, narrowing, part, count);
      found.push(...(scope === 'own' ? await this.states.own(viewer, rows) : rows));
      part = rows.length < count ? null : after(part, idOf(lastOf(rows)));
      count = Math.max(count, Math.min(2 * count, BATCH.atMost));
    }
    // Messages that belong to the viewer by a row outside their conversations.
    const marked = scope === 'own' ? this.received.marked(viewer, narrowing, pageRange, limit) : [];
    return merge([found, marked], pageRange, limit);
  }

  /** True if the series are so short that testing each message costs less than reading long lists. */
  isShort({ series }: Narrowing): boolean {
    if (!series || series.length > MAX_SHORT_SERIES) return false;
    let left = SHORT;
    for (const { recipientId, topicKey } of series) {
      left -=
        topicKey === null
          ? this.countInRecipient.one(recipientId, left)
          : this.countInTopic.one(recipientId, topicKey, left);
      if (left <= 0) return false;
    }
    return true;
  }

  /** Returns the messages not matched by the expression, in order. */
  without(rows: readonly MessageIndexRow[], expression: string): MessageIndexRow[] {
    const found = this.foundAmong(rows, expression);
    return rows.filter((row) => !found.has(idOf(row)));
  }

  /** Returns the messages that match the query, in order. */
  among(rows: readonly MessageIndexRow[], query: IndexQuery): MessageIndexRow[] {
    const found = this.foundAmong(rows, allOf(this.withTerms(query)));
    return rows.filter((row) => found.has(idOf(row)));
  }

  /** Reads all matches between the first and last message, because term lists are scanned in any case. */
  private foundAmong(rows: readonly MessageIndexRow[], expression: string): ReadonlySet<MessageId> {
    const ids = rows.map(idOf);
    return new Set(ids.length === 0 ? [] : this.between.all(expression, Math.min(...ids), Math.max(...ids)));
  }

  /** Returns the terms of recipients and topics in the conditions; null for no restriction or too many. */
  private listedRecipients({ realmId, userId }: Viewer, narrowing: Narrowing): readonly string[] | null {
    const { series, isDirect, privacies } = narrowing;
    if (series)
      return series.length > MAX_RECIPIENTS
        ? null
        : series.map(({ recipientId, topicKey }) => seriesTerm(recipientId, topicKey));
    const recipientTerms =
      isDirect === true
        ? this.directRecipients.all(userId, realmId, MAX_RECIPIENTS + 1)
        : privacies && this.channelRecipients.all(realmId, JSON.stringify(privacies), MAX_RECIPIENTS + 1);
    return recipientTerms && recipientTerms.length <= MAX_RECIPIENTS ? recipientTerms.map(inRecipient) : null;
  }

  /**
   * Returns the terms of the viewer's own conversations, so that the time of a search does not depend on words of
   * others; null for too many.
   */
  private ownTerms({ realmId, userId }: Viewer): readonly string[] | null {
    const recipientIds = this.ownRecipients.all(userId, realmId, MAX_RECIPIENTS + 1);
    return recipientIds.length <= MAX_RECIPIENTS ? recipientIds.map(inRecipient) : null;
  }

  /** Replaces beginnings by their terms if they are few, since lists of terms need not be read to the end. */
  private withTerms(query: IndexQuery): IndexQuery {
    return query.map((alternatives) => {
      if (alternatives.length > MANY_ALTERNATIVES) return this.indexedAmong(alternatives);
      const terms = alternatives.flatMap((term): readonly SearchedTerm[] =>
        typeof term === 'string' ? [term] : (this.termsWith(term.beginning) ?? [term]),
      );
      return terms.length === 0 ? alternatives : terms;
    });
  }

  /**
   * Returns the alternatives that are in the index, or one alternative if none is. One look-up covers all alternatives
   * between two indexed terms, whereas FTS5 looks up each.
   */
  private indexedAmong(alternatives: readonly SearchedTerm[]): readonly SearchedTerm[] {
    const beginnings = alternatives.filter((term) => typeof term !== 'string');
    const sorted = alternatives
      .filter((term) => typeof term === 'string')
      .map((term) => ({ term, bytes: Buffer.from(term) }))
      .sort((a, b) => Buffer.compare(a.bytes, b.bytes));
    const indexed: SearchedTerm[] = [];
    let next = Buffer.alloc(0);
    for (const { term, bytes } of sorted) {
      if (Buffer.compare(next, bytes) < 0) {
        const found = this.nextTerm.get(term);
        if (found === undefined) break;
        next = Buffer.from(found);
      }
      if (next.equals(bytes)) indexed.push(term);
    }
    const found = [...beginnings, ...indexed];
    return found.length === 0 ? alternatives.slice(0, 1) : found;
  }

  /** Returns the terms with this beginning; null for too many. */
  private termsWith(beginning: string): readonly string[] | null {
    const terms: string[] = [];
    for (let term = this.nextTerm.get(beginning); term?.startsWith(beginning); ) {
      if (terms.length === MAX_TERMS) return null;
      terms.push(term);
      // The lowest text after the term.
      term = this.nextTerm.get(`${term}\x01`);
    }
    return terms;
  }

  /** Returns expressions that together match the hits in these recipients, or in the whole realm for null. */
  private expressions(
    { realmId }: Viewer,
    { searched, senderId }: Narrowing,
    recipientTerms: readonly string[] | null,
  ): readonly string[] {
    const query = [...this.withTerms(searched!.query), ...(senderId === null ? [] : [[senderTerm(senderId)]])];
    const terms = recipientTerms ?? [realmTerm(realmId)];
    const groups = Array.from({ length: Math.ceil(terms.length / RECIPIENTS_AT_ONCE) }, (_, index) =>
      terms.slice(index * RECIPIENTS_AT_ONCE, (index + 1) * RECIPIENTS_AT_ONCE),
    );
    return groups.map((group) => `${allOf(query)} AND ${anyOf(group)}`);
  }

  private matches(
    expressions: readonly string[],
    { besidesSearch }: Narrowing,
    pageRange: PageBounds,
    limit: number,
  ): MessageIndexRow[] {
    const groups = expressions.map((expression) =>
      this.series.select(
        `FROM message_search s CROSS JOIN message m ON m.id = s.rowid
         WHERE s.message_search MATCH ? AND ${WITHIN} ${besidesSearch.sql}
         ORDER BY s.rowid ${orderOf(pageRange)} ${LIMIT}`,
        ...[expression, pageRange.first, pageRange.last, ...besidesSearch.parameters, limit],
      ),
    );
    return merge(groups, pageRange, limit);
  }
}

const inRecipient = (recipientId: RecipientId): string => seriesTerm(recipientId, null);

/**
 * Combines excluded words and mentions into one expression; null if there are none. Phrases remain ordinary
 * conditions.
 */
export function splitExclusions(conditions: readonly MessageCondition[]): {
  readonly others: readonly MessageCondition[];
  readonly excluded: string | null;
} {
  const excluded: string[] = [];
  const others = conditions.filter((condition) => {
    if (condition.kind !== 'not') return true;
    const { condition: negated } = condition;
    if (negated.kind === 'mentions') excluded.push(allOf([[mentionTerm(negated.userId)]]));
    else if (negated.kind === 'search' && negated.phrases.length === 0) {
      excluded.push(allOf(indexQuery(negated.words)));
    } else return true;
    return false;
  });
  return { others, excluded: excluded.length === 0 ? null : excluded.map((each) => `(${each})`).join(' OR ') };
}

export class SqliteSearchIndex extends SqlSearchIndex {
  private readonly removeAll;
  private readonly remove;
  private readonly insert;
  private readonly newest;

  constructor(private readonly connection: Connection) {
    super(asStatements(connection));
    this.removeAll = [
      connection.command("INSERT INTO message_search (message_search) VALUES ('delete-all')"),
      connection.command(
        'UPDATE search_backlog SET indexed_up_to = (SELECT coalesce(max(id), 0) FROM message) WHERE id = 1',
      ),
    ];
    // Edited messages are in the index already.
    this.remove = connection.command('DELETE FROM message_search WHERE rowid IN (SELECT value FROM json_each(?))');
    this.insert = connection.command(INSERT_MESSAGE_TERMS);
    this.newest = connection.values<number>('SELECT max(id) FROM message');
  }

  /** Includes new messages that lack their terms because the disk fails. */
  override async unindexedUpTo(realmId: RealmId | null): Promise<number> {
    if (realmId !== null && this.connection.lacksTerms) return this.newest.one();
    return super.unindexedUpTo(realmId);
  }

  protected clear(): void {
    for (const command of this.removeAll) command.run();
  }

  protected put(ids: readonly MessageId[]): void {
    this.remove.run(jsonList(ids));
    this.insert.run(jsonList(ids));
  }
}

export const SEARCH_FEATURE = {
  repositories: () => (connection) => ({ searchIndex: new SqliteSearchIndex(connection) }),
} satisfies SqliteFeature;
