import type { BlobKey, BlobStore } from '../files/blob-store.js';
import type { ImageProcessor, ImageTarget, ProcessedImage } from '../images/image-processor.js';
import type { Randomness } from '../shared/clock.js';
import type { Picture } from './picture.js';

/** A picture whose bytes are safe, and that shows nothing yet. */
export type MadePicture = Omit<Picture, 'name'> & Pick<ProcessedImage, 'frames'>;

/** Makes pictures of what was uploaded. Slow, so it happens before the unit of work that names them. */
export class PictureMaker {
  constructor(
    private readonly blobs: BlobStore,
    private readonly images: ImageProcessor,
    private readonly randomness: Randomness,
  ) {}

  /**
   * One for each target, for the work to name. Where it fails, they are gone again.
   * @throws DomainError UNREADABLE_IMAGE, IMAGE_TOO_LARGE, CORRUPT_ANIMATION, UNKNOWN_ANIMATION_FORMAT, SERVER_BUSY
   */
  async make<T>(
    image: Uint8Array,
    targets: readonly ImageTarget[],
    work: (pictures: readonly MadePicture[]) => Promise<T>,
  ): Promise<T> {
    const made: MadePicture[] = [];
    try {
      for (const target of targets) made.push(await this.store(await this.images.resize(image, target)));
      return await work(made);
    } catch (error) {
      await this.discard(made.map(({ blob }) => blob));
      throw error;
    }
  }

  /** What nothing names any more. Where that fails, the sweep finds it. */
  async discard(keys: readonly (BlobKey | null)[]): Promise<void> {
    for (const key of keys) if (key !== null) await this.blobs.remove(key).catch(() => undefined);
  }

  private async store({ bytes, format, frames }: ProcessedImage): Promise<MadePicture> {
    const blob = this.randomness.uuid().replaceAll('-', '') as BlobKey;
    const size = await this.blobs.put(blob, inOnePiece(bytes));
    return { blob, size, format, frames };
  }
}

async function* inOnePiece(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
