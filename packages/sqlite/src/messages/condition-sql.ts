import { RESOLVED_PREFIX } from '@parley/domain/channels';
import type { MessageCondition, SimpleCondition } from '@parley/domain/messages';
import type { Parameter } from '../engine/connection.js';
import { allOf, mentionTerm, wordTerm } from './search-terms.js';
import { type IndexedProperty, PROPERTY_BITS } from './stored-values.js';

/** Part of a WHERE clause over `message m`, each term begun with AND. */
export interface Restriction {
  readonly sql: string;
  readonly parameters: readonly Parameter[];
}

/** The least text that does not begin with the prefix. */
const AFTER_RESOLVED = RESOLVED_PREFIX.slice(0, -1) + String.fromCodePoint(RESOLVED_PREFIX.codePointAt(1)! + 1);

/** As the indexes have it, letter by letter. */
export const propertySql = (property: IndexedProperty): string =>
  property === 'isResolved'
    ? `m.topic_key >= '${RESOLVED_PREFIX}' AND m.topic_key < '${AFTER_RESOLVED}'`
    : `m.property_bits & ${PROPERTY_BITS[property]}`;

export const LISTED = '(SELECT value FROM json_each(?))';

/** The SQL of each kind of condition, over `message m`. Never null. */
export function toSql(condition: SimpleCondition, negated: boolean): [sql: string, ...parameters: Parameter[]] {
  switch (condition.kind) {
    case 'recipient': {
      const [first, ...more] = condition.recipientIds;
      if (more.length === 0) return [`m.recipient_id ${negated ? '<>' : '='} ?`, first!];
      const list = JSON.stringify(condition.recipientIds);
      return [`m.recipient_id ${negated ? 'NOT IN' : 'IN'} ${LISTED}`, list];
    }
    case 'channelTopic': {
      const isIn = `(m.recipient_id, m.topic_key) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?))`;
      const list = JSON.stringify(condition.topics.map((topic) => [topic.recipientId, topic.topicKey]));
      return [negated ? `(m.topic_key IS NULL OR NOT ${isIn})` : `(m.topic_key IS NOT NULL AND ${isIn})`, list];
    }
    case 'channelPrivacy': {
      const sql = `EXISTS (SELECT 1 FROM recipient r JOIN channel c ON c.id = r.channel_id
        WHERE r.id = m.recipient_id AND c.privacy IN ${LISTED})`;
      return [negated ? `NOT ${sql}` : sql, JSON.stringify(condition.privacies)];
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
      return [negated ? `NOT coalesce(${sql}, 0)` : sql];
    }
    case 'search': {
      const [sql, ...parameters] = searchSql(condition.terms.map(wordTerm), condition.phrases);
      return [negated ? `NOT ${sql}` : sql, ...parameters];
    }
    case 'mentions': {
      const [sql, ...parameters] = searchSql([mentionTerm(condition.userId)], []);
      return [negated ? `NOT ${sql}` : sql, ...parameters];
    }
    case 'flag':
      throw new Error('Flags are personal');
  }
}

/** Whether a message at hand has all these terms, as the index of searches has them, and holds all these phrases. */
export function searchSql(
  terms: readonly string[],
  phrases: readonly string[],
): [sql: string, ...parameters: Parameter[]] {
  const found = 'EXISTS (SELECT 1 FROM message_search WHERE rowid = m.id AND message_search MATCH ?)';
  const [sql, ...parameters] = phrasesSql(phrases);
  return phrases.length === 0 ? [found, allOf(terms)] : [`(${found} AND ${sql})`, allOf(terms), ...parameters];
}

export const phrasesSql = (phrases: readonly string[]): [sql: string, ...parameters: Parameter[]] => [
  'holds_phrases(m.content, m.topic, ?)',
  JSON.stringify(phrases),
];

/** Of a normalized condition. */
export function combinedSql(condition: MessageCondition): [sql: string, ...parameters: Parameter[]] {
  switch (condition.kind) {
    case 'not':
      return toSql(condition.condition as SimpleCondition, true);
    case 'anyOf':
    case 'allOf': {
      const parts = condition.conditions.map(combinedSql);
      const text = parts.map(([sql]) => `coalesce(${sql}, 0)`).join(condition.kind === 'anyOf' ? ' OR ' : ' AND ');
      return [`(${text})`, ...parts.flatMap(([, ...parameters]) => parameters)];
    }
    default:
      return toSql(condition, false);
  }
}

export const and = (sql: string, ...parameters: Parameter[]): Restriction => ({ sql: `AND ${sql}`, parameters });

export const joined = (terms: readonly Restriction[]): Restriction => ({
  sql: terms.map(({ sql }) => sql).join(' '),
  parameters: terms.flatMap(({ parameters }) => parameters),
});
