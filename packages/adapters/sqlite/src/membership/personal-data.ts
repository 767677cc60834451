import type { MessageId } from '@parley/domain/kernel';
import { jsonList, personsOf, SqlPersonalData } from '@parley/storage';
import { asStatements } from '../engine/connection.js';
import type { SqliteFeature } from '../engine/feature.js';
import { KEY_COLUMNS } from '../realms/realm-data.js';

export const PERSONAL_DATA_FEATURE = {
  repositories: ({ features }) => {
    const persons = personsOf(features);
    return (connection) => {
      // The triggers of the index renew the terms.
      const raiseVersions = connection.command(
        'UPDATE message SET version = version + 1 WHERE id IN (SELECT value FROM json_each(?))',
      );
      const renewMessages = (ids: readonly MessageId[]) => raiseVersions.run(jsonList(ids));
      const dialect = { keyColumns: KEY_COLUMNS, position: 'instr', renewMessages };
      return { personalData: new SqlPersonalData(asStatements(connection), dialect, persons) };
    };
  },
} satisfies SqliteFeature;
