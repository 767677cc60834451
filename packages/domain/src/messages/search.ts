import type { RealmId, UserId } from '../kernel/ids.js';
import { foldCase } from '../kernel/text.js';
import type { Repositories, UnitOfWork } from '../kernel/unit-of-work.js';
import type { SearchedTerm, SearchedWord, SearchTexts, SearchWords } from '../markdown/markdown.js';
import type { Message } from './message.js';

/** Stop words. Clients receive this list (events §5.2). */
export const STOP_WORDS: readonly string[] = (
  'i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers herself it ' +
  'its itself they them their theirs themselves what which who whom this that these those am is are was were be been ' +
  'being have has had having do does did doing a an the and but if or because as until while of at by for with about ' +
  'against between into through during before after above below to from up down in out on off over under again further ' +
  'then once here there when where why how all any both each few more most other some such no nor not only own same so ' +
  'than too very s t can will just don should now'
).split(' ');

/** Stop words that are searched nevertheless (messages §7.6). */
const SEARCHED = new Set(['after', 'being', 'does', 'has', 'his', 'under']);

const PASSED_OVER = new Set([...STOP_WORDS.filter((word) => !SEARCHED.has(word)), ...'bcdefghjklmnopqruvwxyz']);

/** True if search ignores a lower-case word; single letters are ignored, too (messages §7.6). */
export const isPassedOver = (word: string): boolean => PASSED_OVER.has(word);

/**
 * Removes soft hyphens, which show only where a line breaks, and replaces hyphens of their own kind. Search does not
 * distinguish these spellings.
 */
export const plainHyphens = (text: string): string => text.replaceAll('\u00ad', '').replace(/[\u2010\u2011]/g, '-');

const foldPhrase = (text: string): string => foldCase(plainHyphens(text));

/** Parsed search query (messages §7.6). */
export interface SearchQuery {
  /** Words that must all occur in the text or topic; never empty. */
  readonly words: readonly SearchedWord[];
  /** Phrases as typed, folded; each must occur in the Markdown or the topic. */
  readonly phrases: readonly string[];
}

/** Message data needed by search and `mentions` conditions. */
export interface SearchedText {
  readonly terms: ReadonlySet<string>;
  readonly mentionedUserIds: readonly UserId[];
  readonly content: string;
  readonly topic: string;
}

/** Limit per narrow, including negated words and mentions; each needs a few look-ups. */
export const MAX_SEARCHED_WORDS = 50;

/**
 * Returns null if the text contains no searchable word.
 * @param isExcluded excluded words are finished, so that their beginnings exclude nothing else
 */
export function parseSearch(words: SearchWords, text: string, isExcluded = false): SearchQuery | null {
  const searched = words.searchedWords(isExcluded ? `${text} ` : text);
  if (searched.length === 0) return null;
  const phrases = [...text.matchAll(/"([^"]+)"/g)].map(([, phrase]) => foldPhrase(phrase!));
  return { words: searched, phrases: [...new Set(phrases)].filter((phrase) => phrase.trim() !== '') };
}

/**
 * Returns the distinct search terms of a message's text, topic and links to uploaded files; with `wanted`, at least those
 * among them.
 */
export function termsOfMessage(
  words: SearchWords,
  { topic, renderedContent }: Pick<Message, 'topic' | 'renderedContent'>,
  wanted?: readonly SearchedTerm[],
): ReadonlySet<string> {
  const terms = words.searchTerms(words.searchableText(renderedContent), wanted);
  return new Set(terms.concat(words.searchTerms(topic, wanted), uploadTermsIn(renderedContent)));
}

