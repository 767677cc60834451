import { createHash } from 'node:crypto';
import type { MessageId, RealmId } from '@parley/domain/kernel';
import type { SearchedTerm, SearchWords } from '@parley/domain/markdown';
import {
  type MessageCondition,
  type MessageFilter,
  type SearchedText,
  searchedText,
  type Viewer,
} from '@parley/domain/messages';
import {
  AFTER_RESOLVED,
  type ConditionRow,
  type ConditionSql,
  type ConditionWriter,
  type IndexedProperty,
  type IndexQuery,
  idOf,
  type MessageIndexRow,
  matchingRows,
  PROPERTY_BITS,
  RESOLVED,
  readsText,
  searchLanguagesOf,
  textTerms,
  wantedTerms,
} from '@parley/storage';
import type { Command, Connection, Query } from '../engine/connection.js';
import type { ViewerMessageStates } from './viewer-message-state.js';

/** Values that determine a message's search terms. */
export type IndexedText = readonly [
  id: MessageId,
  realmId: RealmId,
  topic: string,
  renderedContent: string,
  settings: string,
];
const SETTINGS = '(SELECT settings FROM realm r WHERE r.id = m.realm_id)';
export const INDEXED_TEXT = `m.id, m.realm_id, m.topic, m.rendered_content, ${SETTINGS}`;

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
    const terms = texts.map(([, , topic, renderedContent, settings]) => {
      const words = this.words.inLanguages(searchLanguagesOf(settings));
      return textTerms(words, { topic, renderedContent }).map(indexed).join(' ');
    });
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
  private readonly texts: Query<readonly [MessageId, string, string, string, string]>;

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
      `SELECT m.id, m.topic, m.content, m.rendered_content, ${SETTINGS} FROM message m WHERE m.id = ANY($1::bigint[])`,
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
    const [state, texts, details] = await Promise.all([
      this.states.load(viewer, indexRows),
      conditions.some(readsText) ? this.textsOf(ids, wantedTerms(conditions)) : null,
      this.details.all(ids),
    ]);
    return matchingRows(indexRows, { state, texts, details }, conditions, scope);
  }

  private async textsOf(
    ids: readonly MessageId[],
    wanted: readonly SearchedTerm[],
  ): Promise<ReadonlyMap<MessageId, SearchedText>> {
    const rows = await this.texts.all(ids);
    return new Map(
      rows.map(([id, topic, content, renderedContent, settings]) => [
        id,
        searchedText(this.words.inLanguages(searchLanguagesOf(settings)), { topic, content, renderedContent }, wanted),
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

function searchSql(query: IndexQuery): ConditionSql<List> {
  const [sql, ...parameters] = termsSql(query);
  return [`EXISTS (SELECT 1 FROM message_search s WHERE s.message_id = m.id AND ${sql})`, ...parameters];
}

/** SQL condition that a row `s` of `message_search` matches the query. */
export const termsSql = (query: IndexQuery): ConditionSql<List> => [
  'array_to_tsvector(s.terms) @@ ?::tsquery',
  query.map((alternatives) => `(${alternatives.map(lexeme).join(' | ')})`).join(' & '),
];

/** Indexed terms contain no quotes or backslashes, since they are mapped to the private use area. */
const lexeme = (term: SearchedTerm): string =>
  typeof term === 'string' ? `'${indexed(term)}'` : `'${term.beginning}':*`;

export const CONDITION_WRITER: ConditionWriter<List> = {
  inList: (column, values, negated) => [
    `m.${column} ${negated ? '<> ALL' : '= ANY'}(?::${column === 'topic_key' ? 'text' : 'bigint'}[])`,
    values,
  ],
  inTopics: (topics) => [
    '(m.recipient_id, m.topic_key) IN (SELECT * FROM unnest(?::bigint[], ?::text[]))',
    topics.map((topic) => topic.recipientId) as List,
    topics.map((topic) => topic.topicKey) as List,
  ],
  hasPrivacy: (privacies) => [
    'EXISTS (SELECT 1 FROM channel c WHERE c.id = m.channel_id AND c.privacy = ANY(?::text[]))',
    privacies,
  ],
  property: propertySql,
  search: searchSql,
  // JavaScript folds case differently from PostgreSQL.
  phrases: null,
  no: 'false',
};
