import { PERSON_EXPORT_ROWS, type PersonExport, type PersonExportRepository } from '@parley/domain/exports';
import type { BlobKey } from '@parley/domain/files';
import { SqlRows, Table } from '../engine/declared-rows.js';
import type { StorageFeature } from '../engine/feature.js';
import { EXPIRES } from '../engine/personal-data.js';

class SqlPersonExportRepository extends SqlRows<PersonExport> implements PersonExportRepository {
  private readonly blobsAmong = this.connection.values<BlobKey>(
    `SELECT blob FROM person_export WHERE blob ${this.connection.dialect.inSet}`,
  );

  async filterBlobs(keys: readonly BlobKey[]): Promise<ReadonlySet<BlobKey>> {
    return new Set(await this.blobsAmong.all(this.connection.dialect.set(keys)));
  }
}

export const PERSON_EXPORT_FEATURE = {
  ...new Table<PersonExport>(
    PERSON_EXPORT_ROWS,
    {
      columns: { personId: 'int', requestedAt: 'int', blob: 'text?', size: 'int', failedAt: 'int?' },
      indices: [
        'INDEX person_export_by_requester ON person_export (realm_id, user_id, id)',
        'INDEX person_export_by_person ON person_export (person_id)',
        'INDEX person_export_by_blob ON person_export (blob) WHERE blob IS NOT NULL',
      ],
    },
    SqlPersonExportRepository,
  ).feature(44, 'personExports', {
    data: 'Copies that people requested of their data',
    fate: EXPIRES,
    erase: 'user_id = {id} OR person_id = {id}',
    other: ['blob'],
  }),
  notExported: { person_export: 'Archives stay on the original server.' },
} satisfies StorageFeature;
