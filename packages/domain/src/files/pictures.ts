import { DomainError, declareErrors, orThrow } from '../kernel/errors.js';
import type { RealmId } from '../kernel/ids.js';
import type { Randomness } from '../kernel/ports.js';
import type { Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import type { WorkOwner } from '../kernel/work-queue.js';
import type { RealmImageName } from '../realms/realm.js';
import { type BlobKey, type BlobStore, inOneChunk, removeBlobs } from './blobs.js';
import type { FileUser } from './files.use-cases.js';
import type { ImageProcessor, ImageTarget, ProcessedImage } from './images.js';

export const PICTURE_ERRORS = declareErrors({
  /** The avatar, emoji, icon or logo does not exist. */
  UNKNOWN_PICTURE: 'unknown',
});

type PictureErrors = typeof PICTURE_ERRORS;

/** Purpose of a picture; unique within a realm. */
export type PictureName =
  | `emoji/${number}`
  | `emoji/${number}/still`
  | `avatar/${string}`
  | `avatar/${string}/medium`
  | RealmImageName
  | 'icon/large';

/** Picture made from an uploaded image. Public to anyone with its URL. */
export interface Picture {
  readonly name: PictureName;
  readonly blob: BlobKey;
  /** Size in bytes. */
  readonly size: number;
  readonly format: ImageTarget['format'];
}

export interface PictureReads {
  find(realmId: RealmId, name: PictureName): Promise<Picture | null>;
  /** Returns the total size of a realm's pictures. The cost depends on their number. */
  usedBytes(realmId: RealmId): Promise<number>;
  /** Returns the given keys that belong to pictures, of any realm. */
  filterBlobs(keys: readonly BlobKey[]): Promise<ReadonlySet<BlobKey>>;
}

/** Every implementation passes picture-repository.contract.ts. */
export interface PictureRepository extends PictureReads {
  /**
   * Adds or replaces the picture with this name. Returns the replaced blob, now unreferenced; null if there was none.
   */
  put(realmId: RealmId, picture: Picture): Promise<BlobKey | null>;
  /** Returns the removed blob, now unreferenced; null if there was none. */
  remove(realmId: RealmId, name: PictureName): Promise<BlobKey | null>;
}

declare module '../kernel/feature-types.js' {
  interface ErrorCodes extends PictureErrors {}
  interface RepositoryMap {
    pictures: [reads: PictureReads, repository: PictureRepository];
  }
}

/** Stored picture that has no name yet. */
export type MadePicture = Omit<Picture, 'name'> & Pick<ProcessedImage, 'frames'>;

export interface PictureTarget extends ImageTarget {
  /** True to resize the previous, larger picture, so that the image is decoded only once. */
  readonly isOfPrevious?: true;
}

/** Makes pictures from an uploaded image. Slow, so it runs before the unit of work that names them. */
export class PictureMaker {
  static readonly inject = ['blobStore', 'imageProcessor', 'randomness'] as const;
  constructor(
    private readonly blobs: BlobStore,
    private readonly images: ImageProcessor,
    private readonly randomness: Randomness,
  ) {}

  /**
   * Makes one picture per target and passes them to `work`. Removes them again if `work` is refused. `owner` determines
   * the processing queue.
   * @throws DomainError UNREADABLE_IMAGE, IMAGE_TOO_LARGE, CORRUPT_ANIMATION, UNKNOWN_ANIMATION_FORMAT, SERVER_BUSY
   */
  make<T>(
    owner: WorkOwner,
    image: Uint8Array,
    targets: readonly PictureTarget[],
    work: (pictures: readonly MadePicture[]) => Promise<T>,
  ): Promise<T> {
    return this.makeAhead(owner, image, targets, (pictures) => work(orThrow(pictures)));
  }

  /** Works like `make`, but passes an image error to `work`, which throws it at its place in the validation order. */
  async makeAhead<T>(
    owner: WorkOwner,
    image: Uint8Array,
    targets: readonly PictureTarget[],
    work: (pictures: readonly MadePicture[] | DomainError) => Promise<T>,
  ): Promise<T> {
    const made: MadePicture[] = [];
    let hasBegun = false;
    try {
      const error = await this.makeAll(owner, image, targets, made);
      hasBegun = true;
      return await work(error ?? made);
    } catch (error) {
      // A commit with an unknown result may have named the pictures. The sweep removes unnamed ones.
      const isRefused = error instanceof DomainError && error.kind !== 'unavailable';
      if (!hasBegun || isRefused) await this.discard(made.map(({ blob }) => blob));
      throw error;
    }
  }

  /** Removes unreferenced blobs. */
  discard(keys: readonly (BlobKey | null)[]): Promise<void> {
    return removeBlobs(
      this.blobs,
      keys.filter((key) => key !== null),
    );
  }

  /** Returns null on success. */
  private async makeAll(
    owner: WorkOwner,
    image: Uint8Array,
    targets: readonly PictureTarget[],
    made: MadePicture[],
  ): Promise<DomainError | null> {
    try {
      let previous = image;
      for (const { isOfPrevious, ...target } of targets) {
        const processed = await this.images.resize(isOfPrevious ? previous : image, target, owner);
        previous = processed.bytes;
        made.push(await this.store(processed));
      }
      return null;
    } catch (error) {
      if (error instanceof DomainError) return error;
      throw error;
    }
  }

  private async store({ bytes, format, frames }: ProcessedImage): Promise<MadePicture> {
    const blob = this.randomness.uuid().replaceAll('-', '') as BlobKey;
    const size = await this.blobs.put(blob, inOneChunk(bytes));
    return { blob, size, format, frames };
  }
}

/** Returns the blob of the replaced picture, now unreferenced; null if there was none. */
export const namePicture = (
  tx: Transaction,
  realmId: RealmId,
  name: PictureName,
  { blob, size, format }: MadePicture,
): Promise<BlobKey | null> => tx.pictures.put(realmId, { name, blob, size, format });

export interface ReadablePicture extends Picture {
  read(): AsyncIterable<Uint8Array>;
}

/** Returns a picture to any caller, since browsers load it without credentials. */
export class ReadPicture {
  static readonly inject = ['unitOfWork', 'blobStore'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly blobs: BlobStore,
  ) {}

  /** `realmId`: null if no realm has the requested address. @throws DomainError UNKNOWN_PICTURE */
  async execute(
    { realmId }: { readonly realmId: RealmId | null },
    { name }: { readonly name: PictureName },
  ): Promise<ReadablePicture> {
    const picture =
      realmId === null ? null : await this.uow.read(realmId, ({ pictures }) => pictures.find(realmId, name));
    // The content may be missing if the picture was replaced concurrently.
    if (!picture || (await this.blobs.sizeOf(picture.blob)) === null) {
      throw new DomainError('UNKNOWN_PICTURE', 'There is no such picture.');
    }
    return { ...picture, read: () => this.blobs.read(picture.blob, { start: 0, end: picture.size }) };
  }
}

/** Protects picture blobs from garbage collection. */
export const PICTURE_FEATURE: { readonly fileUser: FileUser } = {
  fileUser: { filterBlobs: ({ pictures }, keys) => pictures.filterBlobs(keys) },
};
