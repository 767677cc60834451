import type { RenderedMessages } from '@parley/domain/markdown';
import { diffHtml } from './diff-html.js';
import { highlightContent, highlightTopic, searchTerms } from './highlight-search.js';
import { plainText, searchableText, showThumbnails } from './rendered-html.js';

/** Reads and highlights rendered HTML. */
export const htmlMessages: RenderedMessages = {
  highlightContent,
  highlightTopic,
  diff: diffHtml,
  plainText,
  searchableText,
  searchTerms,
  showThumbnails,
};
