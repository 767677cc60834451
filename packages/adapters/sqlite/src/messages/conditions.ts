import { RESOLVED_PREFIX } from '@parley/domain/channels';
import type { RealmId, RecipientId, UserId } from '@parley/domain/kernel';
import type { SearchedTerm, SearchWords } from '@parley/domain/markdown';
import { holdsPhrases } from '@parley/domain/messages';
import {
  AFTER_RESOLVED,
  type ConditionSql,
  type ConditionWriter,
  type IndexedProperty,
  type IndexQuery,
  messageTerms,
  PROPERTY_BITS,
  searchLanguagesOf,
} from '@parley/storage';
import type { Database } from 'better-sqlite3';

const quoted = (term: SearchedTerm): string => (typeof term === 'string' ? `"${term}"` : `"${term.beginning}" *`);

/** FTS5 expression built only from terms, never from raw user input. */
export const allOf = (query: IndexQuery): string => query.map(anyOf).join(' AND ');
export const anyOf = (terms: readonly SearchedTerm[]): string => `(${terms.map(quoted).join(' OR ')})`;

/** Adds the terms of messages that have none. */
export const INSERT_MESSAGE_TERMS = `
  INSERT INTO message_search (rowid, terms)
  SELECT m.id,
         message_terms(r.settings, m.realm_id, m.sender_id, m.recipient_id, m.topic_key, m.topic, m.rendered_content)
  FROM json_each(?) wanted CROSS JOIN message m ON m.id = wanted.value CROSS JOIN realm r ON r.id = m.realm_id`;

type TermArguments = [
  settings: string,
  realmId: RealmId,
  senderId: UserId,
  recipientId: RecipientId,
  topicKey: string | null,
  topic: string,
  renderedContent: string,
];

/** Defines the SQL functions used by triggers and queries. */
export function defineSearchFunctions(database: Database, words: SearchWords): void {
  database.function(
    'message_terms',
    { deterministic: true, varargs: true },
    (...[settings, realmId, senderId, recipientId, topicKey, topic, renderedContent]: TermArguments) =>
      messageTerms(
        words.inLanguages(searchLanguagesOf(settings)),
        { realmId, senderId, recipientId, topic, renderedContent },
        topicKey,
      ),
  );
  database.function('holds_phrases', { deterministic: true }, (content: string, topic: string, phrases: string) =>
    holdsPhrases(content, topic, JSON.parse(phrases)) ? 1 : 0,
  );
}

/** Must match the index definitions character by character. */
export const propertySql = (property: IndexedProperty): string =>
  property === 'isResolved'
    ? `m.topic_key >= '${RESOLVED_PREFIX}' AND m.topic_key < '${AFTER_RESOLVED}'`
    : `m.property_bits & ${PROPERTY_BITS[property]}`;

const LISTED = '(SELECT value FROM json_each(?))';

/** SQL condition that a given message matches the index query and contains all phrases. */
function searchSql(query: IndexQuery, phrases: readonly string[]): ConditionSql<string> {
  const found = 'EXISTS (SELECT 1 FROM message_search WHERE rowid = m.id AND message_search MATCH ?)';
  const [sql, ...parameters] = phrasesSql(phrases);
  return phrases.length === 0 ? [found, allOf(query)] : [`(${found} AND ${sql})`, allOf(query), ...parameters];
}

const phrasesSql = (phrases: readonly string[]): ConditionSql<string> => [
  'holds_phrases(m.content, m.topic, ?)',
  JSON.stringify(phrases),
];

export const CONDITION_WRITER: ConditionWriter<string> = {
  inList: (column, values, negated) => [`m.${column} ${negated ? 'NOT IN' : 'IN'} ${LISTED}`, JSON.stringify(values)],
  inTopics: (topics) => [
    '(m.recipient_id, m.topic_key) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?))',
    JSON.stringify(topics.map((topic) => [topic.recipientId, topic.topicKey])),
  ],
  hasPrivacy: (privacies) => [
    `EXISTS (SELECT 1 FROM recipient r JOIN channel c ON c.id = r.channel_id
        WHERE r.id = m.recipient_id AND c.privacy IN ${LISTED})`,
    JSON.stringify(privacies),
  ],
  property: propertySql,
  search: searchSql,
  phrases: phrasesSql,
  no: '0',
};
