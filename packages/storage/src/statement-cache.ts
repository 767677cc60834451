import { LRUCache } from 'lru-cache';

/** A few dozen are in use; unusual narrows make more. */
const MAX_STATEMENTS = 200;

/** LRU cache of statements whose text depends on the request; `memo` prepares the missing ones. */
export const newStatementCache = <Statement extends {}>(
  prepare: (text: string) => Statement,
): LRUCache<string, Statement> => new LRUCache({ max: MAX_STATEMENTS, memoMethod: prepare });
