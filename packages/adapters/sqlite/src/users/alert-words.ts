import { ALERT_WORD_TABLES, SqlAlertWordRepository } from '@parley/storage';
import { asStatements } from '../engine/connection.js';
import type { SqliteFeature } from '../engine/feature.js';

export const ALERT_WORD_FEATURE = {
  ...ALERT_WORD_TABLES,
  repositories: () => (connection) => ({ alertWords: new SqlAlertWordRepository(asStatements(connection)) }),
} satisfies SqliteFeature;
