import type { Randomness } from '../kernel/clock.js';
import { DomainError, orThrow } from '../kernel/errors.js';
import type { RealmId, UserId } from '../kernel/ids.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import type { BlobKey, BlobStore } from './blob-store.js';
import type { ImageProcessor, ImageTarget, ProcessedImage } from './image-processor.js';
import type { Picture, PictureName } from './picture.js';

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
