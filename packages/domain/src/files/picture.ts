import type { RealmId } from '../kernel/ids.js';
import type { RealmImageName } from '../realms/realm-images.js';
import type { BlobKey } from './blob-store.js';
import type { ImageTarget } from './image-processor.js';

/** What a picture shows. A realm has at most one picture of each name. */
export type PictureName =
  | `emoji/${number}`
  | `emoji/${number}/still`
  | `avatar/${string}`
  | `avatar/${string}/medium`
  | RealmImageName;

/** What the server made of an image that somebody uploaded. Anybody who has its address may see it. */
export interface Picture {
  readonly name: PictureName;
  readonly blob: BlobKey;
  /** In bytes. */
  readonly size: number;
  readonly format: ImageTarget['format'];
}

export interface PictureReads {
  find(realmId: RealmId, name: PictureName): Promise<Picture | null>;
  /** Of all pictures of a realm. Costs what pictures there are. */
  usedBytes(realmId: RealmId): Promise<number>;
  /** Which of them are pictures, of whatever realm. */
  filterBlobs(keys: readonly BlobKey[]): Promise<ReadonlySet<BlobKey>>;
}

/** Every implementation passes picture-repository.contract.ts. */
export interface PictureRepository extends PictureReads {
  /** In place of the one that had this name. Answers its blob, which nothing names any more; null: there was none. */
  put(realmId: RealmId, picture: Picture): Promise<BlobKey | null>;
  /** Answers its blob, which nothing names any more; null: there was none. */
  remove(realmId: RealmId, name: PictureName): Promise<BlobKey | null>;
}

declare module '../kernel/unit-of-work.js' {
  interface RepositoryMap {
    pictures: [reads: PictureReads, repository: PictureRepository];
  }
}
