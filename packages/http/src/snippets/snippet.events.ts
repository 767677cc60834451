import type { SnippetEventTypes } from '@parley/domain/snippets';
import { type Presenters, toAll } from '../events/event-presenter.js';
import { presentSnippet } from './snippet.presenters.js';

export const SNIPPET_EVENTS = {
  'snippet.added': toAll('saved_snippets', ({ snippet }) => ({ op: 'add', saved_snippet: presentSnippet(snippet) })),
  'snippet.changed': toAll('saved_snippets', ({ snippet }) => ({
    op: 'update',
    saved_snippet: presentSnippet(snippet),
  })),
  'snippet.removed': toAll('saved_snippets', ({ id }) => ({ op: 'remove', saved_snippet_id: id })),
} satisfies Presenters<keyof SnippetEventTypes>;
