import { DomainError, declareErrors, orThrow } from '../kernel/errors.js';
import type { RealmId, UserId } from '../kernel/ids.js';
import type { Randomness } from '../kernel/ports.js';
import type { Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import type { RealmImageName } from '../realms/realm.js';
import type { BlobKey, BlobStore } from './blobs.js';
import type { FileUser } from './files.use-cases.js';
import type { ImageProcessor, ImageTarget, ProcessedImage } from './images.js';

export const PICTURE_ERRORS = declareErrors({
  UNKNOWN_PICTURE: 'unknown',
});

type PictureErrors = typeof PICTURE_ERRORS;

declare module '../kernel/errors.js' {
  interface ErrorCodes extends PictureErrors {}
}

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

/** A picture whose bytes are safe, and that shows nothing yet. */
export type MadePicture = Omit<Picture, 'name'> & Pick<ProcessedImage, 'frames'>;

export interface PictureTarget extends ImageTarget {
  /** Made of the picture before it, which is larger: an image is worth reading once. */
  readonly isOfPrevious?: true;
}

/** Makes pictures of what was uploaded. Slow, so it happens before the unit of work that names them. */
export class PictureMaker {
  static readonly inject = ['blobStore', 'imageProcessor', 'randomness'] as const;
  constructor(
    private readonly blobs: BlobStore,
    private readonly images: ImageProcessor,
    private readonly randomness: Randomness,
  ) {}

  /**
   * One for each target, for the work to name. `userId`: whose turn it is. Where it fails, they are gone again.
   * @throws DomainError UNREADABLE_IMAGE, IMAGE_TOO_LARGE, CORRUPT_ANIMATION, UNKNOWN_ANIMATION_FORMAT, SERVER_BUSY
   */
  make<T>(
    userId: UserId,
    image: Uint8Array,
    targets: readonly PictureTarget[],
    work: (pictures: readonly MadePicture[]) => Promise<T>,
  ): Promise<T> {
    return this.makeAhead(userId, image, targets, (pictures) => work(orThrow(pictures)));
  }

  /** The same for work that says in its own turn why the image cannot be shown. */
  async makeAhead<T>(
    userId: UserId,
    image: Uint8Array,
    targets: readonly PictureTarget[],
    work: (pictures: readonly MadePicture[] | DomainError) => Promise<T>,
  ): Promise<T> {
    const made: MadePicture[] = [];
    try {
      return await work((await this.makeAll(userId, image, targets, made)) ?? made);
    } catch (error) {
      await this.discard(made.map(({ blob }) => blob));
      throw error;
    }
  }

  /** What nothing names any more. Where that fails, the sweep finds it. */
  async discard(keys: readonly (BlobKey | null)[]): Promise<void> {
    for (const key of keys) if (key !== null) await this.blobs.remove(key).catch(() => undefined);
  }

  /** Null: all went well. */
  private async makeAll(
    userId: UserId,
    image: Uint8Array,
    targets: readonly PictureTarget[],
    made: MadePicture[],
  ): Promise<DomainError | null> {
    try {
      let previous = image;
      for (const { isOfPrevious, ...target } of targets) {
        const processed = await this.images.resize(isOfPrevious ? previous : image, target, userId);
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
    const size = await this.blobs.put(blob, inOnePiece(bytes));
    return { blob, size, format, frames };
  }
}

/** Answers the blob that nothing names any more; null: there was none. */
export const namePicture = (
  tx: Transaction,
  realmId: RealmId,
  name: PictureName,
  { blob, size, format }: MadePicture,
): Promise<BlobKey | null> => tx.pictures.put(realmId, { name, blob, size, format });

async function* inOnePiece(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

export interface ReadablePicture extends Picture {
  read(): AsyncIterable<Uint8Array>;
}

/** A picture, for anybody: browsers load it without credentials. */
export class ReadPicture {
  static readonly inject = ['unitOfWork', 'blobStore'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly blobs: BlobStore,
  ) {}

  /** `realmId`: null where no realm has the address that was asked. @throws DomainError UNKNOWN_PICTURE */
  async execute(
    { realmId }: { readonly realmId: RealmId | null },
    { name }: { readonly name: PictureName },
  ): Promise<ReadablePicture> {
    const picture = realmId === null ? null : await this.uow.read(({ pictures }) => pictures.find(realmId, name));
    // The bytes may be gone, where it was replaced this moment.
    if (!picture || (await this.blobs.sizeOf(picture.blob)) === null) {
      throw new DomainError('UNKNOWN_PICTURE', 'There is no such picture.');
    }
    return { ...picture, read: () => this.blobs.read(picture.blob, { start: 0, end: picture.size }) };
  }
}

/** The sweep leaves their bytes alone. */
export const PICTURE_FEATURE: { readonly fileUser: FileUser } = {
  fileUser: { filterBlobs: ({ pictures }, keys) => pictures.filterBlobs(keys) },
};
