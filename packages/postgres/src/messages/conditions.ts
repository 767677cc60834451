import { createHash } from 'node:crypto';
import type { MessageId, RealmId } from '@parley/domain/kernel';
import type { SearchWords } from '@parley/domain/markdown';
import {
  type MessageCondition,
  type MessageFilter,
  matchesCondition,
  type SearchedText,
  type SimpleCondition,
  searchedText,
  type Viewer,
} from '@parley/domain/messages';
import {
  AFTER_RESOLVED,
  type ConditionRow,
  type ConditionSql,
  type ConditionWriter,
  conditionSubject,
  type IndexedProperty,
  type IndexQuery,
  idOf,
  indexQuery,
  type MessageIndexRow,
  mentionTerm,
  PROPERTY_BITS,
  RESOLVED,
  readsText,
  textTerms,
} from '@parley/storage';
import type { Command, Connection, Query } from '../engine/connection.js';
import type { ViewerMessageStates } from './viewer-message-state.js';

/** Message columns that determine its search terms. */
export type IndexedText = readonly [id: MessageId, realmId: RealmId, topic: string, renderedContent: string];
export const INDEXED_TEXT = 'm.id, m.realm_id, m.topic, m.rendered_content';

/** Maximum length of an indexed term in characters; index entries have at most 2,704 bytes. */
const LONGEST_TERM = 400;

/** Returns the term itself, or the beginning and a hash of a long term. */
export const indexed = (term: string): string =>
  term.length <= LONGEST_TERM
    ? term
    : term.slice(0, LONGEST_TERM) + createHash('sha256').update(term).digest('base64url');

/** Maintains the search terms of messages. */
export class SearchTerms {
  private readonly upsert: Command;

  constructor(
    connection: Connection,
    private readonly words: SearchWords,
  ) {
    // Terms contain no spaces.
    this.upsert = connection.command(
      `INSERT INTO message_search (message_id, realm_id, terms)
       SELECT t.id, t.realm_id, string_to_array(t.terms, ' ')
       FROM unnest($1::bigint[], $2::bigint[], $3::text[]) t (id, realm_id, terms)
       ON CONFLICT (message_id) DO UPDATE SET terms = excluded.terms`,
    );
  }

  /** Takes effect before the next statement. */
  put(texts: readonly IndexedText[]): void {
    if (texts.length === 0) return;
    // Locations and senders have separate indexes. As terms of every message, they would account for most of the WAL's
    // bytes.
    const terms = texts.map(([, , topic, renderedContent]) =>
      textTerms(this.words, { topic, renderedContent }).map(indexed).join(' '),
    );
    this.upsert.defer(
      texts.map(([id]) => id),
      texts.map(([, realmId]) => realmId),
      terms,
    );
  }
}

/** Evaluates conditions on read state, flags and phrases message by message, since no query can. */
export class ConditionSubjects {
  private readonly details: Query<ConditionRow>;
  private readonly texts: Query<readonly [MessageId, string, string, string]>;

  constructor(
    connection: Connection,
    private readonly states: ViewerMessageStates,
    private readonly words: SearchWords,
  ) {
    this.details = connection.tuples(
      `SELECT m.id, m.channel_id, m.topic, c.privacy
       FROM message m LEFT JOIN channel c ON c.id = m.channel_id WHERE m.id = ANY($1::bigint[])`,
    );
    this.texts = connection.tuples(
      'SELECT id, topic, content, rendered_content FROM message WHERE id = ANY($1::bigint[])',
    );
  }

  /** Returns the messages that match all conditions, in order; in scope `own`, only the viewer's own. */
  async matching(
    viewer: Viewer,
    indexRows: readonly MessageIndexRow[],
    conditions: readonly MessageCondition[],
    scope: MessageFilter['scope'],
  ): Promise<MessageIndexRow[]> {
    if (indexRows.length === 0 || (conditions.length === 0 && scope === 'shared')) return [...indexRows];
    const ids = indexRows.map(idOf);
    const [state, texts, detailRows] = await Promise.all([
      this.states.load(viewer, indexRows),
      conditions.some(readsText) ? this.textsOf(ids) : null,
      this.details.all(ids),
    ]);
    const details = new Map(detailRows.map((each) => [each[0], each]));
    return indexRows.filter((row) => {
      const own = state.flags(row);
      if (!own && scope === 'own') return false;
      const subject = conditionSubject(row, details.get(idOf(row))!, own, () => texts!.get(idOf(row))!);
      return conditions.every((condition) => matchesCondition(subject, condition));
    });
  }

