import type { MessageId } from '@parley/domain/kernel';
import type { SearchIndex, SearchIndexReads } from '@parley/domain/messages';
import type { Connection } from '../engine/connection.js';
import type { PostgresFeature } from '../engine/feature.js';
import { INDEXED_TEXT, type IndexedText, type SearchTerms } from './conditions.js';

/** Rebuilds the search index; otherwise code that changes messages maintains it. */
export class PostgresSearchIndex implements SearchIndexReads, SearchIndex {
  private readonly backlog;
  private readonly setBacklog;
  private readonly clear;
  private readonly pending;

  constructor(
    connection: Connection,
    private readonly terms: SearchTerms,
  ) {
    this.backlog = connection.values<number>('SELECT unindexed_up_to FROM search_backlog WHERE id = 1');
    this.setBacklog = connection.command('UPDATE search_backlog SET unindexed_up_to = $1 WHERE id = 1');
    this.clear = [
      connection.command('DELETE FROM message_search'),
      connection.command(
        'UPDATE search_backlog SET unindexed_up_to = (SELECT coalesce(max(id), 0) FROM message) WHERE id = 1',
      ),
    ];
    this.pending = connection.tuples<IndexedText>(
      `SELECT ${INDEXED_TEXT} FROM message m WHERE m.id <= $1 ORDER BY m.id DESC LIMIT $2`,
    );
  }

  async unindexedUpTo(): Promise<number> {
    return (await this.backlog.get()) ?? 0;
  }

  async reset(): Promise<void> {
    for (const command of this.clear) command.defer();
  }

  async indexSome(limit: number): Promise<boolean> {
    const last = await this.unindexedUpTo();
    const texts = last === 0 ? [] : await this.pending.all(last, limit);
    this.terms.put(texts);
    const left = texts.length === 0 ? 0 : (texts.at(-1)![0] as MessageId) - 1;
    if (left !== last) this.setBacklog.defer(left);
    return left > 0;
  }
}

export const SEARCH_FEATURE = {
  repositories:
    () =>
    (connection, { searchTerms }) => ({
      searchIndex: new PostgresSearchIndex(connection, searchTerms),
    }),
} satisfies PostgresFeature;
