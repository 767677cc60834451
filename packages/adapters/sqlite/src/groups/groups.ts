import { GROUP_TABLES, newGroupCaches, SqlGroupRepository } from '@parley/storage';
import { asStatements } from '../engine/connection.js';
import type { SqliteFeature } from '../engine/feature.js';

declare module '../engine/feature.js' {
  interface SharedObjects {
    readonly groups: SqlGroupRepository;
  }
}

export const GROUP_FEATURE = {
  ...GROUP_TABLES,
  shared: ({ quarantine }) => {
    const caches = newGroupCaches();
    return (connection) => ({ groups: new SqlGroupRepository(asStatements(connection), caches, quarantine) });
  },
  repositories:
    () =>
    (_, { groups }) => ({ groups }),
} satisfies SqliteFeature;