  private async textsOf(ids: readonly MessageId[]): Promise<ReadonlyMap<MessageId, SearchedText>> {
    const rows = await this.texts.all(ids);
    return new Map(
      rows.map(([id, topic, content, renderedContent]) => [
        id,
        searchedText(this.words, { topic, content, renderedContent }),
      ]),
    );
  }
}

/** Lists are PostgreSQL arrays. */
type List = readonly (string | number)[];

/** Must match the index definitions. */
const propertySql = (property: IndexedProperty): string =>
  property === 'isResolved'
    ? `m.topic_key >= '${RESOLVED}' AND m.topic_key < '${AFTER_RESOLVED}'`
    : `(m.property_bits & ${PROPERTY_BITS[property]}) <> 0`;

function toSql(condition: SimpleCondition, negated: boolean): ConditionSql<List> {
  switch (condition.kind) {
    case 'recipient': {
      const [first, ...more] = condition.recipientIds;
      if (more.length === 0) return [`m.recipient_id ${negated ? '<>' : '='} ?`, first!];
      return [`m.recipient_id ${negated ? '<> ALL' : '= ANY'}(?::bigint[])`, condition.recipientIds];
    }
    case 'channelTopic': {
      const isIn = '(m.recipient_id, m.topic_key) IN (SELECT * FROM unnest(?::bigint[], ?::text[]))';
      const lists = [condition.topics.map((each) => each.recipientId), condition.topics.map((each) => each.topicKey)];
      return [
        negated ? `(m.topic_key IS NULL OR NOT ${isIn})` : `(m.topic_key IS NOT NULL AND ${isIn})`,
        ...(lists as List[]),
      ];
    }
    case 'channelPrivacy': {
      const sql = 'EXISTS (SELECT 1 FROM channel c WHERE c.id = m.channel_id AND c.privacy = ANY(?::text[]))';
      return [negated ? `NOT ${sql}` : sql, condition.privacies];
    }
    case 'topic':
      return [negated ? '(m.topic_key IS NULL OR m.topic_key <> ?)' : 'm.topic_key = ?', condition.topicKey];
    case 'sender':
      return [`m.sender_id ${negated ? '<>' : '='} ?`, condition.userId];
    case 'message':
      return [`m.id ${negated ? '<>' : '='} ?`, condition.messageId];
    case 'direct':
      return [`m.channel_id IS ${negated ? 'NOT NULL' : 'NULL'}`];
    case 'property': {
      const sql = propertySql(condition.property);
      return [negated ? `NOT coalesce(${sql}, false)` : sql];
    }
    case 'search': {
      const [sql, ...parameters] = searchSql(indexQuery(condition.words));
      return [negated ? `NOT ${sql}` : sql, ...parameters];
    }
    case 'mentions': {
      const [sql, ...parameters] = searchSql([[mentionTerm(condition.userId)]]);
      return [negated ? `NOT ${sql}` : sql, ...parameters];
    }
    case 'flag':
      throw new Error('Flags require a viewer');
  }
}

function searchSql(query: IndexQuery): ConditionSql<List> {
  const [sql, ...parameters] = termsSql(query);
  return [`EXISTS (SELECT 1 FROM message_search s WHERE s.message_id = m.id AND ${sql})`, ...parameters];
}

/** SQL condition that a row `s` of `message_search` matches the query. */
export const termsSql = (query: IndexQuery): ConditionSql<List> => [
  query.map(() => 's.terms && ?::text[]').join(' AND '),
  ...query.map((alternatives) => alternatives.map(indexed)),
];

export const CONDITION_WRITER: ConditionWriter<List> = {
  condition: toSql,
  property: propertySql,
  search: searchSql,
  // JavaScript folds case differently from PostgreSQL.
  phrases: null,
  outside: (column, values) => {
    const sql = `m.${column} <> ALL(?::${column === 'topic_key' ? 'text' : 'bigint'}[])`;
    return [column === 'topic_key' ? `(m.topic_key IS NULL OR ${sql})` : sql, values];
  },
  no: 'false',
};
