import type { BlobKey, UnfinishedUpload, UnfinishedUploadRepository } from '@parley/domain/files';
import type { RealmId, UnixSeconds, UserId } from '@parley/domain/kernel';
import type { MemoryUnit } from './tables.js';

declare module './tables.js' {
  interface Tables {
    /** Uploads by path. */
    readonly unfinishedUploads: Map<string, UnfinishedUpload>;
  }
}

export class MemoryUnfinishedUploads implements UnfinishedUploadRepository {
  constructor(private readonly unit: MemoryUnit) {}

  async find(realmId: RealmId, pathId: string): Promise<UnfinishedUpload | null> {
    const upload = this.unit.read('unfinishedUploads').get(pathId);
    return upload?.realmId === realmId ? upload : null;
  }

  async summarize(realmId: RealmId, ownerId: UserId) {
    const own = this.all().filter((upload) => upload.realmId === realmId && upload.ownerId === ownerId);
    return { count: own.length, bytes: own.reduce((sum, { size }) => sum + size, 0) };
  }

  async listExpired(before: UnixSeconds, limit: number): Promise<readonly UnfinishedUpload[]> {
    return this.all()
      .filter(({ expiresAt }) => expiresAt < before)
      .sort((a, b) => a.expiresAt - b.expiresAt || (a.pathId < b.pathId ? -1 : 1))
      .slice(0, limit);
  }

  async filterBlobs(keys: readonly BlobKey[]): Promise<ReadonlySet<BlobKey>> {
    const known = new Set(this.all().map(({ blob }) => blob));
    return new Set(keys.filter((key) => known.has(key)));
  }

  async add(upload: UnfinishedUpload): Promise<void> {
    this.unit.change('unfinishedUploads').set(upload.pathId, upload);
  }

  async remove(realmId: RealmId, pathId: string): Promise<void> {
    if (await this.find(realmId, pathId)) this.unit.change('unfinishedUploads').delete(pathId);
  }

  private all(): readonly UnfinishedUpload[] {
    return [...this.unit.read('unfinishedUploads').values()];
  }
}
