import type { UserId } from '../kernel/ids.js';
import { foldCase } from '../kernel/text.js';
import type { SearchTexts, SearchWords } from '../markdown/markdown.js';
import type { Message } from './message.js';

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
