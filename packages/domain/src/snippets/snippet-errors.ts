import { declareErrors } from '../shared/errors.js';

export const SNIPPET_ERRORS = declareErrors({
  UNKNOWN_SNIPPET: 'unknown',
  TOO_MANY_SNIPPETS: 'conflict',
});

type SnippetErrors = typeof SNIPPET_ERRORS;

declare module '../shared/errors.js' {
  interface ErrorCodes extends SnippetErrors {}
}
