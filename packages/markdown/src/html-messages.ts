import type { RenderedMessages } from '@parley/domain/markdown';
import { diffHtml } from './rendered/diff-html.js';
import { previewableLinks, showPreviews } from './rendered/page-previews.js';
import { plainText, searchableText, showThumbnails } from './rendered/rendered-html.js';
import { highlightContent, highlightTopic, occurrences } from './search/highlight-search.js';
import { searchedWords, searchTerms, typedWords } from './search/search-terms.js';

/** Reads and highlights rendered HTML. */
export const htmlMessages: RenderedMessages = {
  highlightContent,
  highlightTopic,
  diff: diffHtml,
  plainText,
  searchableText,
  searchTerms,
  searchedWords,
  typedWords,
  occurrences,
  showThumbnails,
  previewableLinks,
  showPreviews,
};
