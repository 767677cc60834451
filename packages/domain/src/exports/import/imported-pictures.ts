import type { ImageInfo, ImageProcessor } from '../../files/image-processor.js';
import type { MadePicture, PictureMaker, PictureTarget } from '../../files/picture-maker.js';
import { DomainError } from '../../kernel/errors.js';
import type { UserId } from '../../kernel/ids.js';
import { MAX_PICTURE_BYTES, type PictureCopy } from '../realm-copy.js';

/** Makes the pictures of an export anew, since anybody may have written its bytes; counts them. */
export class ImportedPictures {
  made = 0;
  /** Whose bytes are not there, are too many, or are no image. */
  missing = 0;

  constructor(
    private readonly images: ImageProcessor,
    private readonly pictures: PictureMaker,
  ) {}

  /** `work` gets nothing where there is no picture. `userId`: whose turn it is. @throws DomainError SERVER_BUSY */
  async add<Of>(
    { content }: PictureCopy<Of>,
    userId: UserId,
    targetsOf: (info: ImageInfo) => readonly PictureTarget[],
    work: (made: readonly MadePicture[]) => Promise<void>,
  ): Promise<void> {
    const bytes = content && (await bytesOf(content));
    const info = bytes && (await this.inspect(bytes, userId));
    if (!bytes || !info) {
      this.missing++;
      return work([]);
    }
    await this.pictures.makeAhead(userId, bytes, targetsOf(info), async (made) => {
      if (made instanceof DomainError) {
        if (made.is('SERVER_BUSY')) throw made;
        this.missing++;
        return work([]);
      }
      await work(made);
      this.made++;
    });
  }

  private async inspect(bytes: Uint8Array, userId: UserId): Promise<ImageInfo | null> {
    try {
      return await this.images.inspect(bytes, userId);
    } catch (error) {
      if (error instanceof DomainError && !error.is('SERVER_BUSY')) return null;
      throw error;
    }
  }
}

/** Null: there are too many. */
async function bytesOf(content: AsyncIterable<Uint8Array>): Promise<Uint8Array | null> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of content) {
    length += chunk.length;
    if (length > MAX_PICTURE_BYTES) return null;
    chunks.push(chunk);
  }
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}
