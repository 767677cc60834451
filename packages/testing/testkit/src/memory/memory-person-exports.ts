import type { PersonExport, PersonExportRepository } from '@parley/domain/exports';
import type { BlobKey } from '@parley/domain/files';
import { MemoryRows } from './memory-rows.js';

export class MemoryPersonExports extends MemoryRows<PersonExport> implements PersonExportRepository {
  async filterBlobs(keys: readonly BlobKey[]): Promise<ReadonlySet<BlobKey>> {
    return new Set(this.all().flatMap(({ blob }) => (blob !== null && keys.includes(blob) ? [blob] : [])));
  }
}
