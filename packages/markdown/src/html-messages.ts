import type { RenderedMessages } from '@parley/domain/markdown';
import { diffHtml } from './rendered/diff-html.js';
import { plainText, searchableText, showThumbnails } from './rendered/rendered-html.js';
import { highlightContent, highlightTopic } from './search/highlight-search.js';
import { searchedWords, searchTerms } from './search/search-terms.js';

/** Reads and highlights rendered HTML. */
export const htmlMessages: RenderedMessages = {
  highlightContent,
  highlightTopic,
  diff: diffHtml,
  plainText,
  searchableText,
  searchTerms,
  searchedWords,
  showThumbnails,
};
