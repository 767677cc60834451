import { SqlRecipientRepository } from '@parley/storage';
import { asStatements } from '../engine/connection.js';
import type { SqliteFeature } from '../engine/feature.js';
import { newSpans } from './read-sets.js';

export const RECIPIENT_FEATURE = {
  repositories: () => (connection) => ({
    recipients: new SqlRecipientRepository(asStatements(connection), newSpans(connection)),
  }),
} satisfies SqliteFeature;
