export type { NewSnippet, Snippet, SnippetRepository } from './snippet.js';

import './snippet-errors.js';

export type { SnippetEventTypes } from './snippet-events.js';
export { loadSnippets } from './snippet-loaders.js';
export * from './use-cases/change-snippet.js';
export * from './use-cases/create-snippet.js';
export * from './use-cases/delete-snippet.js';
export * from './use-cases/list-snippets.js';
