import type { RealmId, RecipientId, UserId } from '@parley/domain/kernel';
import type { SearchWords } from '@parley/domain/markdown';
import { holdsPhrases, mentionedIn, termsOfMessage } from '@parley/domain/messages';
import type { Database } from 'better-sqlite3';

/**
 * A message in the index of searches is a list of terms: the words it is found by, and where it is, so that a search that is
 * limited to some place costs by whichever is rarer. The tokenizer splits at what is in ASCII and neither letter nor digit;
 * such a character is put into the private use area. Words begin with a letter, a digit or a slash, and other terms with one
 * of the characters below.
 */
const KINDS = { realm: '\uf800', recipient: '\uf801', topic: '\uf802', sender: '\uf803', mention: '\uf804' } as const;

const ESCAPED = 0xe000;

const SPLIT_AT = /[\0-/:-`{-\x7f]/;
const ALL_SPLIT_AT = new RegExp(SPLIT_AT, 'g');

/** Most words hold none, which is found out in a fraction of the time. */
const encode = (text: string): string =>
  SPLIT_AT.test(text)
    ? text.replace(ALL_SPLIT_AT, (character) => String.fromCharCode(ESCAPED + character.charCodeAt(0)))
    : text;

export const wordTerm = encode;
export const realmTerm = (id: RealmId): string => `${KINDS.realm}${id}`;
export const senderTerm = (id: UserId): string => `${KINDS.sender}${id}`;
export const mentionTerm = (id: UserId): string => `${KINDS.mention}${id}`;
export const seriesTerm = (recipientId: RecipientId, topicKey: string | null): string =>
  topicKey === null
    ? `${KINDS.recipient}${recipientId}`
    : `${KINDS.topic}${recipientId}${KINDS.topic}${encode(topicKey)}`;

const quoted = (term: string): string => `"${term}"`;

/** In the language of FTS5, of terms alone: what people type never gets into it. */
export const allOf = (terms: readonly string[]): string => terms.map(quoted).join(' AND ');
export const anyOf = (terms: readonly string[]): string => `(${terms.map(quoted).join(' OR ')})`;

/** What a message's terms are made of. */
export interface TermSource {
  readonly realmId: RealmId;
  readonly senderId: UserId;
  readonly recipientId: RecipientId;
  readonly topic: string;
  readonly renderedContent: string;
}

/** As the index takes them. `topicKey`: null for direct messages. */
export function messageTerms(words: SearchWords, message: TermSource, topicKey: string | null): string {
  const { realmId, senderId, recipientId, renderedContent } = message;
  const terms = [realmTerm(realmId), senderTerm(senderId), seriesTerm(recipientId, null)];
  if (topicKey !== null) terms.push(seriesTerm(recipientId, topicKey));
  for (const userId of mentionedIn(renderedContent)) terms.push(mentionTerm(userId));
  for (const word of termsOfMessage(words, message)) terms.push(wordTerm(word));
  return terms.join(' ');
}

/** What triggers and queries call. */
export function defineSearchFunctions(database: Database, words: SearchWords): void {
  database.function(
    'message_terms',
    { deterministic: true },
    (
      realmId: RealmId,
      senderId: UserId,
      recipientId: RecipientId,
      topicKey: string | null,
      topic: string,
      renderedContent: string,
    ) => messageTerms(words, { realmId, senderId, recipientId, topic, renderedContent }, topicKey),
  );
  database.function('message_words', { deterministic: true }, (topic: string, renderedContent: string) =>
    JSON.stringify([...termsOfMessage(words, { topic, renderedContent })]),
  );
  database.function('holds_phrases', { deterministic: true }, (content: string, topic: string, phrases: string) =>
    holdsPhrases(content, topic, JSON.parse(phrases)) ? 1 : 0,
  );
}
