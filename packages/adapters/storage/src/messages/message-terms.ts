import type { RealmId, RecipientId, UserId } from '@parley/domain/kernel';
import type { SearchedTerm, SearchedWord, SearchWords } from '@parley/domain/markdown';
import { type MessageCondition, mentionedIn, termsOfMessage } from '@parley/domain/messages';

/**
 * Terms of a message in the search index: its words and its location. The rarer of both bounds the cost of a search
 * within a location. The tokenizer splits at ASCII characters other than letters and digits, which are therefore mapped
 * to the private use area. Words start with a letter, a digit or an encoded character, other terms with one of the characters below.
 */
const KINDS = { realm: '\uf800', recipient: '\uf801', topic: '\uf802', sender: '\uf803', mention: '\uf804' } as const;

const ESCAPED = 0xe000;

const SPLIT_AT = /[\0-/:-`{-\x7f]/;
const ALL_SPLIT_AT = new RegExp(SPLIT_AT, 'g');

/** Most words contain no such character, which a test finds faster. */
const encode = (text: string): string =>
  SPLIT_AT.test(text)
    ? text.replace(ALL_SPLIT_AT, (character) => String.fromCharCode(ESCAPED + character.charCodeAt(0)))
    : text;

export const realmTerm = (id: RealmId): string => `${KINDS.realm}${id}`;
export const senderTerm = (id: UserId): string => `${KINDS.sender}${id}`;
export const mentionTerm = (id: UserId): string => `${KINDS.mention}${id}`;
export const seriesTerm = (recipientId: RecipientId, topicKey: string | null): string =>
  topicKey === null
    ? `${KINDS.recipient}${recipientId}`
    : `${KINDS.topic}${recipientId}${KINDS.topic}${encode(topicKey)}`;

/** Lists of alternative terms in index form; a message must have a term of each. */
export type IndexQuery = readonly (readonly SearchedTerm[])[];

export const indexQuery = (words: readonly SearchedWord[]): IndexQuery =>
  words
    .flat()
    .map((alternatives) =>
      alternatives.map((term) => (typeof term === 'string' ? encode(term) : { beginning: encode(term.beginning) })),
    );

/** Message properties that determine its terms. */
export interface TermSource {
  readonly realmId: RealmId;
  readonly senderId: UserId;
  readonly recipientId: RecipientId;
  readonly topic: string;
  readonly renderedContent: string;
}

/** Returns terms in index form. `topicKey` is null for direct messages. */
export function messageTerms(words: SearchWords, message: TermSource, topicKey: string | null): string {
  const { realmId, senderId, recipientId } = message;
  const terms = [realmTerm(realmId), senderTerm(senderId), seriesTerm(recipientId, null)];
  if (topicKey !== null) terms.push(seriesTerm(recipientId, topicKey));
  return [...terms, ...textTerms(words, message)].join(' ');
}

/** Returns the words and mentions of a message in index form. */
export const textTerms = (words: SearchWords, message: Pick<TermSource, 'topic' | 'renderedContent'>): string[] => [
  ...mentionedIn(message.renderedContent).map(mentionTerm),
  ...[...termsOfMessage(words, message)].map(encode),
];

/** Returns all terms for which the conditions search. */
export function wantedTerms(conditions: readonly MessageCondition[]): readonly SearchedTerm[] {
  return conditions.flatMap((condition) => {
    switch (condition.kind) {
      case 'not':
        return wantedTerms([condition.condition]);
      case 'anyOf':
      case 'allOf':
        return wantedTerms(condition.conditions);
      default:
        return condition.kind === 'search' ? condition.words.flat(2) : [];
    }
  });
}

/** True if the condition depends on message texts. */
export function readsText(condition: MessageCondition): boolean {
  switch (condition.kind) {
    case 'not':
      return readsText(condition.condition);
    case 'anyOf':
    case 'allOf':
      return condition.conditions.some(readsText);
    default:
      return condition.kind === 'search' || condition.kind === 'mentions';
  }
}