/** Path of an upload without its name, because links encode names in several ways. */
const UPLOAD = /["/]user_uploads\/(\d+\/[0-9a-f]{2}\/[\w-]+)\//g;

/** Returns the terms of links to uploads in HTML. */
export function uploadTermsIn(renderedContent: string): readonly string[] {
  // Fast path for most messages.
  if (!renderedContent.includes('user_uploads/')) return [];
  return [...renderedContent.matchAll(UPLOAD)].map(([, path]) => `/${path}`);
}

/** Returns the term of messages that link to the file. */
export const uploadTerm = (pathId: string): string => `/${pathId.split('/').slice(0, 3).join('/')}`;

const MENTION = /<span class="user-mention" data-user-id="(\d+)">/g;

/** Returns the distinct users with a non-silent personal mention in rendered content. */
export function mentionedIn(renderedContent: string): readonly UserId[] {
  // Fast path: nearly all messages contain no mentions, and a regular expression is much slower.
  if (!renderedContent.includes('data-user-id')) return [];
  return [...new Set([...renderedContent.matchAll(MENTION)].map(([, id]) => Number(id) as UserId))];
}

export const searchedText = (
  words: SearchWords,
  message: Pick<Message, 'topic' | 'content' | 'renderedContent'>,
  wanted?: readonly SearchedTerm[],
): SearchedText => ({
  terms: termsOfMessage(words, message, wanted),
  mentionedUserIds: mentionedIn(message.renderedContent),
  content: message.content,
  topic: message.topic,
});

export const isFoundBy = ({ terms, content, topic }: SearchedText, query: SearchQuery): boolean =>
  containsWords(terms, query.words) && holdsPhrases(content, topic, query.phrases);

/** True if a text with these terms contains all words. */
export const containsWords = (terms: ReadonlySet<string>, words: readonly SearchedWord[]): boolean =>
  words.flat().every((alternatives) => alternatives.some((term) => contains(terms, term)));

function contains(terms: ReadonlySet<string>, searched: SearchedTerm): boolean {
  if (typeof searched === 'string') return terms.has(searched);
  for (const term of terms) if (term.startsWith(searched.beginning)) return true;
  return false;
}

/** Expects phrases of `parseSearch`. */
export function holdsPhrases(content: string, topic: string, phrases: readonly string[]): boolean {
  if (phrases.length === 0) return true;
  const [foldedContent, foldedTopic] = [foldPhrase(content), foldPhrase(topic)];
  return phrases.every((phrase) => foldedContent.includes(phrase) || foldedTopic.includes(phrase));
}

/** Message with highlighted search matches, if there is a search that matches it. */
export interface Highlighted {
  /** HTML. */
  readonly content: string;
  /** HTML; empty for the empty topic and for direct messages. */
  readonly topic: string;
}

export type Highlight = (message: Pick<Message, 'renderedContent' | 'topic'>) => Highlighted;

/** Highlights nothing without a search. */
export function highlighting(
  texts: SearchTexts,
  { search, fileLinks }: { readonly search: string | null; readonly fileLinks: readonly string[] },
): Highlight {
  const operands = search === null ? [] : [search];
  return ({ renderedContent, topic }) => ({
    content: texts.highlightContent(renderedContent, operands, fileLinks),
    topic: texts.highlightTopic(topic, operands),
  });
}

const PLAIN_WORD = /[\p{L}\p{N}]+/gu;
const plainTerms = (text: string) => [...new Set(foldCase(text).match(PLAIN_WORD) ?? [])];

function markPlainly(html: string, operands: readonly string[]): string {
  const terms = new Set(operands.flatMap(plainTerms));
  return html.replace(/<[^>]*>|[\p{L}\p{N}]+/gu, (piece) =>
    terms.has(foldCase(piece)) ? `<span class="highlight">${piece}</span>` : piece,
  );
}

/** Matches unstemmed words. For tests, and for storages without a better implementation. */
export const PLAIN_TEXTS: SearchTexts = {
  searchableText: (html) => html.replace(/<[^>]*>/g, ' '),
  searchTerms: plainTerms,
  searchedWords: (text) => plainTerms(text).map((term) => [[term]]),
  typedWords: () => [],
  occurrences: (query) => (text) =>
    plainTerms(query).map((term) => {
      const positions = [...foldCase(text).matchAll(PLAIN_WORD)].filter(([word]) => word === term);
      return { asTyped: positions.length, positions: positions.map(({ index }) => index) };
    }),
  highlightContent: markPlainly,
  highlightTopic: markPlainly,
  inLanguages: () => PLAIN_TEXTS,
};

/**
 * Search index. Message writes update it in the same unit of work. This port indexes messages older than the index and
 * rebuilds it. Every implementation passes search-index.contract.ts.
 */
export interface SearchIndex {
  /** Clears the index, so that all messages are pending. */
  reset(): Promise<void>;
  /** Makes all messages of the realm pending, without clearing their terms. */
  indexAgain(realmId: RealmId): Promise<void>;
  /** Indexes at most `limit` pending messages, newest first, realm by realm. Returns false if none are left. */
  indexSome(limit: number): Promise<boolean>;
}

export interface SearchIndexReads {
  /**
   * Returns the id above which all messages have their present terms; 0 if all messages do.
   * @param realmId null for the messages of all realms
   */
  unindexedUpTo(realmId: RealmId | null): Promise<number>;
}

declare module '../kernel/feature-types.js' {
  interface RepositoryMap {
    searchIndex: [reads: SearchIndexReads, repository: SearchIndexReads & SearchIndex];
  }
}

/** True for a search that may miss older messages, because they are being indexed. */
export const isSearchIncomplete = async (
  { searchIndex }: Pick<Repositories, 'searchIndex'>,
  realmId: RealmId,
  search: string | null,
): Promise<boolean> => search !== null && (await searchIndex.unindexedUpTo(realmId)) > 0;

/** Batch size, chosen so that a unit of work takes only a few milliseconds even for long messages. */
const BATCH = 50;

/**
 * Indexes pending messages: those older than the index, all after a reset or an upgrade that changed terms, and those of
 * an organization that changed its languages. Messages keep their former terms until then.
 */
export class IndexMessages {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** Indexes a batch of pending messages. Returns false if none are left. */
  async execute(): Promise<boolean> {
    if ((await this.uow.readAcross(({ searchIndex }) => searchIndex.unindexedUpTo(null))) === 0) return false;
    return this.uow.writeAcross(({ searchIndex }) => searchIndex.indexSome(BATCH));
  }

  /** Clears the index and queues all files to be read again. Search results return as messages are indexed, newest first. */
  reset(): Promise<void> {
    return this.uow.writeAcross(async ({ searchIndex, fileTexts }) => {
      await searchIndex.reset();
      await fileTexts.readAgain(null);
    });
  }
}
