import type { ExportRepository, RealmExport } from '@parley/domain/exports';
import type { BlobKey } from '@parley/domain/files';
import type { RealmId } from '@parley/domain/kernel';
import { MemoryRows } from './memory-rows.js';

export class MemoryExports extends MemoryRows<RealmExport> implements ExportRepository {
  async findByPath(realmId: RealmId, pathId: string): Promise<RealmExport | null> {
    return (await this.list(realmId)).find((each) => each.pathId === pathId) ?? null;
  }

  async filterBlobs(keys: readonly BlobKey[]): Promise<ReadonlySet<BlobKey>> {
    const blobs = this.all().flatMap(({ state }) => (state.status === 'complete' ? [state.blob] : []));
    return new Set(blobs.filter((blob) => keys.includes(blob)));
  }
}
