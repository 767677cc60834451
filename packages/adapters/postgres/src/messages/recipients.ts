import { SqlRecipientRepository } from '@parley/storage';
import type { PostgresFeature } from '../engine/feature.js';
import { newSpans } from './read-sets.js';

export const RECIPIENT_FEATURE = {
  repositories: () => (connection) => ({
    recipients: new SqlRecipientRepository(connection, newSpans(connection)),
  }),
} satisfies PostgresFeature;
