import type { MessageId } from '@parley/domain/kernel';
import { personsOf, SqlPersonalData } from '@parley/storage';
import type { PostgresFeature } from '../engine/feature.js';
import { INDEXED_TEXT, type IndexedText } from '../messages/conditions.js';
import { KEY_COLUMNS } from '../realms/realm-data.js';

export const PERSONAL_DATA_FEATURE = {
  repositories: ({ features }) => {
    const persons = personsOf(features);
    return (connection, { searchTerms }) => {
      const raiseVersions = connection.tuples<IndexedText>(
        `UPDATE message m SET version = version + 1 WHERE id = ANY($1::bigint[]) RETURNING ${INDEXED_TEXT}`,
      );
      const renewMessages = async (ids: readonly MessageId[]) => searchTerms.put(await raiseVersions.all(ids));
      const dialect = { keyColumns: KEY_COLUMNS, position: 'strpos', renewMessages };
      return { personalData: new SqlPersonalData(connection, dialect, persons) };
    };
  },
} satisfies PostgresFeature;
