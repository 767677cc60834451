import { DomainError } from '../kernel/errors.js';
import type { FileId, UserId } from '../kernel/ids.js';
import { encodeJob, jobKind } from '../kernel/jobs.js';
import type { Clock, Randomness } from '../kernel/ports.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import { RealmWorkQueue, type WorkOwner } from '../kernel/work-queue.js';
import { newBlobKey } from './blob-receiver.js';
import { type BlobKey, type BlobStore, inOneChunk, readBlob } from './blobs.js';
import { CleanFiles } from './clean-files.js';
import type { FileImage, StoredFile, StoredThumbnail } from './files.js';
import { type ImageInfo, type ImageProcessor, type ImageTarget, MAX_FRAMES, type ProcessedImage } from './images.js';

/** Maximum size of thumbnails in pixels (markdown §15.2). */
export const THUMBNAIL_SIZE = { width: 840, height: 560 };
const SIZE_NAME = `${THUMBNAIL_SIZE.width}x${THUMBNAIL_SIZE.height}`;
export const STILL_THUMBNAIL = `${SIZE_NAME}.webp`;
export const ANIMATED_THUMBNAIL = `${SIZE_NAME}-anim.webp`;

/**
 * Maximum size of an image with a preview, because processing holds the whole image in memory. Larger images are shown
 * as links.
 */
export const MAX_IMAGE_BYTES = 40 * 1024 * 1024;
/** Maximum width and height of a WebP picture. */
const MAX_WEBP_SIDE = 16_383;

/** Types shown as images (markdown §15.2). */
const IMAGE_TYPES: ReadonlySet<string> = new Set([
  'image/avif',
  'image/gif',
  'image/heic',
  'image/jpeg',
  'image/png',
  'image/tiff',
  'image/webp',
]);
/** Image types that browsers cannot display; they get a full-size copy in addition to the thumbnail. */
const TRANSCODED_TYPES: ReadonlySet<string> = new Set(['image/heic', 'image/tiff']);
/** Formats with frames that form an animation rather than pages. */
const ANIMATED_FORMATS: ReadonlySet<ImageInfo['format']> = new Set(['gif', 'webp']);

/** Returns the name of the full-size copy, such as `1920x1080.webp`; null if browsers can display the original. */
export const transcodedFormatOf = (contentType: string, { width, height }: Pick<FileImage, 'width' | 'height'>) =>
  TRANSCODED_TYPES.has(contentType) ? `${width}x${height}.webp` : null;

export interface ThumbnailsPayload {
  readonly fileId: FileId;
  /**
   * Owner with pending images, of which the job processes the oldest from this file on; null to process only this file.
   */
  readonly ownerId: UserId | null;
}

/** Job kind handled by `MakeThumbnails`. */
export const MAKE_THUMBNAILS = jobKind<ThumbnailsPayload>({
  name: 'files.make_thumbnails',
  format: 2,
  readPayload: (stored, format) => {
    const { fileId, ownerId } = stored as ThumbnailsPayload;
    const isOwner = format === 1 || ownerId === null || Number.isSafeInteger(ownerId);
    if (!Number.isSafeInteger(fileId) || !isOwner) throw new TypeError('no file');
    return { fileId, ownerId: format === 1 ? null : ownerId };
  },
  // Attempts are counted when they start, so an image that crashes the process uses one up.
  leaseSeconds: 120,
  retries: { maxAttempts: 3, firstDelaySeconds: 5, maxDelaySeconds: 60 },
  // Each job holds a whole image in memory.
  concurrency: 1,
});

type OfFile = Pick<StoredFile, 'realmId' | 'id' | 'ownerId'>;

const schedule = (tx: Transaction, { realmId, id }: OfFile, ownerId: UserId | null, clock: Clock): Promise<unknown> =>
  tx.jobs.schedule(
    encodeJob(MAKE_THUMBNAILS, {
      realmId,
      key: ownerId === null ? String(id) : keyOf(ownerId),
      dueAt: clock.now(),
      payload: { fileId: id, ownerId },
    }),
  );

const keyOf = (ownerId: UserId): string => `owner:${ownerId}`;

/**
 * Schedules one job per owner for one image; the owner's next image goes to the end of the queue. This keeps processing
 * fair among owners.
 */
export async function scheduleThumbnails(tx: Transaction, file: OfFile, clock: Clock): Promise<void> {
  const { realmId, ownerId } = file;
  if (await tx.jobs.isScheduled(realmId, MAKE_THUMBNAILS.name, keyOf(ownerId))) return;
  await schedule(tx, file, ownerId, clock);
}

