import type { SearchIndex, SearchIndexReads } from '@parley/domain/messages';

/** Messages in memory are looked through: there is no index, so that none is ever missing from it. */
export class MemorySearchIndex implements SearchIndexReads, SearchIndex {
  async reset(): Promise<void> {}

  async indexSome(): Promise<boolean> {
    return false;
  }

  async unindexedUpTo(): Promise<number> {
    return 0;
  }
}
