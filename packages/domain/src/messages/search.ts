import type { UserId } from '../kernel/ids.js';
import { foldCase } from '../kernel/text.js';
import type { UnitOfWork } from '../kernel/unit-of-work.js';
import type { SearchTexts, SearchWords } from '../markdown/markdown.js';
import type { Message } from './message.js';

/** Words that say nothing about a text. Clients are given this list (events §5.2). */
export const STOP_WORDS: readonly string[] = (
  'i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers herself it ' +
  'its itself they them their theirs themselves what which who whom this that these those am is are was were be been ' +
  'being have has had having do does did doing a an the and but if or because as until while of at by for with about ' +
  'against between into through during before after above below to from up down in out on off over under again further ' +
  'then once here there when where why how all any both each few more most other some such no nor not only own same so ' +
  'than too very s t can will just don should now'
).split(' ');

/** Of the list, but searched for all the same (messages §7.6). */
const SEARCHED = new Set(['after', 'being', 'does', 'has', 'his', 'under']);

const PASSED_OVER = new Set([...STOP_WORDS.filter((word) => !SEARCHED.has(word)), ...'bcdefghjklmnopqruvwxyz']);

/** Whether searches pass over a word, which is in lower case: single letters too (messages §7.6). */
export const isPassedOver = (word: string): boolean => PASSED_OVER.has(word);

/** What somebody searches for (messages §7.6). */
export interface SearchQuery {
  /** All of them are in the message's text or topic; never none. */
  readonly terms: readonly string[];
  /** As they were typed, but for letter case: each is part of the Markdown or of the topic. */
  readonly phrases: readonly string[];
}

/** What searches and `mentions` ask of a message. */
export interface SearchedText {
  readonly terms: ReadonlySet<string>;
  readonly mentionedUserIds: readonly UserId[];
  readonly content: string;
  readonly topic: string;
}

/** In one narrow, excluded words and mentions included: each is looked up by itself. */
export const MAX_SEARCH_TERMS = 50;

/** Null: there is no word in it that anything is found by. */
export function parseSearch(words: SearchWords, text: string): SearchQuery | null {
  const terms = words.searchTerms(text);
  if (terms.length === 0) return null;
  const phrases = [...text.matchAll(/"([^"]+)"/g)].map(([, phrase]) => foldCase(phrase!));
  return { terms, phrases: [...new Set(phrases)].filter((phrase) => phrase.trim() !== '') };
}

/** What a message is found by: every word of its text and of its topic, once. */
export function termsOfMessage(
  words: SearchWords,
  { topic, renderedContent }: Pick<Message, 'topic' | 'renderedContent'>,
): ReadonlySet<string> {
  return new Set([...words.searchTerms(words.searchableText(renderedContent)), ...words.searchTerms(topic)]);
}

const MENTION = /<span class="user-mention" data-user-id="(\d+)">/g;

/** Who is mentioned by name and aloud in what rendering made; each once. */
export function mentionedIn(renderedContent: string): readonly UserId[] {
  // Nearly all messages mention nobody, and an expression takes ten times as long to say so.
  if (!renderedContent.includes('data-user-id')) return [];
  return [...new Set([...renderedContent.matchAll(MENTION)].map(([, id]) => Number(id) as UserId))];
}

export const searchedText = (
  words: SearchWords,
  message: Pick<Message, 'topic' | 'content' | 'renderedContent'>,
): SearchedText => ({
  terms: termsOfMessage(words, message),
  mentionedUserIds: mentionedIn(message.renderedContent),
  content: message.content,
  topic: message.topic,
});

export const isFoundBy = ({ terms, content, topic }: SearchedText, query: SearchQuery): boolean =>
  query.terms.every((term) => terms.has(term)) && holdsPhrases(content, topic, query.phrases);

/** Phrases in folded case. */
export function holdsPhrases(content: string, topic: string, phrases: readonly string[]): boolean {
  if (phrases.length === 0) return true;
  const [foldedContent, foldedTopic] = [foldCase(content), foldCase(topic)];
  return phrases.every((phrase) => foldedContent.includes(phrase) || foldedTopic.includes(phrase));
}

/** A message with what was searched for marked; with nothing marked where nothing was, or where it is elsewhere. */
export interface Highlighted {
  /** HTML. */
  readonly content: string;
  /** HTML; empty for the empty topic and for direct messages. */
  readonly topic: string;
}

export type Highlight = (message: Pick<Message, 'renderedContent' | 'topic'>) => Highlighted;

/** `search`: null, nothing is marked. */
export function highlighting(texts: SearchTexts, search: string | null): Highlight {
  const operands = search === null ? [] : [search];
  return ({ renderedContent, topic }) => ({
    content: texts.highlightContent(renderedContent, operands),
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

/** Words as they are written, without stems. For tests, and for storages that nobody has given better ones. */
export const PLAIN_TEXTS: SearchTexts = {
  searchableText: (html) => html.replace(/<[^>]*>/g, ' '),
  searchTerms: plainTerms,
  highlightContent: markPlainly,
  highlightTopic: markPlainly,
};

/**
 * The index that searches read. Whatever is written of messages keeps it, in the same unit; this is for what was written
 * before there was an index, and for making it anew. Every implementation passes search-index.contract.ts.
 */
export interface SearchIndex {
  /** Forgets everything: from now on all messages wait to be indexed. */
  reset(): Promise<void>;
  /** Indexes at most so many of the messages that wait, newest first. False: none waits any more. */
  indexSome(limit: number): Promise<boolean>;
}

export interface SearchIndexReads {
  /** Messages with a higher id are all indexed; 0: every message is. */
  unindexedUpTo(): Promise<number>;
}

declare module '../kernel/unit-of-work.js' {
  interface RepositoryMap {
    searchIndex: [reads: SearchIndexReads, repository: SearchIndexReads & SearchIndex];
  }
}

/** So many that a unit of them is over in some milliseconds, with long messages too. */
const BATCH = 50;

/** Puts messages into the index of searches that are not in it: those that were there before it, or all. */
export class IndexMessages {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** Some of those that wait. False: none waits any more. */
  async execute(): Promise<boolean> {
    if ((await this.uow.read(({ searchIndex }) => searchIndex.unindexedUpTo())) === 0) return false;
    return this.uow.write(({ searchIndex }) => searchIndex.indexSome(BATCH));
  }

  /** From now on all wait; searches find again what is indexed, the newest messages first. */
  reset(): Promise<void> {
    return this.uow.write(({ searchIndex }) => searchIndex.reset());
  }
}
