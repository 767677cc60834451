import { createHash } from 'node:crypto';
import type { MessageId, RealmId } from '@parley/domain/kernel';
import type { SearchedTerm, SearchWords } from '@parley/domain/markdown';
import {
  AFTER_RESOLVED,
  type ConditionSql,
  type ConditionWriter,
  type IndexedProperty,
  type IndexQuery,
  PROPERTY_BITS,
  RESOLVED,
  searchLanguagesOf,
  textTerms,
} from '@parley/storage';
import type { Command, Connection } from '../engine/connection.js';

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
