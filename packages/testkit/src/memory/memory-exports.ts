import type { ExportRepository, RealmExport } from '@parley/domain/exports';
import type { BlobKey } from '@parley/domain/files';
import type { ExportId, RealmId } from '@parley/domain/kernel';
import type { MemoryUnit } from './tables.js';

declare module './tables.js' {
  interface Tables {
    readonly exports: Map<ExportId, RealmExport>;
  }
}

export class MemoryExports implements ExportRepository {
  constructor(private readonly unit: MemoryUnit) {}

  async find(realmId: RealmId, id: ExportId): Promise<RealmExport | null> {
    const found = this.unit.read('exports').get(id);
    return found?.realmId === realmId ? found : null;
  }

  async findByPath(realmId: RealmId, pathId: string): Promise<RealmExport | null> {
    return (await this.list(realmId)).find((each) => each.pathId === pathId) ?? null;
  }

  async list(realmId: RealmId): Promise<readonly RealmExport[]> {
    return [...this.unit.read('exports').values()].filter((each) => each.realmId === realmId);
  }

  async filterBlobs(keys: readonly BlobKey[]): Promise<ReadonlySet<BlobKey>> {
    const archives = [...this.unit.read('exports').values()].flatMap(({ state }) =>
      state.status === 'complete' ? [state.blob] : [],
    );
    return new Set(archives.filter((blob) => keys.includes(blob)));
  }

  async add(draft: Omit<RealmExport, 'id'>): Promise<RealmExport> {
    const added = { id: this.unit.nextNumber<ExportId>('export'), ...draft };
    this.unit.change('exports').set(added.id, added);
    return added;
  }

  async setState(realmId: RealmId, id: ExportId, state: RealmExport['state']): Promise<void> {
    const found = await this.find(realmId, id);
    if (found) this.unit.change('exports').set(id, { ...found, state });
  }

  async remove(realmId: RealmId, id: ExportId): Promise<void> {
    if (await this.find(realmId, id)) this.unit.change('exports').delete(id);
  }
}
