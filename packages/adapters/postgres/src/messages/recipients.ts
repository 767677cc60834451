import { SqlRecipientRepository } from '@parley/storage';
import type { PostgresFeature } from '../engine/feature.js';
import { Spans } from './read-sets.js';

export const RECIPIENT_FEATURE = {
  repositories: () => (connection) => ({
    recipients: new SqlRecipientRepository(connection, new Spans(connection)),
  }),
} satisfies PostgresFeature;
