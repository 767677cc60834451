import { DomainError } from '@parley/domain/kernel';

/** Rendered HTML beyond this is refused: a hundred times the largest message. */
export const MAX_HTML_LENGTH = 1_000_000;

/** Steps of work beyond this are refused, in each of the two steps of rendering: some ten nanoseconds each. */
export const MAX_WORK = 4_000_000;

/** Quotes nested deeper than this stay text; other nesting deeper than this is refused. */
export const MAX_QUOTE_DEPTH = 200;
export const MAX_NESTING_DEPTH = 400;

export const unrenderable = () => new DomainError('UNRENDERABLE_CONTENT', 'Unable to render message');
