import { EXPORT_ROWS, type ExportRepository, type RealmExport } from '@parley/domain/exports';
import type { BlobKey } from '@parley/domain/files';
import type { RealmId, UnixSeconds } from '@parley/domain/kernel';
import { type RowTable, SqlRows, Table } from '../engine/declared-rows.js';
import type { StorageFeature } from '../engine/feature.js';
import { PAST } from '../engine/personal-data.js';

interface StoredExport extends Omit<RealmExport, 'id' | 'realmId' | 'state'> {
  readonly status: RealmExport['state']['status'];
  /** Blob and size in bytes of a complete export; null otherwise. */
  readonly blob: BlobKey | null;
  readonly size: number | null;
  /** Time of failure or deletion; null otherwise. */
  readonly endedAt: UnixSeconds | null;
}

class SqlExportRepository extends SqlRows<RealmExport, StoredExport> implements ExportRepository {
  private readonly byPath = this.select('path_id = ? AND realm_id = ?');
  private readonly blobsAmong = this.connection.values<BlobKey>(
    `SELECT blob FROM realm_export WHERE blob ${this.connection.dialect.inSet}`,
  );

  async findByPath(realmId: RealmId, pathId: string): Promise<RealmExport | null> {
    const row = await this.byPath.get(pathId, realmId);
    return row ? this.toRow(row) : null;
  }

  async filterBlobs(keys: readonly BlobKey[]): Promise<ReadonlySet<BlobKey>> {
    return new Set(await this.blobsAmong.all(this.connection.dialect.set(keys)));
  }
}

const EXPORT_TABLE: RowTable = new Table<RealmExport, StoredExport>(
  EXPORT_ROWS,
  {
    columns: {
      actingUserId: 'int',
      type: 'text',
      requestedAt: 'int',
      pathId: ['text', { sql: 'UNIQUE' }],
      status: 'text',
      blob: 'text?',
      size: 'int?',
      endedAt: 'int?',
    },
    indices: [
      'INDEX realm_export_by_realm ON realm_export (realm_id, id)',
      'UNIQUE INDEX realm_export_by_blob ON realm_export (blob) WHERE blob IS NOT NULL',
    ],
    pack: ({ state, ...row }) => ({
      ...row,
      status: state.status,
      blob: state.status === 'complete' ? state.blob : null,
      size: state.status === 'complete' ? state.size : null,
      endedAt: 'at' in state ? state.at : null,
    }),
    unpack: ({ status, blob, size, endedAt, ...row }) => ({ ...row, state: stateOf(status, blob, size, endedAt) }),
  },
  SqlExportRepository,
);

function stateOf(
  status: StoredExport['status'],
  blob: BlobKey | null,
  size: number | null,
  endedAt: UnixSeconds | null,
): RealmExport['state'] {
  if (status === 'pending') return { status };
  return status === 'complete' ? { status, blob: blob!, size: size! } : { status, at: endedAt! };
}

const TABLES = `
${EXPORT_TABLE.sql}

-- Ranges of ids that an import gave to older messages; exclusive to that import.
CREATE TABLE imported_messages (
  realm_id {int} PRIMARY KEY REFERENCES realm (id),
  first_id {int} NOT NULL,
  last_id {int} NOT NULL
) {strict};
CREATE UNIQUE INDEX imported_messages_by_id ON imported_messages (first_id, last_id);
`;

const SEVERAL_RANGES = `
-- expand: an organization can have several imported ranges. Nodes of the previous release cannot import during the upgrade.

{CREATE TABLE imported_range (
  realm_id INTEGER NOT NULL REFERENCES realm (id),
  first_id INTEGER PRIMARY KEY,
  last_id INTEGER NOT NULL
) STRICT;
INSERT INTO imported_range (realm_id, first_id, last_id) SELECT realm_id, first_id, last_id FROM imported_messages;
DROP TABLE imported_messages;
ALTER TABLE imported_range RENAME TO imported_messages|
DROP INDEX imported_messages_by_id;
ALTER TABLE imported_messages DROP CONSTRAINT imported_messages_pkey;
ALTER TABLE imported_messages ADD PRIMARY KEY (first_id)};
CREATE INDEX imported_messages_of_realm ON imported_messages (realm_id, first_id);
`;

export const EXPORT_FEATURE = {
  schema: 'exports',
  steps: { 1: TABLES, 29: SEVERAL_RANGES },
  realmTables: ['imported_messages', 'realm_export'],
  persons: {
    imported_messages: {},
    realm_export: {
      data: 'Exports',
      fate: PAST,
      keep: {
        'Exports remain until they expire or an administrator deletes them.': ['acting_user_id', 'blob', 'path_id'],
      },
      other: ['type', 'status'],
    },
  },
  notExported: {
    imported_messages: 'Each import notes its ranges.',
    realm_export: 'Archives stay on the original server.',
  },
  rows: { exports: EXPORT_TABLE },
} satisfies StorageFeature;
