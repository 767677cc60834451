import type { BlobKey, Picture, PictureName, PictureRepository } from '@parley/domain/files';
import type { RealmId } from '@parley/domain/kernel';
import { keyOf, type MemoryUnit } from './tables.js';

declare module './tables.js' {
  interface Tables {
    /** Pictures by realm and name. */
    readonly pictures: Map<string, Picture>;
  }
}

export class MemoryPictures implements PictureRepository {
  constructor(private readonly unit: MemoryUnit) {}

  async find(realmId: RealmId, name: PictureName): Promise<Picture | null> {
    return this.unit.read('pictures').get(keyOf(realmId, name)) ?? null;
  }

  async usedBytes(realmId: RealmId): Promise<number> {
    const own = [...this.unit.read('pictures')].filter(([key]) => key.startsWith(keyOf(realmId, '')));
    return own.reduce((sum, [, { size }]) => sum + size, 0);
  }

  async filterBlobs(keys: readonly BlobKey[]): Promise<ReadonlySet<BlobKey>> {
    const known = new Set([...this.unit.read('pictures').values()].map(({ blob }) => blob));
    return new Set(keys.filter((key) => known.has(key)));
  }

  async put(realmId: RealmId, picture: Picture): Promise<BlobKey | null> {
    const before = await this.find(realmId, picture.name);
    this.unit.change('pictures').set(keyOf(realmId, picture.name), picture);
    return before?.blob ?? null;
  }

  async remove(realmId: RealmId, name: PictureName): Promise<BlobKey | null> {
    const before = await this.find(realmId, name);
    this.unit.change('pictures').delete(keyOf(realmId, name));
    return before?.blob ?? null;
  }
}
