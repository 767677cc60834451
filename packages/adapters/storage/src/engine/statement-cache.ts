import { LRUCache } from 'lru-cache';

/** A few dozen are in use; unusual narrows create more. */
const MAX_STATEMENTS = 200;

/** LRU cache of statements with request-dependent text; `memo` prepares missing ones. */
export const newStatementCache = <Statement extends {}>(
  prepare: (text: string) => Statement,
): LRUCache<string, Statement> => new LRUCache({ max: MAX_STATEMENTS, memoMethod: prepare });
