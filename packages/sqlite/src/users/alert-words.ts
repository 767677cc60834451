import { SqlAlertWordRepository } from '@parley/storage';
import { asStatements } from '../engine/connection.js';
import type { SqliteFeature } from '../engine/feature.js';

export const ALERT_WORD_FEATURE = {
  schema: 'alert-words',
  realmTables: ['alert_word'],
  repositories: () => (connection) => ({ alertWords: new SqlAlertWordRepository(asStatements(connection)) }),
} satisfies SqliteFeature;
