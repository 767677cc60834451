import type { RenderedMessages } from '@parley/domain/markdown';
import { diffHtml } from './rendered/diff-html.js';
import { previewableLinks, showPreviews } from './rendered/page-previews.js';
import { plainText, searchableText, showThumbnails } from './rendered/rendered-html.js';
import { highlightContent, highlightTopic, occurrences } from './search/highlight-search.js';
import { searchedWords, searchTerms, typedWords } from './search/search-terms.js';
import { DETECTED_LANGUAGES, SearchLanguages } from './search/word-forms.js';

const messagesIn = (languages: SearchLanguages): RenderedMessages => ({
  highlightContent: (html, operands, fileLinks) => highlightContent(html, operands, languages, fileLinks),
  highlightTopic: (topic, operands) => highlightTopic(topic, operands, languages),
  diff: diffHtml,
  plainText,
  searchableText,
  searchTerms: (text, wanted) => searchTerms(text, languages, wanted),
  searchedWords,
  typedWords,
  occurrences: (query) => occurrences(query, languages),
  showThumbnails,
  previewableLinks,
  showPreviews,
  inLanguages: (codes) => (codes === '' ? htmlMessages : messagesIn(new SearchLanguages(codes))),
});

/** Reads and highlights rendered HTML. */
export const htmlMessages = messagesIn(DETECTED_LANGUAGES);
