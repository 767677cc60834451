import { declareErrors } from '../kernel/errors.js';

export const SNIPPET_ERRORS = declareErrors({
  UNKNOWN_SNIPPET: 'unknown',
  TOO_MANY_SNIPPETS: 'conflict',
});

type SnippetErrors = typeof SNIPPET_ERRORS;

declare module '../kernel/errors.js' {
  interface ErrorCodes extends SnippetErrors {}
}
