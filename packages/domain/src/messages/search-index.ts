/**
 * The index that searches read. Whatever is written of messages keeps it, in the same unit; this is for what was written
 * before there was an index, and for making it anew. Every implementation passes search-index.contract.ts.
 */
export interface SearchIndex {
  /** Forgets everything: from now on all messages wait to be indexed. */
  reset(): Promise<void>;
  /** Indexes at most so many of the messages that wait, newest first. False: none waits any more. */
  indexSome(limit: number): Promise<boolean>;
}

export interface SearchIndexReads {
  /** Messages with a higher id are all indexed; 0: every message is. */
  unindexedUpTo(): Promise<number>;
}

declare module '../kernel/unit-of-work.js' {
  interface RepositoryMap {
    searchIndex: [reads: SearchIndexReads, repository: SearchIndexReads & SearchIndex];
  }
}