/** Schedules one image again, independent of the owner's other images. */
export const scheduleFile = (tx: Transaction, file: OfFile, clock: Clock): Promise<unknown> =>
  schedule(tx, file, null, clock);

/** Cleans new files, inspects images, a few at a time, and creates smaller versions. */
export class Thumbnails {
  static readonly inject = ['blobStore', 'imageProcessor', 'randomness', CleanFiles] as const;

  private readonly queue = new RealmWorkQueue({ concurrency: LOOKED_AT_AT_ONCE });

  constructor(
    private readonly blobs: BlobStore,
    private readonly images: ImageProcessor,
    private readonly randomness: Randomness,
    private readonly cleanFiles: CleanFiles,
  ) {}

  /** Returns the bytes to keep of a new file, and null if it is not a displayable image. @throws DomainError SERVER_BUSY */
  async prepare(
    file: UnnamedFile,
    keepsOriginal = false,
  ): Promise<{ readonly blob: BlobKey; readonly image: FileImage | null }> {
    const blob = await this.cleanFiles.clean(file, keepsOriginal);
    return { blob, image: await this.inspect({ ...file, blob }) };
  }

  private async inspect(file: UnnamedFile): Promise<FileImage | null> {
    if (!IMAGE_TYPES.has(file.contentType) || file.size > MAX_IMAGE_BYTES) return null;
    const owner = ownerOf(file);
    return this.queue.run(owner, async () => {
      const info = await unlessRefused(async () => this.images.inspect(await readBlob(this.blobs, file), owner));
      return info && { ...describe(info), thumbnail: 'pending' };
    });
  }

  /**
   * Creates and stores the thumbnails of an image. Returns null if that is impossible. A damaged or slow animation
   * becomes a still image.
   * @throws DomainError SERVER_BUSY
   */
  async make(
    file: StoredFile,
  ): Promise<{ readonly image: FileImage; readonly thumbnails: readonly StoredThumbnail[] } | null> {
    const owner = ownerOf(file);
    const bytes = await readBlob(this.blobs, file);
    const info = await unlessRefused(() => this.images.inspect(bytes, owner));
    if (!info) return null;
    const image = describe(info);
    const target: ImageTarget = { ...THUMBNAIL_SIZE, fit: 'inside', format: 'webp', maxFrames: 1 };
    const made = new Map<string, ProcessedImage>();
    const still = await unlessRefused(() => this.images.resize(bytes, target, owner));
    if (!still) return null;
    made.set(STILL_THUMBNAIL, still);
    if (image.isAnimated) {
      const animated = await unlessRefused(() =>
        this.images.resize(bytes, { ...target, maxFrames: MAX_FRAMES }, owner),
      );
      if (animated) made.set(ANIMATED_THUMBNAIL, animated);
    }
    const transcoded = transcodedFormatOf(file.contentType, image);
    if (transcoded !== null) {
      const size = { width: Math.min(image.width, MAX_WEBP_SIDE), height: Math.min(image.height, MAX_WEBP_SIDE) };
      const whole = await unlessRefused(() => this.images.resize(bytes, { ...target, ...size }, owner));
      if (!whole) return null;
      made.set(transcoded, whole);
    }
    const thumbnails: StoredThumbnail[] = [];
    for (const [name, { bytes: content }] of made) {
      const blob = newBlobKey(this.randomness);
      thumbnails.push({ name, blob, size: await this.blobs.put(blob, inOneChunk(content)) });
    }
    return { image: { ...image, isAnimated: made.has(ANIMATED_THUMBNAIL), thumbnail: 'ready' }, thumbnails };
  }
}

type UnnamedFile = Pick<StoredFile, 'realmId' | 'ownerId' | 'blob' | 'size' | 'contentType'>;

const ownerOf = ({ realmId, ownerId }: Pick<StoredFile, 'realmId' | 'ownerId'>): WorkOwner => ({
  realmId,
  userId: ownerId,
});

const describe = ({ width, height, frames, format }: ImageInfo) => ({
  width,
  height,
  isAnimated: frames > 1 && ANIMATED_FORMATS.has(format),
});

/** Image errors are final; others are retried. */
async function unlessRefused<T>(work: () => Promise<T>): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof DomainError && error.kind !== 'unavailable') return null;
    throw error;
  }
}

/** Limit, because each image is held in memory as a whole. */
const LOOKED_AT_AT_ONCE = 2;
