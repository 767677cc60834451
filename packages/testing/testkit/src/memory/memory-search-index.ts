import type { SearchIndex, SearchIndexReads } from '@parley/domain/messages';

/** Scans all messages instead of using an index, so it never needs indexing. */
export class MemorySearchIndex implements SearchIndexReads, SearchIndex {
  async reset(): Promise<void> {}

  async indexAgain(): Promise<void> {}

  async indexSome(): Promise<boolean> {
    return false;
  }

  async unindexedUpTo(): Promise<number> {
    return 0;
  }
}
