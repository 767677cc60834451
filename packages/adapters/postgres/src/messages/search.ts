import type { MessageId } from '@parley/domain/kernel';
import { SqlSearchIndex } from '@parley/storage';
import type { Connection } from '../engine/connection.js';
import type { PostgresFeature } from '../engine/feature.js';
import { INDEXED_TEXT, type IndexedText, type SearchTerms } from './conditions.js';

export class PostgresSearchIndex extends SqlSearchIndex {
  private readonly removeAll;
  private readonly texts;

  constructor(
    connection: Connection,
    private readonly terms: SearchTerms,
  ) {
    super(connection);
    this.removeAll = connection.command('DELETE FROM message_search');
    this.texts = connection.tuples<IndexedText>(`SELECT ${INDEXED_TEXT} FROM message m WHERE m.id = ANY($1::bigint[])`);
  }

  protected clear(): void {
    this.removeAll.defer();
  }

  protected async put(ids: readonly MessageId[]): Promise<void> {
    this.terms.put(await this.texts.all(ids));
  }
}

export const SEARCH_FEATURE = {
  repositories:
    () =>
    (connection, { searchTerms }) => ({
      searchIndex: new PostgresSearchIndex(connection, searchTerms),
    }),
} satisfies PostgresFeature;
